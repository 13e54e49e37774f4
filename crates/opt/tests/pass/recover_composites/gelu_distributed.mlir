// The half is multiplied out.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Mul_8"]}> ({
  ^bb0(%0: tensor<?x5xf32, {dims = ["b"]}>):
    %1 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1060439283}> : () -> tensor<1x1xf32> loc("Mul_1")
    %2 = "tgn.elementwise"(%0, %1) <{f = "mul"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<1x1xf32>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Mul_1")
    %3 = "tgn.elementwise"(%2) <{f = "erf"}> : (tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Erf_3")
    %4 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1056964608}> : () -> tensor<1x1xf32> loc("Mul_4")
    %5 = "tgn.elementwise"(%4, %3) <{f = "mul"}> : (tensor<1x1xf32>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Mul_4")
    %6 = "tgn.elementwise"(%4, %5) <{f = "add"}> : (tensor<1x1xf32>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Add_6")
    %7 = "tgn.elementwise"(%0, %6) <{f = "mul"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Mul_8")
    "tgn.return"(%7) : (tensor<?x5xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()
// -----
// Mul_8: x * (1 + erf(x / sqrt 2)) / 2, x * (1 + tanh(a x + b x^3)) / 2 => gelu(x)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Mul_8"]}> ({
  ^bb0(%0: tensor<?x5xf32, {dims = ["b"]}>):
    %8 = "tgn.gelu"(%0) <{tanh = false}> : (tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc(fused["Mul_8", "Mul_1", "Erf_3", "Mul_4", "Add_6"])
    "tgn.return"(%8) : (tensor<?x5xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()
