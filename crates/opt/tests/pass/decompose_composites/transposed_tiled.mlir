// A transposed convolution whose windows do not overlap computes them as channels.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<1x2x2x2xf32>, %w: tensor<2x3x2x2xf32>):
    %y = "tgn.conv_transpose"(%x, %w) <{window = {size = [2, 2], strides = [2, 2], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, output = [4, 4]}> : (tensor<1x2x2x2xf32>, tensor<2x3x2x2xf32>) -> tensor<1x3x4x4xf32> loc("y")
    "tgn.return"(%y) : (tensor<1x3x4x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// y: decomposed conv_transpose: the target takes its decomposition
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<1x2x2x2xf32>, %1: tensor<2x3x2x2xf32>):
    %3 = "tgn.reshape"(%1) <{shape = [1, 2, 3, 1, 2, 1, 2]}> : (tensor<2x3x2x2xf32>) -> tensor<1x2x3x1x2x1x2xf32> loc("y")
    %4 = "tgn.transpose"(%3) <{perm = [0, 4, 6, 2, 1, 3, 5]}> : (tensor<1x2x3x1x2x1x2xf32>) -> tensor<1x2x2x3x2x1x1xf32> loc("y")
    %5 = "tgn.reshape"(%4) <{shape = [12, 2, 1, 1]}> : (tensor<1x2x2x3x2x1x1xf32>) -> tensor<12x2x1x1xf32> loc("y")
    %6 = "tgn.conv"(%0, %5) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "f32"}> : (tensor<1x2x2x2xf32>, tensor<12x2x1x1xf32>) -> tensor<1x12x2x2xf32> loc("y")
    %7 = "tgn.reshape"(%6) <{shape = [1, 1, 2, 2, 3, 2, 2]}> : (tensor<1x12x2x2xf32>) -> tensor<1x1x2x2x3x2x2xf32> loc("y")
    %8 = "tgn.transpose"(%7) <{perm = [0, 1, 4, 5, 2, 6, 3]}> : (tensor<1x1x2x2x3x2x2xf32>) -> tensor<1x1x3x2x2x2x2xf32> loc("y")
    %9 = "tgn.reshape"(%8) <{shape = [1, 3, 4, 4]}> : (tensor<1x1x3x2x2x2x2xf32>) -> tensor<1x3x4x4xf32> loc("y")
    "tgn.return"(%9) : (tensor<1x3x4x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
