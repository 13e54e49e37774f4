// Few channels are read as they lie, channels last where that costs no pass over the image.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["z"]}> ({
  ^bb0(%x: tensor<2x3x5x3xf32>, %w: tensor<8x3x1x1xf32>):
    %t = "tgn.transpose"(%x) <{perm = [0, 3, 1, 2]}> : (tensor<2x3x5x3xf32>) -> tensor<2x3x3x5xf32> loc("t")
    %y = "tgn.conv"(%t, %w) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "f32"}> : (tensor<2x3x3x5xf32>, tensor<8x3x1x1xf32>) -> tensor<2x8x3x5xf32> loc("y")
    %z = "tgn.transpose"(%y) <{perm = [0, 2, 3, 1]}> : (tensor<2x8x3x5xf32>) -> tensor<2x3x5x8xf32> loc("z")
    "tgn.return"(%z) : (tensor<2x3x5x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// t: not fused into conv "y": `conv` reads buffers
// t: its axes are named anew, and nothing moves
// z: its axes are named anew, and nothing moves
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["z"]}> ({
  ^bb0(%0: tensor<2x3x5x3xf32>, %1: tensor<8x3x1x1xf32>):
    %12 = "tgn.transpose"(%0) <{perm = [0, 3, 1, 2]}> : (tensor<2x3x5x3xf32>) -> tensor<2x3x3x5xf32, {layout = ["0", "2", "3", "1"]}> loc("t")
    %7 = "tgn.kernel"(%12, %1) <{class = "conv"}> ({
    ^bb0(%8: tensor<2x3x3x5xf32, {layout = ["0", "2", "3", "1"]}>, %9: tensor<8x3x1x1xf32>):
      %3 = "tgn.conv"(%8, %9) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "f32"}> : (tensor<2x3x3x5xf32, {layout = ["0", "2", "3", "1"]}>, tensor<8x3x1x1xf32>) -> tensor<2x8x3x5xf32> loc("y")
      "tgn.yield"(%3) : (tensor<2x8x3x5xf32>) -> ()
    }) : (tensor<2x3x3x5xf32, {layout = ["0", "2", "3", "1"]}>, tensor<8x3x1x1xf32>) -> tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}> loc("y")
    %13 = "tgn.transpose"(%7) <{perm = [0, 2, 3, 1]}> : (tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}>) -> tensor<2x3x5x8xf32> loc("z")
    "tgn.return"(%13) : (tensor<2x3x5x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
