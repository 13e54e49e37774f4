// A transpose that only moves an axis of extent 1 takes the layout of its operand along.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["z"]}> ({
  ^bb0(%x: tensor<2x8x1x5xf32>, %w: tensor<8x8x1x1xf32>):
    %y = "tgn.conv"(%x, %w) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "f32"}> : (tensor<2x8x1x5xf32>, tensor<8x8x1x1xf32>) -> tensor<2x8x1x5xf32> loc("y")
    %z = "tgn.transpose"(%y) <{perm = [0, 2, 1, 3]}> : (tensor<2x8x1x5xf32>) -> tensor<2x1x8x5xf32> loc("z")
    "tgn.return"(%z) : (tensor<2x1x8x5xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// its layout changes in a kernel of its own
// z: its layout changes in a kernel of its own
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["z"]}> ({
  ^bb0(%0: tensor<2x8x1x5xf32>, %1: tensor<8x8x1x1xf32>):
    %7 = "tgn.kernel"(%0) <{class = "map"}> ({
    ^bb0(%8: tensor<2x8x1x5xf32>):
      %9 = "tgn.relayout"(%8) <{layout = ["0", "2", "3", "1"]}> : (tensor<2x8x1x5xf32>) -> tensor<2x8x1x5xf32, {layout = ["0", "2", "3", "1"]}>
      "tgn.yield"(%9) : (tensor<2x8x1x5xf32, {layout = ["0", "2", "3", "1"]}>) -> ()
    }) : (tensor<2x8x1x5xf32>) -> tensor<2x8x1x5xf32, {layout = ["0", "2", "3", "1"]}>
    %4 = "tgn.kernel"(%7, %1) <{class = "conv"}> ({
    ^bb0(%5: tensor<2x8x1x5xf32, {layout = ["0", "2", "3", "1"]}>, %6: tensor<8x8x1x1xf32>):
      %2 = "tgn.conv"(%5, %6) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "f32"}> : (tensor<2x8x1x5xf32, {layout = ["0", "2", "3", "1"]}>, tensor<8x8x1x1xf32>) -> tensor<2x8x1x5xf32> loc("y")
      "tgn.yield"(%2) : (tensor<2x8x1x5xf32>) -> ()
    }) : (tensor<2x8x1x5xf32, {layout = ["0", "2", "3", "1"]}>, tensor<8x8x1x1xf32>) -> tensor<2x8x1x5xf32, {layout = ["0", "2", "3", "1"]}> loc("y")
    %3 = "tgn.transpose"(%4) <{perm = [0, 2, 1, 3]}> : (tensor<2x8x1x5xf32, {layout = ["0", "2", "3", "1"]}>) -> tensor<2x1x8x5xf32, {layout = ["0", "1", "3", "2"]}> loc("z")
    %10 = "tgn.kernel"(%3) <{class = "map"}> ({
    ^bb0(%11: tensor<2x1x8x5xf32, {layout = ["0", "1", "3", "2"]}>):
      %12 = "tgn.relayout"(%11) <{layout = ["0", "1", "2", "3"]}> : (tensor<2x1x8x5xf32, {layout = ["0", "1", "3", "2"]}>) -> tensor<2x1x8x5xf32, {layout = ["0", "1", "2", "3"]}> loc("z")
      "tgn.yield"(%12) : (tensor<2x1x8x5xf32, {layout = ["0", "1", "2", "3"]}>) -> ()
    }) : (tensor<2x1x8x5xf32, {layout = ["0", "1", "3", "2"]}>) -> tensor<2x1x8x5xf32> loc("z")
    "tgn.return"(%10) : (tensor<2x1x8x5xf32>) -> ()
  }) : () -> ()
}) : () -> ()
