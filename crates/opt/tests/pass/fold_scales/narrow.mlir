// 16-bit weights have no room for a scale of 1000: 100 times it is beyond them, where the model's sum is not.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["d"]}> ({
  ^bb0(%x: tensor<2x2xf16>):
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<2x1xf16>, dtype = "f16", shape = [2, 1]}> : () -> tensor<2x1xf16>
    %c = "tgn.constant"() <{id = dense_resource<const1> : tensor<1x1xf16>, dtype = "f16", shape = [1, 1]}> : () -> tensor<1x1xf16>
    %y = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f16"}> : (tensor<2x2xf16>, tensor<2x1xf16>) -> tensor<2x1xf16> loc("y")
    %d = "tgn.elementwise"(%y, %c) <{f = "mul"}> : (tensor<2x1xf16>, tensor<1x1xf16>) -> tensor<2x1xf16> loc("d")
    "tgn.return"(%d) : (tensor<2x1xf16>) -> ()
  }) : () -> ()
}) : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x4000000040564056", const1: "0x40000000D063" } }
#-}
// -----
// unchanged
