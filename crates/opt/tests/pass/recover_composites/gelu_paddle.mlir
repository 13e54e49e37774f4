// paddle2onnx and tf2onnx: the half comes first; the argument is a product itself.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "z"], result_names = ["Mul_9"]}> ({
  ^bb0(%0: tensor<?x5xf32, {dims = ["b"]}>, %1: tensor<?x5xf32, {dims = ["b"]}>):
    %2 = "tgn.elementwise"(%0, %1) <{f = "mul"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Mul_1")
    %3 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1056964608}> : () -> tensor<1x1xf32> loc("Mul_2")
    %4 = "tgn.elementwise"(%3, %2) <{f = "mul"}> : (tensor<1x1xf32>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Mul_2")
    %5 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1060439283}> : () -> tensor<1x1xf32> loc("Mul_4")
    %6 = "tgn.elementwise"(%2, %5) <{f = "mul"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<1x1xf32>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Mul_4")
    %7 = "tgn.elementwise"(%6) <{f = "erf"}> : (tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Erf_6")
    %8 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1065353216}> : () -> tensor<1x1xf32> loc("Add_7")
    %9 = "tgn.elementwise"(%8, %7) <{f = "add"}> : (tensor<1x1xf32>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Add_7")
    %10 = "tgn.elementwise"(%4, %9) <{f = "mul"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Mul_9")
    "tgn.return"(%10) : (tensor<?x5xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()
// -----
// Mul_9: x * (1 + erf(x / sqrt 2)) / 2, x * (1 + tanh(a x + b x^3)) / 2 => gelu(x)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "z"], result_names = ["Mul_9"]}> ({
  ^bb0(%0: tensor<?x5xf32, {dims = ["b"]}>, %1: tensor<?x5xf32, {dims = ["b"]}>):
    %2 = "tgn.elementwise"(%0, %1) <{f = "mul"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Mul_1")
    %11 = "tgn.gelu"(%2) <{tanh = false}> : (tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc(fused["Mul_9", "Mul_4", "Erf_6", "Add_7", "Mul_2"])
    "tgn.return"(%11) : (tensor<?x5xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()
