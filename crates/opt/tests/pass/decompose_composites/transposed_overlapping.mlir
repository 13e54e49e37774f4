// A transposed convolution in general spreads its input.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<1x2x2x3xf32>, %w: tensor<2x1x3x3xf32>):
    %y = "tgn.conv_transpose"(%x, %w) <{window = {size = [3, 3], strides = [2, 2], dilations = [1, 1], low = [1, 1], high = [1, 0]}, groups = 2, output = [3, 6]}> : (tensor<1x2x2x3xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x3x6xf32> loc("y")
    "tgn.return"(%y) : (tensor<1x2x3x6xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// y: decomposed conv_transpose: the target takes it in pieces
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<1x2x2x3xf32>, %1: tensor<2x1x3x3xf32>):
    %3 = "tgn.reshape"(%1) <{shape = [2, 1, 1, 3, 3]}> : (tensor<2x1x3x3xf32>) -> tensor<2x1x1x3x3xf32> loc("y")
    %4 = "tgn.transpose"(%3) <{perm = [0, 2, 1, 3, 4]}> : (tensor<2x1x1x3x3xf32>) -> tensor<2x1x1x3x3xf32> loc("y")
    %5 = "tgn.reshape"(%4) <{shape = [2, 1, 3, 3]}> : (tensor<2x1x1x3x3xf32>) -> tensor<2x1x3x3xf32> loc("y")
    %6 = "tgn.slice"(%5) <{starts = [0, 0, 2, 0], sizes = [2, 1, 3, 3], steps = [1, 1, -1, 1]}> : (tensor<2x1x3x3xf32>) -> tensor<2x1x3x3xf32> loc("y")
    %7 = "tgn.slice"(%6) <{starts = [0, 0, 0, 2], sizes = [2, 1, 3, 3], steps = [1, 1, 1, -1]}> : (tensor<2x1x3x3xf32>) -> tensor<2x1x3x3xf32> loc("y")
    %8 = "tgn.reshape"(%0) <{shape = [1, 2, 2, 1, 3, 1]}> : (tensor<1x2x2x3xf32>) -> tensor<1x2x2x1x3x1xf32> loc("y")
    %9 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 0}> : () -> tensor<f32> loc("y")
    %10 = "tgn.pad"(%8, %9) <{low = [0, 0, 0, 0, 0, 0], high = [0, 0, 0, 1, 0, 1], mode = "constant"}> : (tensor<1x2x2x1x3x1xf32>, tensor<f32>) -> tensor<1x2x2x2x3x2xf32> loc("y")
    %11 = "tgn.reshape"(%10) <{shape = [1, 2, 4, 6]}> : (tensor<1x2x2x2x3x2xf32>) -> tensor<1x2x4x6xf32> loc("y")
    %12 = "tgn.slice"(%11) <{starts = [0, 0, 0, 0], sizes = [1, 2, 3, 6], steps = [1, 1, 1, 1]}> : (tensor<1x2x4x6xf32>) -> tensor<1x2x3x6xf32> loc("y")
    %13 = "tgn.slice"(%12) <{starts = [0, 0, 0, 0], sizes = [1, 2, 3, 5], steps = [1, 1, 1, 1]}> : (tensor<1x2x3x6xf32>) -> tensor<1x2x3x5xf32> loc("y")
    %14 = "tgn.conv"(%13, %7) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 2]}, groups = 2, out = "f32"}> : (tensor<1x2x3x5xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x3x6xf32> loc("y")
    "tgn.return"(%14) : (tensor<1x2x3x6xf32>) -> ()
  }) : () -> ()
}) : () -> ()
