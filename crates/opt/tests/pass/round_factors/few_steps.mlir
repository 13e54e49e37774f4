// Contractions of few steps stay as they are.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<5x64xf32>, %w: tensor<64x9xf32>):
    %y = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [], lhs_contract = [1], rhs_batch = [], rhs_contract = [0]}, out = "f32"}> : (tensor<5x64xf32>, tensor<64x9xf32>) -> tensor<5x9xf32> loc("y")
    "tgn.return"(%y) : (tensor<5x9xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// unchanged
