// torch: `approximate='tanh'`, the cube by products.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Mul_13"]}> ({
  ^bb0(%0: tensor<?x5xf32, {dims = ["b"]}>):
    %1 = "tgn.elementwise"(%0, %0) <{f = "mul"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Mul_1")
    %2 = "tgn.elementwise"(%1, %0) <{f = "mul"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Mul_2")
    %3 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1027024659}> : () -> tensor<1x1xf32> loc("Mul_3")
    %4 = "tgn.elementwise"(%2, %3) <{f = "mul"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<1x1xf32>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Mul_3")
    %5 = "tgn.elementwise"(%0, %4) <{f = "add"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Add_5")
    %6 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1061962282}> : () -> tensor<1x1xf32> loc("Mul_6")
    %7 = "tgn.elementwise"(%6, %5) <{f = "mul"}> : (tensor<1x1xf32>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Mul_6")
    %8 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1056964608}> : () -> tensor<1x1xf32> loc("Mul_8")
    %9 = "tgn.elementwise"(%8, %0) <{f = "mul"}> : (tensor<1x1xf32>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Mul_8")
    %10 = "tgn.elementwise"(%7) <{f = "tanh"}> : (tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Tanh_10")
    %11 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1065353216}> : () -> tensor<1x1xf32> loc("Add_11")
    %12 = "tgn.elementwise"(%10, %11) <{f = "add"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<1x1xf32>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Add_11")
    %13 = "tgn.elementwise"(%9, %12) <{f = "mul"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Mul_13")
    "tgn.return"(%13) : (tensor<?x5xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()
// -----
// Mul_13: x * (1 + erf(x / sqrt 2)) / 2, x * (1 + tanh(a x + b x^3)) / 2 => gelu(x)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Mul_13"]}> ({
  ^bb0(%0: tensor<?x5xf32, {dims = ["b"]}>):
    %14 = "tgn.gelu"(%0) <{tanh = true}> : (tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc(fused["Mul_13", "Mul_1", "Mul_2", "Mul_3", "Add_5", "Mul_6", "Tanh_10", "Add_11", "Mul_8"])
    "tgn.return"(%14) : (tensor<?x5xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()
