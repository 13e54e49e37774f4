// More is cut than the taps reach beyond the input: the input itself is cut.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<1x2x6xf32>, %w: tensor<2x2x3xf32>):
    %y = "tgn.conv_transpose"(%x, %w) <{window = {size = [3], strides = [2], dilations = [1], low = [5], high = [4]}, groups = 1, output = [4]}> : (tensor<1x2x6xf32>, tensor<2x2x3xf32>) -> tensor<1x2x4xf32> loc("y")
    "tgn.return"(%y) : (tensor<1x2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// y: decomposed conv_transpose: the target takes its decomposition
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<1x2x6xf32>, %1: tensor<2x2x3xf32>):
    %3 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 0}> : () -> tensor<f32> loc("y")
    %4 = "tgn.pad"(%1, %3) <{low = [0, 0, 1], high = [0, 0, 0], mode = "constant"}> : (tensor<2x2x3xf32>, tensor<f32>) -> tensor<2x2x4xf32> loc("y")
    %5 = "tgn.reshape"(%4) <{shape = [1, 2, 2, 2, 2]}> : (tensor<2x2x4xf32>) -> tensor<1x2x2x2x2xf32> loc("y")
    %6 = "tgn.transpose"(%5) <{perm = [0, 4, 2, 1, 3]}> : (tensor<1x2x2x2x2xf32>) -> tensor<1x2x2x2x2xf32> loc("y")
    %7 = "tgn.reshape"(%6) <{shape = [4, 2, 2]}> : (tensor<1x2x2x2x2xf32>) -> tensor<4x2x2xf32> loc("y")
    %8 = "tgn.slice"(%7) <{starts = [0, 0, 1], sizes = [4, 2, 2], steps = [1, 1, -1]}> : (tensor<4x2x2xf32>) -> tensor<4x2x2xf32> loc("y")
    %9 = "tgn.slice"(%0) <{starts = [0, 0, 2], sizes = [1, 2, 3], steps = [1, 1, 1]}> : (tensor<1x2x6xf32>) -> tensor<1x2x3xf32> loc("y")
    %10 = "tgn.conv"(%9, %8) <{window = {size = [2], strides = [1], dilations = [1], low = [0], high = [0]}, groups = 1, out = "f32"}> : (tensor<1x2x3xf32>, tensor<4x2x2xf32>) -> tensor<1x4x2xf32> loc("y")
    %11 = "tgn.reshape"(%10) <{shape = [1, 1, 2, 2, 2]}> : (tensor<1x4x2xf32>) -> tensor<1x1x2x2x2xf32> loc("y")
    %12 = "tgn.transpose"(%11) <{perm = [0, 1, 3, 4, 2]}> : (tensor<1x1x2x2x2xf32>) -> tensor<1x1x2x2x2xf32> loc("y")
    %13 = "tgn.reshape"(%12) <{shape = [1, 2, 4]}> : (tensor<1x1x2x2x2xf32>) -> tensor<1x2x4xf32> loc("y")
    "tgn.return"(%13) : (tensor<1x2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
