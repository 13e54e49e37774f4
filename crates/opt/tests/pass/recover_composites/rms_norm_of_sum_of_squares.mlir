// Near: a sum of squares and not their mean.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Div_7"]}> ({
  ^bb0(%0: tensor<?x4xf32, {dims = ["b"]}>):
    %1 = "tgn.elementwise"(%0, %0) <{f = "mul"}> : (tensor<?x4xf32, {dims = ["b"]}>, tensor<?x4xf32, {dims = ["b"]}>) -> tensor<?x4xf32, {dims = ["b"]}> loc("Mul_1")
    %2 = "tgn.reduce"(%1) <{f = "add", axes = [1]}> : (tensor<?x4xf32, {dims = ["b"]}>) -> tensor<?x1xf32, {dims = ["b"]}> loc("ReduceSum_3")
    %3 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 897988541}> : () -> tensor<1x1xf32> loc("Add_4")
    %4 = "tgn.elementwise"(%2, %3) <{f = "add"}> : (tensor<?x1xf32, {dims = ["b"]}>, tensor<1x1xf32>) -> tensor<?x1xf32, {dims = ["b"]}> loc("Add_4")
    %5 = "tgn.elementwise"(%4) <{f = "sqrt"}> : (tensor<?x1xf32, {dims = ["b"]}>) -> tensor<?x1xf32, {dims = ["b"]}> loc("Sqrt_6")
    %6 = "tgn.elementwise"(%0, %5) <{f = "div"}> : (tensor<?x4xf32, {dims = ["b"]}>, tensor<?x1xf32, {dims = ["b"]}>) -> tensor<?x4xf32, {dims = ["b"]}> loc("Div_7")
    "tgn.return"(%6) : (tensor<?x4xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()
// -----
// unchanged
