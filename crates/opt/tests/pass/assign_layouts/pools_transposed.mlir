// A pool of channels for whole vectors is transposed, one of fewer stays as it lies.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "few"], result_names = ["y", "z"]}> ({
  ^bb0(%x: tensor<1x8x4x4xf32>, %few: tensor<1x3x4x4xf32>):
    %y = "tgn.pool"(%x) <{kind = "max", window = {size = [2, 2], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}}> : (tensor<1x8x4x4xf32>) -> tensor<1x8x3x3xf32> loc("y")
    %z = "tgn.pool"(%few) <{kind = "max", window = {size = [2, 2], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}}> : (tensor<1x3x4x4xf32>) -> tensor<1x3x3x3xf32> loc("z")
    "tgn.return"(%y, %z) : (tensor<1x8x3x3xf32>, tensor<1x3x3x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// its layout changes in a kernel of its own
// y: its layout changes in a kernel of its own
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "few"], result_names = ["y", "z"]}> ({
  ^bb0(%0: tensor<1x8x4x4xf32>, %1: tensor<1x3x4x4xf32>):
    %8 = "tgn.kernel"(%0) <{class = "map"}> ({
    ^bb0(%9: tensor<1x8x4x4xf32>):
      %10 = "tgn.relayout"(%9) <{layout = ["0", "2", "3", "1"]}> : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32, {layout = ["0", "2", "3", "1"]}>
      "tgn.yield"(%10) : (tensor<1x8x4x4xf32, {layout = ["0", "2", "3", "1"]}>) -> ()
    }) : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32, {layout = ["0", "2", "3", "1"]}>
    %4 = "tgn.kernel"(%8) <{class = "pool"}> ({
    ^bb0(%5: tensor<1x8x4x4xf32, {layout = ["0", "2", "3", "1"]}>):
      %2 = "tgn.pool"(%5) <{kind = "max", window = {size = [2, 2], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}}> : (tensor<1x8x4x4xf32, {layout = ["0", "2", "3", "1"]}>) -> tensor<1x8x3x3xf32> loc("y")
      "tgn.yield"(%2) : (tensor<1x8x3x3xf32>) -> ()
    }) : (tensor<1x8x4x4xf32, {layout = ["0", "2", "3", "1"]}>) -> tensor<1x8x3x3xf32, {layout = ["0", "2", "3", "1"]}> loc("y")
    %6 = "tgn.kernel"(%1) <{class = "pool"}> ({
    ^bb0(%7: tensor<1x3x4x4xf32>):
      %3 = "tgn.pool"(%7) <{kind = "max", window = {size = [2, 2], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}}> : (tensor<1x3x4x4xf32>) -> tensor<1x3x3x3xf32> loc("z")
      "tgn.yield"(%3) : (tensor<1x3x3x3xf32>) -> ()
    }) : (tensor<1x3x4x4xf32>) -> tensor<1x3x3x3xf32> loc("z")
    %11 = "tgn.kernel"(%4) <{class = "map"}> ({
    ^bb0(%12: tensor<1x8x3x3xf32, {layout = ["0", "2", "3", "1"]}>):
      %13 = "tgn.relayout"(%12) <{layout = ["0", "1", "2", "3"]}> : (tensor<1x8x3x3xf32, {layout = ["0", "2", "3", "1"]}>) -> tensor<1x8x3x3xf32, {layout = ["0", "1", "2", "3"]}> loc("y")
      "tgn.yield"(%13) : (tensor<1x8x3x3xf32, {layout = ["0", "1", "2", "3"]}>) -> ()
    }) : (tensor<1x8x3x3xf32, {layout = ["0", "2", "3", "1"]}>) -> tensor<1x8x3x3xf32> loc("y")
    "tgn.return"(%11, %6) : (tensor<1x8x3x3xf32>, tensor<1x3x3x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
