// Near: the weights are a result, too.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v"], result_names = ["MatMul_6", "Softmax_5"]}> ({
  ^bb0(%0: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, %1: tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, %2: tensor<?x2x?x4xf32, {dims = ["b", "s"]}>):
    %3 = "tgn.transpose"(%1) <{perm = [0, 1, 3, 2]}> : (tensor<?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x2x4x?xf32, {dims = ["b", "s"]}> loc("Transpose_1")
    %4 = "tgn.dot"(%0, %3) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, tensor<?x2x4x?xf32, {dims = ["b", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("MatMul_2")
    %5 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 1056964608}> : () -> tensor<1x1x1x1xf32> loc("Mul_3")
    %6 = "tgn.elementwise"(%4, %5) <{f = "mul"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<1x1x1x1xf32>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Mul_3")
    %7 = "tgn.softmax"(%6) <{axis = 3, log = false}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Softmax_5")
    %8 = "tgn.dot"(%7, %2) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "l"]}> loc("MatMul_6")
    "tgn.return"(%8, %7) : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 2}, s = {input = 1, axis = 2}}} : () -> ()
// -----
// unchanged
// MatMul_6: no attention: its weights are read elsewhere, too
