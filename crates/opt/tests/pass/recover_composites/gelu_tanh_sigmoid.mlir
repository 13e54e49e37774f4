// jax: a sigmoid instead of the tangent.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Mul_9"]}> ({
  ^bb0(%0: tensor<?x5xf32, {dims = ["b"]}>):
    %1 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1077936128}> : () -> tensor<1x1xf32> loc("Pow_1")
    %2 = "tgn.elementwise"(%0, %1) <{f = "pow"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<1x1xf32>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Pow_1")
    %3 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1027024659}> : () -> tensor<1x1xf32> loc("Mul_3")
    %4 = "tgn.elementwise"(%3, %2) <{f = "mul"}> : (tensor<1x1xf32>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Mul_3")
    %5 = "tgn.elementwise"(%0, %4) <{f = "add"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Add_5")
    %6 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1070350890}> : () -> tensor<1x1xf32> loc("Mul_6")
    %7 = "tgn.elementwise"(%6, %5) <{f = "mul"}> : (tensor<1x1xf32>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Mul_6")
    %8 = "tgn.elementwise"(%7) <{f = "sigmoid"}> : (tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Sigmoid_8")
    %9 = "tgn.elementwise"(%0, %8) <{f = "mul"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Mul_9")
    "tgn.return"(%9) : (tensor<?x5xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()
// -----
// Mul_9: x * (1 + erf(x / sqrt 2)) / 2, x * (1 + tanh(a x + b x^3)) / 2 => gelu(x)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Mul_9"]}> ({
  ^bb0(%0: tensor<?x5xf32, {dims = ["b"]}>):
    %10 = "tgn.gelu"(%0) <{tanh = true}> : (tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc(fused["Mul_9", "Pow_1", "Mul_3", "Add_5", "Mul_6", "Sigmoid_8"])
    "tgn.return"(%10) : (tensor<?x5xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()
