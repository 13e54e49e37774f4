// A divisor whose reciprocal overflows stays a divisor.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["e"]}> ({
  ^bb0(%x: tensor<1x1x3x3xf32>):
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<2x1x3x3xf32>, dtype = "f32", shape = [2, 1, 3, 3]}> : () -> tensor<2x1x3x3xf32>
    %s = "tgn.splat"() <{dtype = "f32", shape = [1, 2, 1, 1], bits = 71362}> : () -> tensor<1x2x1x1xf32>
    %y = "tgn.conv"(%x, %w) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 1, out = "f32"}> : (tensor<1x1x3x3xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x3x3xf32> loc("y")
    %e = "tgn.elementwise"(%y, %s) <{f = "div"}> : (tensor<1x2x3x3xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x3x3xf32> loc("e")
    "tgn.return"(%e) : (tensor<1x2x3x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x400000000000803F0000004000004040000080400000A0400000C0400000E040000000410000104100001041000000410000E0400000C0400000A0400000804000004040000000400000803F", const1: "0x400000000000003F000080BF", const2: "0x400000000000004000004040", const3: "0x400000000000803F0000E040" } }
#-}
// -----
// unchanged
