// Few channels in (a), two out (b) and halves (c) stay.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "y", "h", "u", "v", "w"], result_names = ["a", "b", "c"]}> ({
  ^bb0(%x: tensor<2x2x5x4xf32>, %y: tensor<2x3x5x4xf32>, %h: tensor<2x3x5x4xbf16>, %u: tensor<1x2x3x3xf32>, %v: tensor<2x3x3x3xf32>, %w: tensor<1x3x3x3xbf16>):
    %a = "tgn.conv"(%x, %u) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 1, out = "f32"}> : (tensor<2x2x5x4xf32>, tensor<1x2x3x3xf32>) -> tensor<2x1x5x4xf32> loc("a")
    %b = "tgn.conv"(%y, %v) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 1, out = "f32"}> : (tensor<2x3x5x4xf32>, tensor<2x3x3x3xf32>) -> tensor<2x2x5x4xf32> loc("b")
    %c = "tgn.conv"(%h, %w) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 1, out = "f32"}> : (tensor<2x3x5x4xbf16>, tensor<1x3x3x3xbf16>) -> tensor<2x1x5x4xf32> loc("c")
    "tgn.return"(%a, %b, %c) : (tensor<2x1x5x4xf32>, tensor<2x2x5x4xf32>, tensor<2x1x5x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// unchanged
