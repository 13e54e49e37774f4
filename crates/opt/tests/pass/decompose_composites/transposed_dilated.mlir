// Where a stride meets a dilation the input is spread.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<1x2x3xf32>, %w: tensor<2x2x2xf32>):
    %y = "tgn.conv_transpose"(%x, %w) <{window = {size = [2], strides = [2], dilations = [3], low = [0], high = [1]}, groups = 1, output = [7]}> : (tensor<1x2x3xf32>, tensor<2x2x2xf32>) -> tensor<1x2x7xf32> loc("y")
    "tgn.return"(%y) : (tensor<1x2x7xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// y: decomposed conv_transpose: the target takes its decomposition
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<1x2x3xf32>, %1: tensor<2x2x2xf32>):
    %3 = "tgn.reshape"(%1) <{shape = [1, 2, 2, 2]}> : (tensor<2x2x2xf32>) -> tensor<1x2x2x2xf32> loc("y")
    %4 = "tgn.transpose"(%3) <{perm = [0, 2, 1, 3]}> : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> loc("y")
    %5 = "tgn.reshape"(%4) <{shape = [2, 2, 2]}> : (tensor<1x2x2x2xf32>) -> tensor<2x2x2xf32> loc("y")
    %6 = "tgn.slice"(%5) <{starts = [0, 0, 1], sizes = [2, 2, 2], steps = [1, 1, -1]}> : (tensor<2x2x2xf32>) -> tensor<2x2x2xf32> loc("y")
    %7 = "tgn.reshape"(%0) <{shape = [1, 2, 3, 1]}> : (tensor<1x2x3xf32>) -> tensor<1x2x3x1xf32> loc("y")
    %8 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 0}> : () -> tensor<f32> loc("y")
    %9 = "tgn.pad"(%7, %8) <{low = [0, 0, 0, 0], high = [0, 0, 0, 1], mode = "constant"}> : (tensor<1x2x3x1xf32>, tensor<f32>) -> tensor<1x2x3x2xf32> loc("y")
    %10 = "tgn.reshape"(%9) <{shape = [1, 2, 6]}> : (tensor<1x2x3x2xf32>) -> tensor<1x2x6xf32> loc("y")
    %11 = "tgn.slice"(%10) <{starts = [0, 0, 0], sizes = [1, 2, 5], steps = [1, 1, 1]}> : (tensor<1x2x6xf32>) -> tensor<1x2x5xf32> loc("y")
    %12 = "tgn.conv"(%11, %6) <{window = {size = [2], strides = [1], dilations = [3], low = [3], high = [2]}, groups = 1, out = "f32"}> : (tensor<1x2x5xf32>, tensor<2x2x2xf32>) -> tensor<1x2x7xf32> loc("y")
    "tgn.return"(%12) : (tensor<1x2x7xf32>) -> ()
  }) : () -> ()
}) : () -> ()
