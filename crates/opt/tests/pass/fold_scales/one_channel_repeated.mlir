// One result channel times a row of constants is as wide as the row: the weights have no room for them.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["d"]}> ({
  ^bb0(%x: tensor<2x3xf32>):
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<3x1xf32>, dtype = "f32", shape = [3, 1]}> : () -> tensor<3x1xf32>
    %c = "tgn.constant"() <{id = dense_resource<const1> : tensor<1x2xf32>, dtype = "f32", shape = [1, 2]}> : () -> tensor<1x2xf32>
    %y = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x1xf32>) -> tensor<2x1xf32> loc("y")
    %d = "tgn.elementwise"(%y, %c) <{f = "mul"}> : (tensor<2x1xf32>, tensor<1x2xf32>) -> tensor<2x2xf32> loc("d")
    "tgn.return"(%d) : (tensor<2x2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x400000000000803F0000004000004040", const1: "0x400000000000004000004040" } }
#-}
// -----
// unchanged
