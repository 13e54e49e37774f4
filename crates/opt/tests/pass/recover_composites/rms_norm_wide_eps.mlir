// The eps is repeated along an axis that x has once: the result is wider than a norm of x.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<1x8xf32>):
    %9 = "tgn.splat"() <{dtype = "f32", shape = [4, 1], bits = 925353388}> : () -> tensor<4x1xf32> loc("e")
    %2 = "tgn.elementwise"(%0, %0) <{f = "mul"}> : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32> loc("xx")
    %3 = "tgn.reduce"(%2) <{f = "add", axes = [1]}> : (tensor<1x8xf32>) -> tensor<1x1xf32> loc("m")
    %10 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1040187392}> : () -> tensor<1x1xf32> loc("m")
    %11 = "tgn.elementwise"(%3, %10) <{f = "mul"}> : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32> loc("m")
    %6 = "tgn.elementwise"(%11, %9) <{f = "add"}> : (tensor<1x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32> loc("me")
    %7 = "tgn.elementwise"(%6) <{f = "sqrt"}> : (tensor<4x1xf32>) -> tensor<4x1xf32> loc("s")
    %8 = "tgn.elementwise"(%0, %7) <{f = "div"}> : (tensor<1x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32> loc("y")
    "tgn.return"(%8) : (tensor<4x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// unchanged
// y: a rule does not apply: its result would have another shape
