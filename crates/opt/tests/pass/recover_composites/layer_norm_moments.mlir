// Near: the variance as a difference of moments rounds otherwise.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Div_12"]}> ({
  ^bb0(%0: tensor<?x4xf32, {dims = ["b"]}>):
    %1 = "tgn.reduce"(%0) <{f = "add", axes = [1]}> : (tensor<?x4xf32, {dims = ["b"]}>) -> tensor<?x1xf32, {dims = ["b"]}> loc("ReduceMean_2")
    %2 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1048576000}> : () -> tensor<1x1xf32> loc("ReduceMean_2")
    %3 = "tgn.elementwise"(%1, %2) <{f = "mul"}> : (tensor<?x1xf32, {dims = ["b"]}>, tensor<1x1xf32>) -> tensor<?x1xf32, {dims = ["b"]}> loc("ReduceMean_2")
    %4 = "tgn.elementwise"(%0, %0) <{f = "mul"}> : (tensor<?x4xf32, {dims = ["b"]}>, tensor<?x4xf32, {dims = ["b"]}>) -> tensor<?x4xf32, {dims = ["b"]}> loc("Mul_3")
    %5 = "tgn.reduce"(%4) <{f = "add", axes = [1]}> : (tensor<?x4xf32, {dims = ["b"]}>) -> tensor<?x1xf32, {dims = ["b"]}> loc("ReduceMean_5")
    %6 = "tgn.elementwise"(%5, %2) <{f = "mul"}> : (tensor<?x1xf32, {dims = ["b"]}>, tensor<1x1xf32>) -> tensor<?x1xf32, {dims = ["b"]}> loc("ReduceMean_5")
    %7 = "tgn.elementwise"(%3, %3) <{f = "mul"}> : (tensor<?x1xf32, {dims = ["b"]}>, tensor<?x1xf32, {dims = ["b"]}>) -> tensor<?x1xf32, {dims = ["b"]}> loc("Mul_6")
    %8 = "tgn.elementwise"(%6, %7) <{f = "sub"}> : (tensor<?x1xf32, {dims = ["b"]}>, tensor<?x1xf32, {dims = ["b"]}>) -> tensor<?x1xf32, {dims = ["b"]}> loc("Sub_7")
    %9 = "tgn.elementwise"(%0, %3) <{f = "sub"}> : (tensor<?x4xf32, {dims = ["b"]}>, tensor<?x1xf32, {dims = ["b"]}>) -> tensor<?x4xf32, {dims = ["b"]}> loc("Sub_8")
    %10 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 925353388}> : () -> tensor<1x1xf32> loc("Add_9")
    %11 = "tgn.elementwise"(%8, %10) <{f = "add"}> : (tensor<?x1xf32, {dims = ["b"]}>, tensor<1x1xf32>) -> tensor<?x1xf32, {dims = ["b"]}> loc("Add_9")
    %12 = "tgn.elementwise"(%11) <{f = "sqrt"}> : (tensor<?x1xf32, {dims = ["b"]}>) -> tensor<?x1xf32, {dims = ["b"]}> loc("Sqrt_11")
    %13 = "tgn.elementwise"(%9, %12) <{f = "div"}> : (tensor<?x4xf32, {dims = ["b"]}>, tensor<?x1xf32, {dims = ["b"]}>) -> tensor<?x4xf32, {dims = ["b"]}> loc("Div_12")
    "tgn.return"(%13) : (tensor<?x4xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()
// -----
// unchanged
