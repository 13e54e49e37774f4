// A chain of 16-bit floats is computed in f32 and rounded at its end; a comparison reads rounded values, and two casts of the
// model in a row round.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "y"], result_names = ["r", "c", "p"]}> ({
  ^bb0(%x: tensor<2x3xf16>, %y: tensor<2x3xf32>):
    %half = "tgn.splat"() <{dtype = "f16", shape = [1, 1], bits = 14336}> : () -> tensor<1x1xf16>
    %m = "tgn.elementwise"(%x, %half) <{f = "mul"}> : (tensor<2x3xf16>, tensor<1x1xf16>) -> tensor<2x3xf16> loc("m")
    %a = "tgn.elementwise"(%m, %x) <{f = "add"}> : (tensor<2x3xf16>, tensor<2x3xf16>) -> tensor<2x3xf16> loc("a")
    %r = "tgn.elementwise"(%a) <{f = "abs"}> : (tensor<2x3xf16>) -> tensor<2x3xf16> loc("r")
    %c = "tgn.elementwise"(%a, %x) <{f = "lt"}> : (tensor<2x3xf16>, tensor<2x3xf16>) -> tensor<2x3xi1> loc("c")
    %d = "tgn.elementwise"(%y) <{f = "cast:f16"}> : (tensor<2x3xf32>) -> tensor<2x3xf16> loc("d")
    %p = "tgn.elementwise"(%d) <{f = "cast:f32"}> : (tensor<2x3xf16>) -> tensor<2x3xf32> loc("p")
    "tgn.return"(%r, %c, %p) : (tensor<2x3xf16>, tensor<2x3xi1>, tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// a: fused add into mul "m"
// r: fused abs into mul "m"
// c: fused lt into mul "m"
// p: fused cast:f32 into cast:f16 "d"
// fused splat into mul "m"
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "y"], result_names = ["r", "c", "p"]}> ({
  ^bb0(%0: tensor<2x3xf16>, %1: tensor<2x3xf32>):
    %9, %10 = "tgn.kernel"(%0) <{class = "map"}> ({
    ^bb0(%11: tensor<2x3xf16>):
      %14 = "tgn.elementwise"(%11) <{f = "cast:f32"}> : (tensor<2x3xf16>) -> tensor<2x3xf32> loc("m")
      %15 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1056964608}> : () -> tensor<1x1xf32> loc("m")
      %16 = "tgn.elementwise"(%14, %15) <{f = "mul"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("m")
      %18 = "tgn.elementwise"(%16, %14) <{f = "add"}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> loc("a")
      %19 = "tgn.elementwise"(%18) <{f = "cast:f16"}> : (tensor<2x3xf32>) -> tensor<2x3xf16> loc("m")
      %20 = "tgn.elementwise"(%18) <{f = "abs"}> : (tensor<2x3xf32>) -> tensor<2x3xf32> loc("r")
      %21 = "tgn.elementwise"(%20) <{f = "cast:f16"}> : (tensor<2x3xf32>) -> tensor<2x3xf16> loc("m")
      %6 = "tgn.elementwise"(%19, %11) <{f = "lt"}> : (tensor<2x3xf16>, tensor<2x3xf16>) -> tensor<2x3xi1> loc("c")
      "tgn.yield"(%21, %6) : (tensor<2x3xf16>, tensor<2x3xi1>) -> ()
    }) : (tensor<2x3xf16>) -> (tensor<2x3xf16>, tensor<2x3xi1>) loc(fused["c", "m", "a", "r"])
    %12 = "tgn.kernel"(%1) <{class = "map"}> ({
    ^bb0(%13: tensor<2x3xf32>):
      %7 = "tgn.elementwise"(%13) <{f = "cast:f16"}> : (tensor<2x3xf32>) -> tensor<2x3xf16> loc("d")
      %8 = "tgn.elementwise"(%7) <{f = "cast:f32"}> : (tensor<2x3xf16>) -> tensor<2x3xf32> loc("p")
      "tgn.yield"(%8) : (tensor<2x3xf32>) -> ()
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32> loc(fused["p", "d"])
    "tgn.return"(%9, %10, %12) : (tensor<2x3xf16>, tensor<2x3xi1>, tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
