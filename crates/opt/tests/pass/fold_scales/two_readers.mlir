// Weights of a result that another op reads too stay.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y", "z"]}> ({
  ^bb0(%x: tensor<?x2xf32, {dims = ["n"]}>):
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<2x2xf32>, dtype = "f32", shape = [2, 2]}> : () -> tensor<2x2xf32>
    %s = "tgn.constant"() <{id = dense_resource<const1> : tensor<1x2xf32>, dtype = "f32", shape = [1, 2]}> : () -> tensor<1x2xf32>
    %y = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x2xf32, {dims = ["n"]}>, tensor<2x2xf32>) -> tensor<?x2xf32, {dims = ["n"]}> loc("y")
    %z = "tgn.elementwise"(%y, %s) <{f = "mul"}> : (tensor<?x2xf32, {dims = ["n"]}>, tensor<1x2xf32>) -> tensor<?x2xf32, {dims = ["n"]}> loc("z")
    "tgn.return"(%y, %z) : (tensor<?x2xf32, {dims = ["n"]}>, tensor<?x2xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x400000000000803F000000400000404000008040", const1: "0x400000000000004000004040" } }
#-}
// -----
// unchanged
