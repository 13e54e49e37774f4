// Phases along one axis: each residue of the stride meets two taps; the window is no multiple of the stride.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<?x2x?xf32, {dims = ["n", "l"]}>, %w: tensor<2x3x5xf32>):
    %y = "tgn.conv_transpose"(%x, %w) <{window = {size = [5], strides = [3], dilations = [1], low = [1], high = [1]}, groups = 1, output = ["3*l + 1"]}> : (tensor<?x2x?xf32, {dims = ["n", "l"]}>, tensor<2x3x5xf32>) -> tensor<?x3x?xf32, {dims = ["n", "3*l + 1"]}> loc("y")
    "tgn.return"(%y) : (tensor<?x3x?xf32, {dims = ["n", "3*l + 1"]}>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// y: decomposed conv_transpose: the target takes its decomposition
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<?x2x?xf32, {dims = ["n", "l"]}>, %1: tensor<2x3x5xf32>):
    %3 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 0}> : () -> tensor<f32> loc("y")
    %4 = "tgn.pad"(%1, %3) <{low = [0, 0, 0], high = [0, 0, 1], mode = "constant"}> : (tensor<2x3x5xf32>, tensor<f32>) -> tensor<2x3x6xf32> loc("y")
    %5 = "tgn.reshape"(%4) <{shape = [1, 2, 3, 2, 3]}> : (tensor<2x3x6xf32>) -> tensor<1x2x3x2x3xf32> loc("y")
    %6 = "tgn.transpose"(%5) <{perm = [0, 4, 2, 1, 3]}> : (tensor<1x2x3x2x3xf32>) -> tensor<1x3x3x2x2xf32> loc("y")
    %7 = "tgn.reshape"(%6) <{shape = [9, 2, 2]}> : (tensor<1x3x3x2x2xf32>) -> tensor<9x2x2xf32> loc("y")
    %8 = "tgn.slice"(%7) <{starts = [0, 0, 1], sizes = [9, 2, 2], steps = [1, 1, -1]}> : (tensor<9x2x2xf32>) -> tensor<9x2x2xf32> loc("y")
    %9 = "tgn.conv"(%0, %8) <{window = {size = [2], strides = [1], dilations = [1], low = [1], high = [1]}, groups = 1, out = "f32"}> : (tensor<?x2x?xf32, {dims = ["n", "l"]}>, tensor<9x2x2xf32>) -> tensor<?x9x?xf32, {dims = ["n", "l + 1"]}> loc("y")
    %10 = "tgn.reshape"(%9) <{shape = ["n", 1, 3, 3, "l + 1"]}> : (tensor<?x9x?xf32, {dims = ["n", "l + 1"]}>) -> tensor<?x1x3x3x?xf32, {dims = ["n", "l + 1"]}> loc("y")
    %11 = "tgn.transpose"(%10) <{perm = [0, 1, 3, 4, 2]}> : (tensor<?x1x3x3x?xf32, {dims = ["n", "l + 1"]}>) -> tensor<?x1x3x?x3xf32, {dims = ["n", "l + 1"]}> loc("y")
    %12 = "tgn.reshape"(%11) <{shape = ["n", 3, "3*l + 3"]}> : (tensor<?x1x3x?x3xf32, {dims = ["n", "l + 1"]}>) -> tensor<?x3x?xf32, {dims = ["n", "3*l + 3"]}> loc("y")
    %13 = "tgn.slice"(%12) <{starts = [0, 0, 1], sizes = ["n", 3, "3*l + 1"], steps = [1, 1, 1]}> : (tensor<?x3x?xf32, {dims = ["n", "3*l + 3"]}>) -> tensor<?x3x?xf32, {dims = ["n", "3*l + 1"]}> loc("y")
    "tgn.return"(%13) : (tensor<?x3x?xf32, {dims = ["n", "3*l + 1"]}>) -> ()
  }) : () -> ()
}) : () -> ()
