// A transpose that all readers see as a view is no kernel.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w", "v"], result_names = ["y", "z"]}> ({
  ^bb0(%x: tensor<2x3x5x8xf32>, %w: tensor<8x8x1x1xf32>, %v: tensor<8x8x1x1xf32>):
    %t = "tgn.transpose"(%x) <{perm = [0, 3, 1, 2]}> : (tensor<2x3x5x8xf32>) -> tensor<2x8x3x5xf32> loc("t")
    %y = "tgn.conv"(%t, %w) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "f32"}> : (tensor<2x8x3x5xf32>, tensor<8x8x1x1xf32>) -> tensor<2x8x3x5xf32> loc("y")
    %z = "tgn.conv"(%t, %v) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "f32"}> : (tensor<2x8x3x5xf32>, tensor<8x8x1x1xf32>) -> tensor<2x8x3x5xf32> loc("z")
    "tgn.return"(%y, %z) : (tensor<2x8x3x5xf32>, tensor<2x8x3x5xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// t: not fused: 2 users
// y: its layout changes in a kernel of its own
// z: its layout changes in a kernel of its own
// t: its axes are named anew, and nothing moves
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w", "v"], result_names = ["y", "z"]}> ({
  ^bb0(%0: tensor<2x3x5x8xf32>, %1: tensor<8x8x1x1xf32>, %2: tensor<8x8x1x1xf32>):
    %21 = "tgn.transpose"(%0) <{perm = [0, 3, 1, 2]}> : (tensor<2x3x5x8xf32>) -> tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}> loc("t")
    %14 = "tgn.transpose"(%0) <{perm = [0, 3, 1, 2]}> : (tensor<2x3x5x8xf32>) -> tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}> loc("t")
    %8 = "tgn.kernel"(%14, %1) <{class = "conv"}> ({
    ^bb0(%9: tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}>, %10: tensor<8x8x1x1xf32>):
      %4 = "tgn.conv"(%9, %10) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "f32"}> : (tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}>, tensor<8x8x1x1xf32>) -> tensor<2x8x3x5xf32> loc("y")
      "tgn.yield"(%4) : (tensor<2x8x3x5xf32>) -> ()
    }) : (tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}>, tensor<8x8x1x1xf32>) -> tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}> loc("y")
    %11 = "tgn.kernel"(%21, %2) <{class = "conv"}> ({
    ^bb0(%12: tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}>, %13: tensor<8x8x1x1xf32>):
      %5 = "tgn.conv"(%12, %13) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "f32"}> : (tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}>, tensor<8x8x1x1xf32>) -> tensor<2x8x3x5xf32> loc("z")
      "tgn.yield"(%5) : (tensor<2x8x3x5xf32>) -> ()
    }) : (tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}>, tensor<8x8x1x1xf32>) -> tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}> loc("z")
    %15 = "tgn.kernel"(%8) <{class = "map"}> ({
    ^bb0(%16: tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}>):
      %17 = "tgn.relayout"(%16) <{layout = ["0", "1", "2", "3"]}> : (tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}>) -> tensor<2x8x3x5xf32, {layout = ["0", "1", "2", "3"]}> loc("y")
      "tgn.yield"(%17) : (tensor<2x8x3x5xf32, {layout = ["0", "1", "2", "3"]}>) -> ()
    }) : (tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}>) -> tensor<2x8x3x5xf32> loc("y")
    %18 = "tgn.kernel"(%11) <{class = "map"}> ({
    ^bb0(%19: tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}>):
      %20 = "tgn.relayout"(%19) <{layout = ["0", "1", "2", "3"]}> : (tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}>) -> tensor<2x8x3x5xf32, {layout = ["0", "1", "2", "3"]}> loc("z")
      "tgn.yield"(%20) : (tensor<2x8x3x5xf32, {layout = ["0", "1", "2", "3"]}>) -> ()
    }) : (tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}>) -> tensor<2x8x3x5xf32> loc("z")
    "tgn.return"(%15, %18) : (tensor<2x8x3x5xf32>, tensor<2x8x3x5xf32>) -> ()
  }) : () -> ()
}) : () -> ()
