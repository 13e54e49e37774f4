// A window smaller than its stride: a phase is zeros. An axis without a stride keeps its dilation.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<1x2x2x4xf32>, %w: tensor<2x1x2x3xf32>):
    %y = "tgn.conv_transpose"(%x, %w) <{window = {size = [2, 3], strides = [3, 1], dilations = [1, 2], low = [0, 1], high = [0, 0]}, groups = 1, output = [6, 7]}> : (tensor<1x2x2x4xf32>, tensor<2x1x2x3xf32>) -> tensor<1x1x6x7xf32> loc("y")
    "tgn.return"(%y) : (tensor<1x1x6x7xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// y: decomposed conv_transpose: the target takes its decomposition
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<1x2x2x4xf32>, %1: tensor<2x1x2x3xf32>):
    %3 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 0}> : () -> tensor<f32> loc("y")
    %4 = "tgn.pad"(%1, %3) <{low = [0, 0, 0, 0], high = [0, 0, 1, 0], mode = "constant"}> : (tensor<2x1x2x3xf32>, tensor<f32>) -> tensor<2x1x3x3xf32> loc("y")
    %5 = "tgn.reshape"(%4) <{shape = [1, 2, 1, 1, 3, 3, 1]}> : (tensor<2x1x3x3xf32>) -> tensor<1x2x1x1x3x3x1xf32> loc("y")
    %6 = "tgn.transpose"(%5) <{perm = [0, 4, 6, 2, 1, 3, 5]}> : (tensor<1x2x1x1x3x3x1xf32>) -> tensor<1x3x1x1x2x1x3xf32> loc("y")
    %7 = "tgn.reshape"(%6) <{shape = [3, 2, 1, 3]}> : (tensor<1x3x1x1x2x1x3xf32>) -> tensor<3x2x1x3xf32> loc("y")
    %8 = "tgn.slice"(%7) <{starts = [0, 0, 0, 2], sizes = [3, 2, 1, 3], steps = [1, 1, 1, -1]}> : (tensor<3x2x1x3xf32>) -> tensor<3x2x1x3xf32> loc("y")
    %9 = "tgn.conv"(%0, %8) <{window = {size = [1, 3], strides = [1, 1], dilations = [1, 2], low = [0, 3], high = [0, 4]}, groups = 1, out = "f32"}> : (tensor<1x2x2x4xf32>, tensor<3x2x1x3xf32>) -> tensor<1x3x2x7xf32> loc("y")
    %10 = "tgn.reshape"(%9) <{shape = [1, 1, 3, 1, 1, 2, 7]}> : (tensor<1x3x2x7xf32>) -> tensor<1x1x3x1x1x2x7xf32> loc("y")
    %11 = "tgn.transpose"(%10) <{perm = [0, 1, 4, 5, 2, 6, 3]}> : (tensor<1x1x3x1x1x2x7xf32>) -> tensor<1x1x1x2x3x7x1xf32> loc("y")
    %12 = "tgn.reshape"(%11) <{shape = [1, 1, 6, 7]}> : (tensor<1x1x1x2x3x7x1xf32>) -> tensor<1x1x6x7xf32> loc("y")
    "tgn.return"(%12) : (tensor<1x1x6x7xf32>) -> ()
  }) : () -> ()
}) : () -> ()
