// Depthwise weights lie channels-last.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<1x8x4x4xf32>):
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<8x1x3x3xf32>, dtype = "f32", shape = [8, 1, 3, 3]}> : () -> tensor<8x1x3x3xf32>
    %y = "tgn.conv"(%x, %w) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 8, out = "f32"}> : (tensor<1x8x4x4xf32>, tensor<8x1x3x3xf32>) -> tensor<1x8x4x4xf32> loc("y")
    "tgn.return"(%y) : (tensor<1x8x4x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x40000000000000C0000080BF000000000000803F00000040000000C0000080BF000000000000803F00000040000000C0000080BF000000000000803F00000040000000C0000080BF000000000000803F00000040000000C0000080BF000000000000803F00000040000000C0000080BF000000000000803F00000040000000C0000080BF000000000000803F00000040000000C0000080BF000000000000803F00000040000000C0000080BF000000000000803F00000040000000C0000080BF000000000000803F00000040000000C0000080BF000000000000803F00000040000000C0000080BF000000000000803F00000040000000C0000080BF000000000000803F00000040000000C0000080BF000000000000803F00000040000000C0000080BF" } }
#-}
// -----
// its layout changes in a kernel of its own
// y: its layout changes in a kernel of its own
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<1x8x4x4xf32>):
    %1 = "tgn.constant"() <{id = dense_resource<const0> : tensor<8x1x3x3xf32>, dtype = "f32", shape = [8, 1, 3, 3]}> : () -> tensor<8x1x3x3xf32>
    %6 = "tgn.kernel"(%0) <{class = "map"}> ({
    ^bb0(%7: tensor<1x8x4x4xf32>):
      %8 = "tgn.relayout"(%7) <{layout = ["0", "2", "3", "1"]}> : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32, {layout = ["0", "2", "3", "1"]}>
      "tgn.yield"(%8) : (tensor<1x8x4x4xf32, {layout = ["0", "2", "3", "1"]}>) -> ()
    }) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32, {layout = ["0", "2", "3", "1"]}>
    %9 = "tgn.relayout"(%1) <{layout = ["2", "3", "1", "0"]}> : (tensor<8x1x3x3xf32>) -> tensor<8x1x3x3xf32, {layout = ["2", "3", "1", "0"]}>
    %3 = "tgn.kernel"(%6, %9) <{class = "conv"}> ({
    ^bb0(%4: tensor<1x8x4x4xf32, {layout = ["0", "2", "3", "1"]}>, %5: tensor<8x1x3x3xf32, {layout = ["2", "3", "1", "0"]}>):
      %2 = "tgn.conv"(%4, %5) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 8, out = "f32"}> : (tensor<1x8x4x4xf32, {layout = ["0", "2", "3", "1"]}>, tensor<8x1x3x3xf32, {layout = ["2", "3", "1", "0"]}>) -> tensor<1x8x4x4xf32> loc("y")
      "tgn.yield"(%2) : (tensor<1x8x4x4xf32>) -> ()
    }) : (tensor<1x8x4x4xf32, {layout = ["0", "2", "3", "1"]}>, tensor<8x1x3x3xf32, {layout = ["2", "3", "1", "0"]}>) -> tensor<1x8x4x4xf32, {layout = ["0", "2", "3", "1"]}> loc("y")
    %10 = "tgn.kernel"(%3) <{class = "map"}> ({
    ^bb0(%11: tensor<1x8x4x4xf32, {layout = ["0", "2", "3", "1"]}>):
      %12 = "tgn.relayout"(%11) <{layout = ["0", "1", "2", "3"]}> : (tensor<1x8x4x4xf32, {layout = ["0", "2", "3", "1"]}>) -> tensor<1x8x4x4xf32, {layout = ["0", "1", "2", "3"]}> loc("y")
      "tgn.yield"(%12) : (tensor<1x8x4x4xf32, {layout = ["0", "1", "2", "3"]}>) -> ()
    }) : (tensor<1x8x4x4xf32, {layout = ["0", "2", "3", "1"]}>) -> tensor<1x8x4x4xf32> loc("y")
    "tgn.return"(%10) : (tensor<1x8x4x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x40000000000000C0000080BF000000000000803F00000040000000C0000080BF000000000000803F00000040000000C0000080BF000000000000803F00000040000000C0000080BF000000000000803F00000040000000C0000080BF000000000000803F00000040000000C0000080BF000000000000803F00000040000000C0000080BF000000000000803F00000040000000C0000080BF000000000000803F00000040000000C0000080BF000000000000803F00000040000000C0000080BF000000000000803F00000040000000C0000080BF000000000000803F00000040000000C0000080BF000000000000803F00000040000000C0000080BF000000000000803F00000040000000C0000080BF000000000000803F00000040000000C0000080BF"
    }
  }
#-}
