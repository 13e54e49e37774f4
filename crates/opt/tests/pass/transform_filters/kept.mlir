// Windows are walked where they step by two (a), where channels are grouped (b), few (c) or where filters are computed (d), not finite (e) or all one number (f), and along a line (g).
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "z", "u", "l"], result_names = ["a", "b", "c", "d", "e", "f", "g"]}> ({
  ^bb0(%x: tensor<1x2x5x4xf32>, %z: tensor<1x1x5x4xf32>, %u: tensor<2x2x3x3xf32>, %l: tensor<1x2x1x50xf32>):
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<2x2x3x3xf32>, dtype = "f32", shape = [2, 2, 3, 3]}> : () -> tensor<2x2x3x3xf32>
    %v = "tgn.constant"() <{id = dense_resource<const1> : tensor<2x1x3x3xf32>, dtype = "f32", shape = [2, 1, 3, 3]}> : () -> tensor<2x1x3x3xf32>
    %infinite = "tgn.constant"() <{id = dense_resource<const2> : tensor<2x2x3x3xf32>, dtype = "f32", shape = [2, 2, 3, 3]}> : () -> tensor<2x2x3x3xf32>
    %one = "tgn.splat"() <{dtype = "f32", shape = [2, 2, 3, 3], bits = 1065353216}> : () -> tensor<2x2x3x3xf32>
    %a = "tgn.conv"(%x, %w) <{window = {size = [3, 3], strides = [2, 2], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 1, out = "f32"}> : (tensor<1x2x5x4xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x3x2xf32> loc("a")
    %b = "tgn.conv"(%x, %v) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 2, out = "f32"}> : (tensor<1x2x5x4xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x5x4xf32> loc("b")
    %c = "tgn.conv"(%z, %v) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 1, out = "f32"}> : (tensor<1x1x5x4xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x5x4xf32> loc("c")
    %d = "tgn.conv"(%x, %u) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 1, out = "f32"}> : (tensor<1x2x5x4xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x5x4xf32> loc("d")
    %e = "tgn.conv"(%x, %infinite) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 1, out = "f32"}> : (tensor<1x2x5x4xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x5x4xf32> loc("e")
    %f = "tgn.conv"(%x, %one) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 1, out = "f32"}> : (tensor<1x2x5x4xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x5x4xf32> loc("f")
    %g = "tgn.conv"(%l, %w) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 1, out = "f32"}> : (tensor<1x2x1x50xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x1x50xf32> loc("g")
    "tgn.return"(%a, %b, %c, %d, %e, %f, %g) : (tensor<1x2x3x2xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x5x4xf32>, tensor<1x2x1x50xf32>) -> ()
  }) : () -> ()
}) : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x40000000000040BF0000003E000020BF0000803E000000BF0000C03E0000C0BE0000003F000080BE0000203F000000BE0000403F00000000000040BF0000003E000020BF0000803E000000BF0000C03E0000C0BE0000003F000080BE0000203F000000BE0000403F00000000000040BF0000003E000020BF0000803E000000BF0000C03E0000C0BE0000003F000080BE0000203F", const1: "0x40000000000040BF0000003E000020BF0000803E000000BF0000C03E0000C0BE0000003F000080BE0000203F000000BE0000403F00000000000040BF0000003E000020BF0000803E000000BF", const2: "0x40000000000040BF0000003E000020BF0000803E000000BF0000807F0000C0BE0000003F000080BE0000203F000000BE0000403F00000000000040BF0000003E000020BF0000803E000000BF0000C03E0000C0BE0000003F000080BE0000203F000000BE0000403F00000000000040BF0000003E000020BF0000803E000000BF0000C03E0000C0BE0000003F000080BE0000203F" } }
#-}
// -----
// unchanged
