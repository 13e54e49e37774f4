// A cube of floats is products rounded about once; of halves, in f32. Other powers stay.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "h"], result_names = ["a", "b", "c"]}> ({
  ^bb0(%x: tensor<3x2xf32>, %h: tensor<3x2xf16>):
    %three = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1077936128}> : () -> tensor<1x1xf32>
    %half = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1056964608}> : () -> tensor<1x1xf32>
    %third = "tgn.splat"() <{dtype = "f16", shape = [1, 1], bits = 16896}> : () -> tensor<1x1xf16>
    %a = "tgn.elementwise"(%x, %three) <{f = "pow"}> : (tensor<3x2xf32>, tensor<1x1xf32>) -> tensor<3x2xf32> loc("a")
    %b = "tgn.elementwise"(%x, %half) <{f = "pow"}> : (tensor<3x2xf32>, tensor<1x1xf32>) -> tensor<3x2xf32> loc("b")
    %c = "tgn.elementwise"(%h, %third) <{f = "pow"}> : (tensor<3x2xf16>, tensor<1x1xf16>) -> tensor<3x2xf16> loc("c")
    "tgn.return"(%a, %b, %c) : (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf16>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// a: decomposed elementwise: the target takes its decomposition
// c: decomposed elementwise: the target takes its decomposition
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "h"], result_names = ["a", "b", "c"]}> ({
  ^bb0(%0: tensor<3x2xf32>, %1: tensor<3x2xf16>):
    %2 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1077936128}> : () -> tensor<1x1xf32>
    %3 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1056964608}> : () -> tensor<1x1xf32>
    %4 = "tgn.splat"() <{dtype = "f16", shape = [1, 1], bits = 16896}> : () -> tensor<1x1xf16>
    %8 = "tgn.elementwise"(%0, %0) <{f = "mul"}> : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("a")
    %9 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1820327936}> : () -> tensor<1x1xf32> loc("a")
    %10 = "tgn.elementwise"(%8, %9) <{f = "min"}> : (tensor<3x2xf32>, tensor<1x1xf32>) -> tensor<3x2xf32> loc("a")
    %11 = "tgn.elementwise"(%10) <{f = "neg"}> : (tensor<3x2xf32>) -> tensor<3x2xf32> loc("a")
    %12 = "tgn.elementwise"(%0, %0, %11) <{f = "fma"}> : (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("a")
    %13 = "tgn.elementwise"(%12, %0) <{f = "mul"}> : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("a")
    %14 = "tgn.elementwise"(%10, %0, %13) <{f = "fma"}> : (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("a")
    %6 = "tgn.elementwise"(%0, %3) <{f = "pow"}> : (tensor<3x2xf32>, tensor<1x1xf32>) -> tensor<3x2xf32> loc("b")
    %15 = "tgn.elementwise"(%1) <{f = "cast:f32"}> : (tensor<3x2xf16>) -> tensor<3x2xf32> loc("c")
    %16 = "tgn.elementwise"(%15, %15) <{f = "mul"}> : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("c")
    %17 = "tgn.elementwise"(%16, %15) <{f = "mul"}> : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32> loc("c")
    %18 = "tgn.elementwise"(%17) <{f = "cast:f16:wrap"}> : (tensor<3x2xf32>) -> tensor<3x2xf16> loc("c")
    "tgn.return"(%14, %6, %18) : (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf16>) -> ()
  }) : () -> ()
}) : () -> ()
