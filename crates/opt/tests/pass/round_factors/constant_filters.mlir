// Weights are rounded at compile time; what joins and pads rounded numbers gives rounded numbers.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<1x4x6xf32>):
    %e = "tgn.elementwise"(%x) <{f = "exp"}> : (tensor<1x4x6xf32>) -> tensor<1x4x6xf32> loc("e")
    %s = "tgn.elementwise"(%x) <{f = "sigmoid"}> : (tensor<1x4x6xf32>) -> tensor<1x4x6xf32> loc("s")
    %c = "tgn.concat"(%e, %s) <{axis = 1}> : (tensor<1x4x6xf32>, tensor<1x4x6xf32>) -> tensor<1x8x6xf32> loc("c")
    %zero = "tgn.splat"() <{dtype = "f32", shape = [], bits = 0}> : () -> tensor<f32>
    %p = "tgn.pad"(%c, %zero) <{low = [0, 0, 4], high = [0, 0, 4], mode = "constant"}> : (tensor<1x8x6xf32>, tensor<f32>) -> tensor<1x8x14xf32> loc("p")
    %w = "tgn.splat"() <{dtype = "f32", shape = [2, 8, 9], bits = 1036831949}> : () -> tensor<2x8x9xf32>
    %y = "tgn.conv"(%p, %w) <{window = {size = [9], strides = [1], dilations = [1], low = [0], high = [0]}, groups = 1, out = "f32"}> : (tensor<1x8x14xf32>, tensor<2x8x9xf32>) -> tensor<1x2x6xf32> loc("y")
    "tgn.return"(%y) : (tensor<1x2x6xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// e: rounded to bf16, as a contraction reads it
// s: rounded to bf16, as a contraction reads it
// y: its factors are rounded to bf16, sums are f32
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<1x4x6xf32>):
    %8 = "tgn.elementwise"(%0) <{f = "exp"}> : (tensor<1x4x6xf32>) -> tensor<1x4x6xf32> loc("e")
    %9 = "tgn.elementwise"(%8) <{f = "cast:bf16"}> : (tensor<1x4x6xf32>) -> tensor<1x4x6xbf16> loc("e")
    %10 = "tgn.elementwise"(%0) <{f = "sigmoid"}> : (tensor<1x4x6xf32>) -> tensor<1x4x6xf32> loc("s")
    %11 = "tgn.elementwise"(%10) <{f = "cast:bf16"}> : (tensor<1x4x6xf32>) -> tensor<1x4x6xbf16> loc("s")
    %12 = "tgn.concat"(%8, %10) <{axis = 1}> : (tensor<1x4x6xf32>, tensor<1x4x6xf32>) -> tensor<1x8x6xf32> loc("c")
    %13 = "tgn.concat"(%9, %11) <{axis = 1}> : (tensor<1x4x6xbf16>, tensor<1x4x6xbf16>) -> tensor<1x8x6xbf16> loc("c")
    %4 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 0}> : () -> tensor<f32>
    %14 = "tgn.splat"() <{dtype = "bf16", shape = [], bits = 0}> : () -> tensor<bf16> loc("p")
    %15 = "tgn.pad"(%12, %4) <{low = [0, 0, 4], high = [0, 0, 4], mode = "constant"}> : (tensor<1x8x6xf32>, tensor<f32>) -> tensor<1x8x14xf32> loc("p")
    %16 = "tgn.pad"(%13, %14) <{low = [0, 0, 4], high = [0, 0, 4], mode = "constant"}> : (tensor<1x8x6xbf16>, tensor<bf16>) -> tensor<1x8x14xbf16> loc("p")
    %6 = "tgn.splat"() <{dtype = "f32", shape = [2, 8, 9], bits = 1036831949}> : () -> tensor<2x8x9xf32>
    %17 = "tgn.splat"() <{dtype = "bf16", shape = [2, 8, 9], bits = 15821}> : () -> tensor<2x8x9xbf16> loc("y")
    %18 = "tgn.conv"(%16, %17) <{window = {size = [9], strides = [1], dilations = [1], low = [0], high = [0]}, groups = 1, out = "f32"}> : (tensor<1x8x14xbf16>, tensor<2x8x9xbf16>) -> tensor<1x2x6xf32> loc("y")
    "tgn.return"(%18) : (tensor<1x2x6xf32>) -> ()
  }) : () -> ()
}) : () -> ()
