// Rows and columns change places: both transposes move elements.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["z"]}> ({
  ^bb0(%x: tensor<2x3x5x8xf32>, %w: tensor<8x8x1x1xf32>):
    %t = "tgn.transpose"(%x) <{perm = [0, 3, 2, 1]}> : (tensor<2x3x5x8xf32>) -> tensor<2x8x5x3xf32> loc("t")
    %y = "tgn.conv"(%t, %w) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "f32"}> : (tensor<2x8x5x3xf32>, tensor<8x8x1x1xf32>) -> tensor<2x8x5x3xf32> loc("y")
    %z = "tgn.transpose"(%y) <{perm = [0, 3, 2, 1]}> : (tensor<2x8x5x3xf32>) -> tensor<2x3x5x8xf32> loc("z")
    "tgn.return"(%z) : (tensor<2x3x5x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// t: not fused into conv "y": `conv` reads buffers
// y: operand 0 is written in the layout wanted
// operand 0 is written in the layout wanted
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["z"]}> ({
  ^bb0(%0: tensor<2x3x5x8xf32>, %1: tensor<8x8x1x1xf32>):
    %5 = "tgn.kernel"(%0) <{class = "map"}> ({
    ^bb0(%6: tensor<2x3x5x8xf32>):
      %2 = "tgn.transpose"(%6) <{perm = [0, 3, 2, 1]}> : (tensor<2x3x5x8xf32>) -> tensor<2x8x5x3xf32> loc("t")
      "tgn.yield"(%2) : (tensor<2x8x5x3xf32>) -> ()
    }) : (tensor<2x3x5x8xf32>) -> tensor<2x8x5x3xf32, {layout = ["0", "2", "3", "1"]}> loc("t")
    %7 = "tgn.kernel"(%5, %1) <{class = "conv"}> ({
    ^bb0(%8: tensor<2x8x5x3xf32, {layout = ["0", "2", "3", "1"]}>, %9: tensor<8x8x1x1xf32>):
      %3 = "tgn.conv"(%8, %9) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "f32"}> : (tensor<2x8x5x3xf32, {layout = ["0", "2", "3", "1"]}>, tensor<8x8x1x1xf32>) -> tensor<2x8x5x3xf32> loc("y")
      "tgn.yield"(%3) : (tensor<2x8x5x3xf32>) -> ()
    }) : (tensor<2x8x5x3xf32, {layout = ["0", "2", "3", "1"]}>, tensor<8x8x1x1xf32>) -> tensor<2x8x5x3xf32, {layout = ["0", "2", "3", "1"]}> loc("y")
    %10 = "tgn.kernel"(%7) <{class = "map"}> ({
    ^bb0(%11: tensor<2x8x5x3xf32, {layout = ["0", "2", "3", "1"]}>):
      %4 = "tgn.transpose"(%11) <{perm = [0, 3, 2, 1]}> : (tensor<2x8x5x3xf32, {layout = ["0", "2", "3", "1"]}>) -> tensor<2x3x5x8xf32> loc("z")
      "tgn.yield"(%4) : (tensor<2x3x5x8xf32>) -> ()
    }) : (tensor<2x8x5x3xf32, {layout = ["0", "2", "3", "1"]}>) -> tensor<2x3x5x8xf32> loc("z")
    "tgn.return"(%10) : (tensor<2x3x5x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
