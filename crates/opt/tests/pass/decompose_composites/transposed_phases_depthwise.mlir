// A channel a group: the phases are runs of channels, each with an x of its own.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<1x3x?x2xf32, {dims = ["h"]}>, %w: tensor<3x1x4x3xf32>):
    %y = "tgn.conv_transpose"(%x, %w) <{window = {size = [4, 3], strides = [2, 2], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 3, output = ["2*h", 4]}> : (tensor<1x3x?x2xf32, {dims = ["h"]}>, tensor<3x1x4x3xf32>) -> tensor<1x3x?x4xf32, {dims = ["2*h"]}> loc("y")
    "tgn.return"(%y) : (tensor<1x3x?x4xf32, {dims = ["2*h"]}>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// y: decomposed conv_transpose: the target takes its decomposition
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<1x3x?x2xf32, {dims = ["h"]}>, %1: tensor<3x1x4x3xf32>):
    %3 = "tgn.reshape"(%1) <{shape = [1, 3, 4, 3]}> : (tensor<3x1x4x3xf32>) -> tensor<1x3x4x3xf32> loc("y")
    %4 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 0}> : () -> tensor<f32> loc("y")
    %5 = "tgn.pad"(%3, %4) <{low = [0, 0, 0, 1], high = [0, 0, 0, 0], mode = "constant"}> : (tensor<1x3x4x3xf32>, tensor<f32>) -> tensor<1x3x4x4xf32> loc("y")
    %6 = "tgn.reshape"(%5) <{shape = [1, 1, 3, 2, 2, 2, 2]}> : (tensor<1x3x4x4xf32>) -> tensor<1x1x3x2x2x2x2xf32> loc("y")
    %7 = "tgn.transpose"(%6) <{perm = [0, 4, 6, 2, 1, 3, 5]}> : (tensor<1x1x3x2x2x2x2xf32>) -> tensor<1x2x2x3x1x2x2xf32> loc("y")
    %8 = "tgn.reshape"(%7) <{shape = [12, 1, 2, 2]}> : (tensor<1x2x2x3x1x2x2xf32>) -> tensor<12x1x2x2xf32> loc("y")
    %9 = "tgn.slice"(%8) <{starts = [0, 0, 1, 0], sizes = [12, 1, 2, 2], steps = [1, 1, -1, 1]}> : (tensor<12x1x2x2xf32>) -> tensor<12x1x2x2xf32> loc("y")
    %10 = "tgn.slice"(%9) <{starts = [0, 0, 0, 1], sizes = [12, 1, 2, 2], steps = [1, 1, 1, -1]}> : (tensor<12x1x2x2xf32>) -> tensor<12x1x2x2xf32> loc("y")
    %11 = "tgn.reshape"(%0) <{shape = [1, 1, 3, "h", 2]}> : (tensor<1x3x?x2xf32, {dims = ["h"]}>) -> tensor<1x1x3x?x2xf32, {dims = ["h"]}> loc("y")
    %12 = "tgn.broadcast"(%11) <{shape = [1, 4, 3, "h", 2]}> : (tensor<1x1x3x?x2xf32, {dims = ["h"]}>) -> tensor<1x4x3x?x2xf32, {dims = ["h"]}> loc("y")
    %13 = "tgn.reshape"(%12) <{shape = [1, 12, "h", 2]}> : (tensor<1x4x3x?x2xf32, {dims = ["h"]}>) -> tensor<1x12x?x2xf32, {dims = ["h"]}> loc("y")
    %14 = "tgn.conv"(%13, %10) <{window = {size = [2, 2], strides = [1, 1], dilations = [1, 1], low = [1, 0], high = [1, 1]}, groups = 12, out = "f32"}> : (tensor<1x12x?x2xf32, {dims = ["h"]}>, tensor<12x1x2x2xf32>) -> tensor<1x12x?x2xf32, {dims = ["h + 1"]}> loc("y")
    %15 = "tgn.reshape"(%14) <{shape = [1, 1, 2, 2, 3, "h + 1", 2]}> : (tensor<1x12x?x2xf32, {dims = ["h + 1"]}>) -> tensor<1x1x2x2x3x?x2xf32, {dims = ["h + 1"]}> loc("y")
    %16 = "tgn.transpose"(%15) <{perm = [0, 1, 4, 5, 2, 6, 3]}> : (tensor<1x1x2x2x3x?x2xf32, {dims = ["h + 1"]}>) -> tensor<1x1x3x?x2x2x2xf32, {dims = ["h + 1"]}> loc("y")
    %17 = "tgn.reshape"(%16) <{shape = [1, 3, "2*h + 2", 4]}> : (tensor<1x1x3x?x2x2x2xf32, {dims = ["h + 1"]}>) -> tensor<1x3x?x4xf32, {dims = ["2*h + 2"]}> loc("y")
    %18 = "tgn.slice"(%17) <{starts = [0, 0, 1, 0], sizes = [1, 3, "2*h", 4], steps = [1, 1, 1, 1]}> : (tensor<1x3x?x4xf32, {dims = ["2*h + 2"]}>) -> tensor<1x3x?x4xf32, {dims = ["2*h"]}> loc("y")
    "tgn.return"(%18) : (tensor<1x3x?x4xf32, {dims = ["2*h"]}>) -> ()
  }) : () -> ()
}) : () -> ()
