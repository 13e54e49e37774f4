// Rows of any length: the divisor is a size.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Div_11"]}> ({
  ^bb0(%0: tensor<?x?xf32, {dims = ["b", "s"]}>):
    %1 = "tgn.reduce"(%0) <{f = "add", axes = [1]}> : (tensor<?x?xf32, {dims = ["b", "s"]}>) -> tensor<?x1xf32, {dims = ["b"]}> loc("ReduceMean_2")
    %2 = "tgn.sizes"() <{dims = ["s"]}> : () -> tensor<1xi64> loc("ReduceMean_2")
    %3 = "tgn.reshape"(%2) <{shape = [1, 1]}> : (tensor<1xi64>) -> tensor<1x1xi64> loc("ReduceMean_2")
    %4 = "tgn.elementwise"(%3) <{f = "cast:f32"}> : (tensor<1x1xi64>) -> tensor<1x1xf32> loc("ReduceMean_2")
    %5 = "tgn.elementwise"(%1, %4) <{f = "div"}> : (tensor<?x1xf32, {dims = ["b"]}>, tensor<1x1xf32>) -> tensor<?x1xf32, {dims = ["b"]}> loc("ReduceMean_2")
    %6 = "tgn.elementwise"(%0, %5) <{f = "sub"}> : (tensor<?x?xf32, {dims = ["b", "s"]}>, tensor<?x1xf32, {dims = ["b"]}>) -> tensor<?x?xf32, {dims = ["b", "s"]}> loc("Sub_3")
    %7 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1073741824}> : () -> tensor<1x1xf32> loc("Pow_4")
    %8 = "tgn.elementwise"(%6, %7) <{f = "pow"}> : (tensor<?x?xf32, {dims = ["b", "s"]}>, tensor<1x1xf32>) -> tensor<?x?xf32, {dims = ["b", "s"]}> loc("Pow_4")
    %9 = "tgn.reduce"(%8) <{f = "add", axes = [1]}> : (tensor<?x?xf32, {dims = ["b", "s"]}>) -> tensor<?x1xf32, {dims = ["b"]}> loc("ReduceMean_7")
    %10 = "tgn.elementwise"(%9, %4) <{f = "div"}> : (tensor<?x1xf32, {dims = ["b"]}>, tensor<1x1xf32>) -> tensor<?x1xf32, {dims = ["b"]}> loc("ReduceMean_7")
    %11 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 925353388}> : () -> tensor<1x1xf32> loc("Add_8")
    %12 = "tgn.elementwise"(%10, %11) <{f = "add"}> : (tensor<?x1xf32, {dims = ["b"]}>, tensor<1x1xf32>) -> tensor<?x1xf32, {dims = ["b"]}> loc("Add_8")
    %13 = "tgn.elementwise"(%12) <{f = "sqrt"}> : (tensor<?x1xf32, {dims = ["b"]}>) -> tensor<?x1xf32, {dims = ["b"]}> loc("Sqrt_10")
    %14 = "tgn.elementwise"(%6, %13) <{f = "div"}> : (tensor<?x?xf32, {dims = ["b", "s"]}>, tensor<?x1xf32, {dims = ["b"]}>) -> tensor<?x?xf32, {dims = ["b", "s"]}> loc("Div_11")
    "tgn.return"(%14) : (tensor<?x?xf32, {dims = ["b", "s"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, s = {input = 0, axis = 1}}} : () -> ()
// -----
// Div_11: x / sqrt(mean(x^2) + eps) => rms_norm(x), layer_norm(y) where x is y - mean(y)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Div_11"]}> ({
  ^bb0(%0: tensor<?x?xf32, {dims = ["b", "s"]}>):
    %15 = "tgn.splat"() <{dtype = "f32", shape = ["s"], bits = 1065353216}> : () -> tensor<?xf32, {dims = ["s"]}> loc("Div_11")
    %16 = "tgn.layer_norm"(%0, %15) <{axis = 1, eps = 9.999999747378752e-6 : f64}> : (tensor<?x?xf32, {dims = ["b", "s"]}>, tensor<?xf32, {dims = ["s"]}>) -> tensor<?x?xf32, {dims = ["b", "s"]}> loc(fused["Div_11", "Pow_4", "ReduceMean_7", "ReduceMean_2", "Add_8", "Sqrt_10", "Sub_3"])
    "tgn.return"(%16) : (tensor<?x?xf32, {dims = ["b", "s"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, s = {input = 0, axis = 1}}} : () -> ()
