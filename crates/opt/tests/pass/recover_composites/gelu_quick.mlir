// Near: CLIP's approximation is another function.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Mul_4"]}> ({
  ^bb0(%0: tensor<?x5xf32, {dims = ["b"]}>):
    %1 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1071242019}> : () -> tensor<1x1xf32> loc("Mul_1")
    %2 = "tgn.elementwise"(%0, %1) <{f = "mul"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<1x1xf32>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Mul_1")
    %3 = "tgn.elementwise"(%2) <{f = "sigmoid"}> : (tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Sigmoid_3")
    %4 = "tgn.elementwise"(%0, %3) <{f = "mul"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Mul_4")
    "tgn.return"(%4) : (tensor<?x5xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()
// -----
// unchanged
