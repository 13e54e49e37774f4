// The root of 2 is repeated along an axis that x has once.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<1x8xf32>):
    %11 = "tgn.splat"() <{dtype = "f32", shape = [4, 1], bits = 1068827891}> : () -> tensor<4x1xf32> loc("r2")
    %4 = "tgn.elementwise"(%0, %11) <{f = "div"}> : (tensor<1x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32> loc("a")
    %5 = "tgn.elementwise"(%4) <{f = "erf"}> : (tensor<4x8xf32>) -> tensor<4x8xf32> loc("b")
    %14 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1065353216}> : () -> tensor<1x1xf32> loc("c")
    %7 = "tgn.elementwise"(%5, %14) <{f = "add"}> : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32> loc("c")
    %8 = "tgn.elementwise"(%0, %7) <{f = "mul"}> : (tensor<1x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> loc("d")
    %15 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1056964608}> : () -> tensor<1x1xf32> loc("y")
    %10 = "tgn.elementwise"(%8, %15) <{f = "mul"}> : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32> loc("y")
    "tgn.return"(%10) : (tensor<4x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// unchanged
// y: a rule does not apply: its result would have another shape
