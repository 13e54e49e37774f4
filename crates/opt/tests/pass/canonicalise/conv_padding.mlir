// Zeros in front of a convolution become padding of its window.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<1x2x4x4xf32>, %w: tensor<3x2x3x3xf32>):
    %zero = "tgn.splat"() <{dtype = "f32", shape = [], bits = 0}> : () -> tensor<f32>
    %p = "tgn.pad"(%x, %zero) <{low = [0, 0, 1, 1], high = [0, 0, 1, 1], mode = "constant"}> : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x6x6xf32> loc("p")
    %y = "tgn.conv"(%p, %w) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "f32"}> : (tensor<1x2x6x6xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x4x4xf32> loc("y")
    "tgn.return"(%y) : (tensor<1x3x4x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// y: conv(pad(x) by 0) => conv(x) with padding
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<1x2x4x4xf32>, %1: tensor<3x2x3x3xf32>):
    %5 = "tgn.conv"(%0, %1) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 1, out = "f32"}> : (tensor<1x2x4x4xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x4x4xf32> loc(fused["y", "p"])
    "tgn.return"(%5) : (tensor<1x3x4x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
