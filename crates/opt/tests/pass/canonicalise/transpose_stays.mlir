// A transpose that another op reads too stays where it is.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["a", "y"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %w: tensor<3x2xf32>):
    %t = "tgn.transpose"(%x) <{perm = [1, 0]}> : (tensor<2x3xf32>) -> tensor<3x2xf32> loc("t")
    %a = "tgn.elementwise"(%t) <{f = "exp"}> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("a")
    %y = "tgn.dot"(%t, %x) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<3x2xf32>, tensor<2x3xf32>) -> tensor<3x3xf32> loc("y")
    "tgn.return"(%a, %y) : (tensor<3x2xf32>, tensor<3x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// unchanged
