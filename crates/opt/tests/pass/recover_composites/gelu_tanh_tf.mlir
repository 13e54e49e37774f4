// tf2onnx: the cube by a power.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Mul_13"]}> ({
  ^bb0(%0: tensor<?x5xf32, {dims = ["b"]}>):
    %1 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1077936128}> : () -> tensor<1x1xf32> loc("Pow_1")
    %2 = "tgn.elementwise"(%0, %1) <{f = "pow"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<1x1xf32>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Pow_1")
    %3 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1027024659}> : () -> tensor<1x1xf32> loc("Mul_3")
    %4 = "tgn.elementwise"(%3, %2) <{f = "mul"}> : (tensor<1x1xf32>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Mul_3")
    %5 = "tgn.elementwise"(%0, %4) <{f = "add"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Add_5")
    %6 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1061962282}> : () -> tensor<1x1xf32> loc("Mul_6")
    %7 = "tgn.elementwise"(%6, %5) <{f = "mul"}> : (tensor<1x1xf32>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Mul_6")
    %8 = "tgn.elementwise"(%7) <{f = "tanh"}> : (tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Tanh_8")
    %9 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1065353216}> : () -> tensor<1x1xf32> loc("Add_9")
    %10 = "tgn.elementwise"(%9, %8) <{f = "add"}> : (tensor<1x1xf32>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Add_9")
    %11 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1056964608}> : () -> tensor<1x1xf32> loc("Mul_11")
    %12 = "tgn.elementwise"(%11, %10) <{f = "mul"}> : (tensor<1x1xf32>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Mul_11")
    %13 = "tgn.elementwise"(%12, %0) <{f = "mul"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Mul_13")
    "tgn.return"(%13) : (tensor<?x5xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()
// -----
// Mul_13: x * (1 + erf(x / sqrt 2)) / 2, x * (1 + tanh(a x + b x^3)) / 2 => gelu(x)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Mul_13"]}> ({
  ^bb0(%0: tensor<?x5xf32, {dims = ["b"]}>):
    %14 = "tgn.gelu"(%0) <{tanh = true}> : (tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc(fused["Mul_13", "Pow_1", "Mul_3", "Add_5", "Mul_6", "Tanh_8", "Add_9", "Mul_11"])
    "tgn.return"(%14) : (tensor<?x5xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()
