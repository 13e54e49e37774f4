// Near: the mean is a result, too.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Div_11", "ReduceMean_2"]}> ({
  ^bb0(%0: tensor<?x4xf32, {dims = ["b"]}>):
    %1 = "tgn.reduce"(%0) <{f = "add", axes = [1]}> : (tensor<?x4xf32, {dims = ["b"]}>) -> tensor<?x1xf32, {dims = ["b"]}> loc("ReduceMean_2")
    %2 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1048576000}> : () -> tensor<1x1xf32> loc("ReduceMean_2")
    %3 = "tgn.elementwise"(%1, %2) <{f = "mul"}> : (tensor<?x1xf32, {dims = ["b"]}>, tensor<1x1xf32>) -> tensor<?x1xf32, {dims = ["b"]}> loc("ReduceMean_2")
    %4 = "tgn.elementwise"(%0, %3) <{f = "sub"}> : (tensor<?x4xf32, {dims = ["b"]}>, tensor<?x1xf32, {dims = ["b"]}>) -> tensor<?x4xf32, {dims = ["b"]}> loc("Sub_3")
    %5 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1073741824}> : () -> tensor<1x1xf32> loc("Pow_4")
    %6 = "tgn.elementwise"(%4, %5) <{f = "pow"}> : (tensor<?x4xf32, {dims = ["b"]}>, tensor<1x1xf32>) -> tensor<?x4xf32, {dims = ["b"]}> loc("Pow_4")
    %7 = "tgn.reduce"(%6) <{f = "add", axes = [1]}> : (tensor<?x4xf32, {dims = ["b"]}>) -> tensor<?x1xf32, {dims = ["b"]}> loc("ReduceMean_7")
    %8 = "tgn.elementwise"(%7, %2) <{f = "mul"}> : (tensor<?x1xf32, {dims = ["b"]}>, tensor<1x1xf32>) -> tensor<?x1xf32, {dims = ["b"]}> loc("ReduceMean_7")
    %9 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 925353388}> : () -> tensor<1x1xf32> loc("Add_8")
    %10 = "tgn.elementwise"(%8, %9) <{f = "add"}> : (tensor<?x1xf32, {dims = ["b"]}>, tensor<1x1xf32>) -> tensor<?x1xf32, {dims = ["b"]}> loc("Add_8")
    %11 = "tgn.elementwise"(%10) <{f = "sqrt"}> : (tensor<?x1xf32, {dims = ["b"]}>) -> tensor<?x1xf32, {dims = ["b"]}> loc("Sqrt_10")
    %12 = "tgn.elementwise"(%4, %11) <{f = "div"}> : (tensor<?x4xf32, {dims = ["b"]}>, tensor<?x1xf32, {dims = ["b"]}>) -> tensor<?x4xf32, {dims = ["b"]}> loc("Div_11")
    "tgn.return"(%12, %3) : (tensor<?x4xf32, {dims = ["b"]}>, tensor<?x1xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()
// -----
// unchanged
// Div_11: no normalisation: its mean or variance is read elsewhere, too
