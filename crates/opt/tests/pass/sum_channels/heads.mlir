// A head of 3x3 (a) is a depthwise convolution whose channels are summed; one of a place (b) the sum of products.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w", "v"], result_names = ["a", "b"]}> ({
  ^bb0(%x: tensor<2x3x5x4xf32>, %w: tensor<1x3x3x3xf32>, %v: tensor<1x3x1x1xf32>):
    %a = "tgn.conv"(%x, %w) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 1, out = "f32"}> : (tensor<2x3x5x4xf32>, tensor<1x3x3x3xf32>) -> tensor<2x1x5x4xf32> loc("a")
    %b = "tgn.conv"(%x, %v) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "f32"}> : (tensor<2x3x5x4xf32>, tensor<1x3x1x1xf32>) -> tensor<2x1x5x4xf32> loc("b")
    "tgn.return"(%a, %b) : (tensor<2x1x5x4xf32>, tensor<2x1x5x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// a: to one channel: the sum of a depthwise convolution's channels
// b: to one channel: the sum of a depthwise convolution's channels
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w", "v"], result_names = ["a", "b"]}> ({
  ^bb0(%0: tensor<2x3x5x4xf32>, %1: tensor<1x3x3x3xf32>, %2: tensor<1x3x1x1xf32>):
    %5 = "tgn.reshape"(%1) <{shape = [3, 1, 3, 3]}> : (tensor<1x3x3x3xf32>) -> tensor<3x1x3x3xf32> loc("a")
    %6 = "tgn.conv"(%0, %5) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 3, out = "f32"}> : (tensor<2x3x5x4xf32>, tensor<3x1x3x3xf32>) -> tensor<2x3x5x4xf32> loc("a")
    %7 = "tgn.reduce"(%6) <{f = "add", axes = [1]}> : (tensor<2x3x5x4xf32>) -> tensor<2x1x5x4xf32> loc("a")
    %8 = "tgn.elementwise"(%0, %2) <{f = "mul"}> : (tensor<2x3x5x4xf32>, tensor<1x3x1x1xf32>) -> tensor<2x3x5x4xf32> loc("b")
    %9 = "tgn.reduce"(%8) <{f = "add", axes = [1]}> : (tensor<2x3x5x4xf32>) -> tensor<2x1x5x4xf32> loc(fused[fused["b"]])
    "tgn.return"(%7, %9) : (tensor<2x1x5x4xf32>, tensor<2x1x5x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
