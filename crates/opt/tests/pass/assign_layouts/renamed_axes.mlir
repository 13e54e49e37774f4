// A kernel that only transposes leaves elements in the order that they have: its result's axes are named anew.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["z"]}> ({
  ^bb0(%x: tensor<2x4x3x5xf32>):
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x4x1x1xf32>, dtype = "f32", shape = [4, 4, 1, 1]}> : () -> tensor<4x4x1x1xf32>
    %y = "tgn.conv"(%x, %w) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "f32"}> : (tensor<2x4x3x5xf32>, tensor<4x4x1x1xf32>) -> tensor<2x4x3x5xf32> loc("y")
    %t = "tgn.transpose"(%y) <{perm = [0, 1, 3, 2]}> : (tensor<2x4x3x5xf32>) -> tensor<2x4x5x3xf32> loc("t")
    %z = "tgn.pool"(%t) <{kind = "max", window = {size = [2, 2], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}}> : (tensor<2x4x5x3xf32>) -> tensor<2x4x4x2xf32> loc("z")
    "tgn.return"(%z) : (tensor<2x4x4x2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x0400000000000040000000C0000080BF0000803F000000000000803F00000040000080BF0000803F0000803F000000C000000000000080BF00000040000000000000803F" } }
#-}
// -----
// t: not fused into pool "z": `pool` reads buffers
// z: its layout changes in a kernel of its own
// t: its axes are named anew, and nothing moves
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["z"]}> ({
  ^bb0(%0: tensor<2x4x3x5xf32>):
    %1 = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x4x1x1xf32>, dtype = "f32", shape = [4, 4, 1, 1]}> : () -> tensor<4x4x1x1xf32>
    %12 = "tgn.relayout"(%1) <{layout = ["0/8", "2", "3", "1", "0%8"]}> : (tensor<4x4x1x1xf32>) -> tensor<4x4x1x1xf32, {layout = ["0/8", "2", "3", "1", "0%8"]}>
    %5 = "tgn.kernel"(%0, %12) <{class = "conv"}> ({
    ^bb0(%6: tensor<2x4x3x5xf32>, %7: tensor<4x4x1x1xf32, {layout = ["0/8", "2", "3", "1", "0%8"]}>):
      %2 = "tgn.conv"(%6, %7) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "f32"}> : (tensor<2x4x3x5xf32>, tensor<4x4x1x1xf32, {layout = ["0/8", "2", "3", "1", "0%8"]}>) -> tensor<2x4x3x5xf32> loc("y")
      "tgn.yield"(%2) : (tensor<2x4x3x5xf32>) -> ()
    }) : (tensor<2x4x3x5xf32>, tensor<4x4x1x1xf32, {layout = ["0/8", "2", "3", "1", "0%8"]}>) -> tensor<2x4x3x5xf32, {layout = ["0", "2", "3", "1"]}> loc("y")
    %16 = "tgn.transpose"(%5) <{perm = [0, 1, 3, 2]}> : (tensor<2x4x3x5xf32, {layout = ["0", "2", "3", "1"]}>) -> tensor<2x4x5x3xf32, {layout = ["0", "3", "2", "1"]}> loc("t")
    %10 = "tgn.kernel"(%16) <{class = "pool"}> ({
    ^bb0(%11: tensor<2x4x5x3xf32, {layout = ["0", "3", "2", "1"]}>):
      %4 = "tgn.pool"(%11) <{kind = "max", window = {size = [2, 2], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}}> : (tensor<2x4x5x3xf32, {layout = ["0", "3", "2", "1"]}>) -> tensor<2x4x4x2xf32> loc("z")
      "tgn.yield"(%4) : (tensor<2x4x4x2xf32>) -> ()
    }) : (tensor<2x4x5x3xf32, {layout = ["0", "3", "2", "1"]}>) -> tensor<2x4x4x2xf32, {layout = ["0", "3", "2", "1"]}> loc("z")
    %13 = "tgn.kernel"(%10) <{class = "map"}> ({
    ^bb0(%14: tensor<2x4x4x2xf32, {layout = ["0", "3", "2", "1"]}>):
      %15 = "tgn.relayout"(%14) <{layout = ["0", "1", "2", "3"]}> : (tensor<2x4x4x2xf32, {layout = ["0", "3", "2", "1"]}>) -> tensor<2x4x4x2xf32, {layout = ["0", "1", "2", "3"]}> loc("z")
      "tgn.yield"(%15) : (tensor<2x4x4x2xf32, {layout = ["0", "1", "2", "3"]}>) -> ()
    }) : (tensor<2x4x4x2xf32, {layout = ["0", "3", "2", "1"]}>) -> tensor<2x4x4x2xf32> loc("z")
    "tgn.return"(%13) : (tensor<2x4x4x2xf32>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x4000000000000040000000C0000080BF0000803F000000000000803F00000040000080BF0000803F0000803F000000C000000000000080BF00000040000000000000803F"
    }
  }
#-}
