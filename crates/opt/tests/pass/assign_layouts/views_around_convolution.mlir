// Transposes between images with their channels last and a convolution show the buffers that there are.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["z"]}> ({
  ^bb0(%x: tensor<?x?x5x8xf32, {dims = ["n", "h"]}>, %w: tensor<8x8x1x1xf32>):
    %t = "tgn.transpose"(%x) <{perm = [0, 3, 1, 2]}> : (tensor<?x?x5x8xf32, {dims = ["n", "h"]}>) -> tensor<?x8x?x5xf32, {dims = ["n", "h"]}> loc("t")
    %y = "tgn.conv"(%t, %w) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "f32"}> : (tensor<?x8x?x5xf32, {dims = ["n", "h"]}>, tensor<8x8x1x1xf32>) -> tensor<?x8x?x5xf32, {dims = ["n", "h"]}> loc("y")
    %z = "tgn.transpose"(%y) <{perm = [0, 2, 3, 1]}> : (tensor<?x8x?x5xf32, {dims = ["n", "h"]}>) -> tensor<?x?x5x8xf32, {dims = ["n", "h"]}> loc("z")
    "tgn.return"(%z) : (tensor<?x?x5x8xf32, {dims = ["n", "h"]}>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// t: not fused into conv "y": `conv` reads buffers
// t: its axes are named anew, and nothing moves
// z: its axes are named anew, and nothing moves
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["z"]}> ({
  ^bb0(%0: tensor<?x?x5x8xf32, {dims = ["n", "h"]}>, %1: tensor<8x8x1x1xf32>):
    %12 = "tgn.transpose"(%0) <{perm = [0, 3, 1, 2]}> : (tensor<?x?x5x8xf32, {dims = ["n", "h"]}>) -> tensor<?x8x?x5xf32, {dims = ["n", "h"], layout = ["0", "2", "3", "1"]}> loc("t")
    %7 = "tgn.kernel"(%12, %1) <{class = "conv"}> ({
    ^bb0(%8: tensor<?x8x?x5xf32, {dims = ["n", "h"], layout = ["0", "2", "3", "1"]}>, %9: tensor<8x8x1x1xf32>):
      %3 = "tgn.conv"(%8, %9) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "f32"}> : (tensor<?x8x?x5xf32, {dims = ["n", "h"], layout = ["0", "2", "3", "1"]}>, tensor<8x8x1x1xf32>) -> tensor<?x8x?x5xf32, {dims = ["n", "h"]}> loc("y")
      "tgn.yield"(%3) : (tensor<?x8x?x5xf32, {dims = ["n", "h"]}>) -> ()
    }) : (tensor<?x8x?x5xf32, {dims = ["n", "h"], layout = ["0", "2", "3", "1"]}>, tensor<8x8x1x1xf32>) -> tensor<?x8x?x5xf32, {dims = ["n", "h"], layout = ["0", "2", "3", "1"]}> loc("y")
    %13 = "tgn.transpose"(%7) <{perm = [0, 2, 3, 1]}> : (tensor<?x8x?x5xf32, {dims = ["n", "h"], layout = ["0", "2", "3", "1"]}>) -> tensor<?x?x5x8xf32, {dims = ["n", "h"]}> loc("z")
    "tgn.return"(%13) : (tensor<?x?x5x8xf32, {dims = ["n", "h"]}>) -> ()
  }) : () -> ()
}) : () -> ()
