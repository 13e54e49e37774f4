// Groups have their own phases. The window is two strides and begins within one: results in front are cut.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<2x4x3x?xi32, {dims = ["l"]}>, %w: tensor<4x3x4x4xi32>):
    %y = "tgn.conv_transpose"(%x, %w) <{window = {size = [4, 4], strides = [2, 2], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 2, output = [6, "2*l"]}> : (tensor<2x4x3x?xi32, {dims = ["l"]}>, tensor<4x3x4x4xi32>) -> tensor<2x6x6x?xi32, {dims = ["2*l"]}> loc("y")
    "tgn.return"(%y) : (tensor<2x6x6x?xi32, {dims = ["2*l"]}>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// y: decomposed conv_transpose: the target takes its decomposition
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<2x4x3x?xi32, {dims = ["l"]}>, %1: tensor<4x3x4x4xi32>):
    %3 = "tgn.reshape"(%1) <{shape = [2, 2, 3, 2, 2, 2, 2]}> : (tensor<4x3x4x4xi32>) -> tensor<2x2x3x2x2x2x2xi32> loc("y")
    %4 = "tgn.transpose"(%3) <{perm = [0, 4, 6, 2, 1, 3, 5]}> : (tensor<2x2x3x2x2x2x2xi32>) -> tensor<2x2x2x3x2x2x2xi32> loc("y")
    %5 = "tgn.reshape"(%4) <{shape = [24, 2, 2, 2]}> : (tensor<2x2x2x3x2x2x2xi32>) -> tensor<24x2x2x2xi32> loc("y")
    %6 = "tgn.slice"(%5) <{starts = [0, 0, 1, 0], sizes = [24, 2, 2, 2], steps = [1, 1, -1, 1]}> : (tensor<24x2x2x2xi32>) -> tensor<24x2x2x2xi32> loc("y")
    %7 = "tgn.slice"(%6) <{starts = [0, 0, 0, 1], sizes = [24, 2, 2, 2], steps = [1, 1, 1, -1]}> : (tensor<24x2x2x2xi32>) -> tensor<24x2x2x2xi32> loc("y")
    %8 = "tgn.conv"(%0, %7) <{window = {size = [2, 2], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 2, out = "i32"}> : (tensor<2x4x3x?xi32, {dims = ["l"]}>, tensor<24x2x2x2xi32>) -> tensor<2x24x4x?xi32, {dims = ["l + 1"]}> loc("y")
    %9 = "tgn.reshape"(%8) <{shape = [2, 2, 2, 2, 3, 4, "l + 1"]}> : (tensor<2x24x4x?xi32, {dims = ["l + 1"]}>) -> tensor<2x2x2x2x3x4x?xi32, {dims = ["l + 1"]}> loc("y")
    %10 = "tgn.transpose"(%9) <{perm = [0, 1, 4, 5, 2, 6, 3]}> : (tensor<2x2x2x2x3x4x?xi32, {dims = ["l + 1"]}>) -> tensor<2x2x3x4x2x?x2xi32, {dims = ["l + 1"]}> loc("y")
    %11 = "tgn.reshape"(%10) <{shape = [2, 6, 8, "2*l + 2"]}> : (tensor<2x2x3x4x2x?x2xi32, {dims = ["l + 1"]}>) -> tensor<2x6x8x?xi32, {dims = ["2*l + 2"]}> loc("y")
    %12 = "tgn.slice"(%11) <{starts = [0, 0, 1, 0], sizes = [2, 6, 6, "2*l + 2"], steps = [1, 1, 1, 1]}> : (tensor<2x6x8x?xi32, {dims = ["2*l + 2"]}>) -> tensor<2x6x6x?xi32, {dims = ["2*l + 2"]}> loc("y")
    %13 = "tgn.slice"(%12) <{starts = [0, 0, 0, 1], sizes = [2, 6, 6, "2*l"], steps = [1, 1, 1, 1]}> : (tensor<2x6x6x?xi32, {dims = ["2*l + 2"]}>) -> tensor<2x6x6x?xi32, {dims = ["2*l"]}> loc("y")
    "tgn.return"(%13) : (tensor<2x6x6x?xi32, {dims = ["2*l"]}>) -> ()
  }) : () -> ()
}) : () -> ()
