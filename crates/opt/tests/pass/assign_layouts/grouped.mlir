// Weights of groups are packed where a group is of whole panels.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y", "z"]}> ({
  ^bb0(%x: tensor<1x4x5xf32>):
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<16x2x3xf32>, dtype = "f32", shape = [16, 2, 3]}> : () -> tensor<16x2x3xf32>
    %v = "tgn.constant"() <{id = dense_resource<const1> : tensor<8x2x3xf32>, dtype = "f32", shape = [8, 2, 3]}> : () -> tensor<8x2x3xf32>
    %y = "tgn.conv"(%x, %w) <{window = {size = [3], strides = [1], dilations = [1], low = [1], high = [1]}, groups = 2, out = "f32"}> : (tensor<1x4x5xf32>, tensor<16x2x3xf32>) -> tensor<1x16x5xf32> loc("y")
    %z = "tgn.conv"(%x, %v) <{window = {size = [3], strides = [1], dilations = [1], low = [1], high = [1]}, groups = 2, out = "f32"}> : (tensor<1x4x5xf32>, tensor<8x2x3xf32>) -> tensor<1x8x5xf32> loc("z")
    "tgn.return"(%y, %z) : (tensor<1x16x5xf32>, tensor<1x8x5xf32>) -> ()
  }) : () -> ()
}) : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x04000000000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C0", const1: "0x04000000000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040" } }
#-}
// -----
// y: its layout changes in a kernel of its own
// z: its layout changes in a kernel of its own
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y", "z"]}> ({
  ^bb0(%0: tensor<1x4x5xf32>):
    %1 = "tgn.constant"() <{id = dense_resource<const0> : tensor<16x2x3xf32>, dtype = "f32", shape = [16, 2, 3]}> : () -> tensor<16x2x3xf32>
    %2 = "tgn.constant"() <{id = dense_resource<const1> : tensor<8x2x3xf32>, dtype = "f32", shape = [8, 2, 3]}> : () -> tensor<8x2x3xf32>
    %11 = "tgn.relayout"(%1) <{layout = ["0/8", "2", "1", "0%8"]}> : (tensor<16x2x3xf32>) -> tensor<16x2x3xf32, {layout = ["0/8", "2", "1", "0%8"]}>
    %5 = "tgn.kernel"(%0, %11) <{class = "conv"}> ({
    ^bb0(%6: tensor<1x4x5xf32>, %7: tensor<16x2x3xf32, {layout = ["0/8", "2", "1", "0%8"]}>):
      %3 = "tgn.conv"(%6, %7) <{window = {size = [3], strides = [1], dilations = [1], low = [1], high = [1]}, groups = 2, out = "f32"}> : (tensor<1x4x5xf32>, tensor<16x2x3xf32, {layout = ["0/8", "2", "1", "0%8"]}>) -> tensor<1x16x5xf32> loc("y")
      "tgn.yield"(%3) : (tensor<1x16x5xf32>) -> ()
    }) : (tensor<1x4x5xf32>, tensor<16x2x3xf32, {layout = ["0/8", "2", "1", "0%8"]}>) -> tensor<1x16x5xf32, {layout = ["0", "2", "1"]}> loc("y")
    %8 = "tgn.kernel"(%0, %2) <{class = "conv"}> ({
    ^bb0(%9: tensor<1x4x5xf32>, %10: tensor<8x2x3xf32>):
      %4 = "tgn.conv"(%9, %10) <{window = {size = [3], strides = [1], dilations = [1], low = [1], high = [1]}, groups = 2, out = "f32"}> : (tensor<1x4x5xf32>, tensor<8x2x3xf32>) -> tensor<1x8x5xf32> loc("z")
      "tgn.yield"(%4) : (tensor<1x8x5xf32>) -> ()
    }) : (tensor<1x4x5xf32>, tensor<8x2x3xf32>) -> tensor<1x8x5xf32, {layout = ["0", "2", "1"]}> loc("z")
    %12 = "tgn.kernel"(%5) <{class = "map"}> ({
    ^bb0(%13: tensor<1x16x5xf32, {layout = ["0", "2", "1"]}>):
      %14 = "tgn.relayout"(%13) <{layout = ["0", "1", "2"]}> : (tensor<1x16x5xf32, {layout = ["0", "2", "1"]}>) -> tensor<1x16x5xf32, {layout = ["0", "1", "2"]}> loc("y")
      "tgn.yield"(%14) : (tensor<1x16x5xf32, {layout = ["0", "1", "2"]}>) -> ()
    }) : (tensor<1x16x5xf32, {layout = ["0", "2", "1"]}>) -> tensor<1x16x5xf32> loc("y")
    %15 = "tgn.kernel"(%8) <{class = "map"}> ({
    ^bb0(%16: tensor<1x8x5xf32, {layout = ["0", "2", "1"]}>):
      %17 = "tgn.relayout"(%16) <{layout = ["0", "1", "2"]}> : (tensor<1x8x5xf32, {layout = ["0", "2", "1"]}>) -> tensor<1x8x5xf32, {layout = ["0", "1", "2"]}> loc("z")
      "tgn.yield"(%17) : (tensor<1x8x5xf32, {layout = ["0", "1", "2"]}>) -> ()
    }) : (tensor<1x8x5xf32, {layout = ["0", "2", "1"]}>) -> tensor<1x8x5xf32> loc("z")
    "tgn.return"(%12, %15) : (tensor<1x16x5xf32>, tensor<1x8x5xf32>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x40000000000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C0",
      const1: "0x40000000000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040000080BF0000803F000000C00000000000000040"
    }
  }
#-}
