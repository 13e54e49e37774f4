// A convolution of 3x3 without strides by filters known now takes their transforms, 16 numbers for 9.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<1x2x5x4xf32>):
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<2x2x3x3xf32>, dtype = "f32", shape = [2, 2, 3, 3]}> : () -> tensor<2x2x3x3xf32>
    %y = "tgn.conv"(%x, %w) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 1, out = "f32"}> : (tensor<1x2x5x4xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x5x4xf32> loc("y")
    "tgn.return"(%y) : (tensor<1x2x5x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x40000000000040BF0000003E000020BF0000803E000000BF0000C03E0000C0BE0000003F000080BE0000203F000000BE0000403F00000000000040BF0000003E000020BF0000803E000000BF0000C03E0000C0BE0000003F000080BE0000203F000000BE0000403F00000000000040BF0000003E000020BF0000803E000000BF0000C03E0000C0BE0000003F000080BE0000203F" } }
#-}
// -----
// y: computed by Winograd's algorithm, two by two results at once
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<1x2x5x4xf32>):
    %1 = "tgn.constant"() <{id = dense_resource<const0> : tensor<2x2x3x3xf32>, dtype = "f32", shape = [2, 2, 3, 3]}> : () -> tensor<2x2x3x3xf32>
    %3 = "tgn.constant"() <{id = dense_resource<const1> : tensor<2x2x4x4xf32>, dtype = "f32", shape = [2, 2, 4, 4]}> : () -> tensor<2x2x4x4xf32> loc("y")
    %4 = "tgn.winograd_conv"(%0, %3) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}}> : (tensor<1x2x5x4xf32>, tensor<2x2x4x4xf32>) -> tensor<1x2x5x4xf32> loc("y")
    "tgn.return"(%4) : (tensor<1x2x5x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x40000000000040BF0000003E000020BF0000803E000000BF0000C03E0000C0BE0000003F000080BE0000203F000000BE0000403F00000000000040BF0000003E000020BF0000803E000000BF0000C03E0000C0BE0000003F000080BE0000203F000000BE0000403F00000000000040BF0000003E000020BF0000803E000000BF0000C03E0000C0BE0000003F000080BE0000203F",
      const1: "0x40000000000040BF000020BF000040BF000020BF0000E0BE0000A0BE0000C0BE000080BE000030BF0000C0BE000070BF000020BF0000C0BE000080BD000010BF000080BE0000203F0000203F0000403F0000403F00000000000080BD0000803E0000403E000000000000803E000040BE0000803D000020BF0000E0BE000030BF000000BF0000C03E0000803E0000203F0000003F0000E03E0000403E0000803D000040BE0000303F0000803D0000103F000080BD0000403F0000000000000000000040BF0000003E000000BE0000003F0000803E0000803D0000003D0000903E0000803E0000103F0000903E0000683F0000203F0000003F0000E03E0000303F0000203F"
    }
  }
#-}
