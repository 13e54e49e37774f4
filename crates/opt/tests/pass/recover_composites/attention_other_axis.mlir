// Near: weights sum to 1 over the queries.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v"], result_names = ["MatMul_6"]}> ({
  ^bb0(%0: tensor<?x2x3x4xf32, {dims = ["b"]}>, %1: tensor<?x2x3x4xf32, {dims = ["b"]}>, %2: tensor<?x2x3x4xf32, {dims = ["b"]}>):
    %3 = "tgn.transpose"(%1) <{perm = [0, 1, 3, 2]}> : (tensor<?x2x3x4xf32, {dims = ["b"]}>) -> tensor<?x2x4x3xf32, {dims = ["b"]}> loc("Transpose_1")
    %4 = "tgn.dot"(%0, %3) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x2x3x4xf32, {dims = ["b"]}>, tensor<?x2x4x3xf32, {dims = ["b"]}>) -> tensor<?x2x3x3xf32, {dims = ["b"]}> loc("MatMul_2")
    %5 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 1056964608}> : () -> tensor<1x1x1x1xf32> loc("Mul_3")
    %6 = "tgn.elementwise"(%4, %5) <{f = "mul"}> : (tensor<?x2x3x3xf32, {dims = ["b"]}>, tensor<1x1x1x1xf32>) -> tensor<?x2x3x3xf32, {dims = ["b"]}> loc("Mul_3")
    %7 = "tgn.softmax"(%6) <{axis = 2, log = false}> : (tensor<?x2x3x3xf32, {dims = ["b"]}>) -> tensor<?x2x3x3xf32, {dims = ["b"]}> loc("Softmax_5")
    %8 = "tgn.dot"(%7, %2) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x2x3x3xf32, {dims = ["b"]}>, tensor<?x2x3x4xf32, {dims = ["b"]}>) -> tensor<?x2x3x4xf32, {dims = ["b"]}> loc("MatMul_6")
    "tgn.return"(%8) : (tensor<?x2x3x4xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()
// -----
// unchanged
