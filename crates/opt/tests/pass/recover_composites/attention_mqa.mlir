// All heads share one head of keys, by broadcasting.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v"], result_names = ["MatMul_6"]}> ({
  ^bb0(%0: tensor<?x4x?x4xf32, {dims = ["b", "l"]}>, %1: tensor<?x1x?x4xf32, {dims = ["b", "s"]}>, %2: tensor<?x1x?x4xf32, {dims = ["b", "s"]}>):
    %3 = "tgn.transpose"(%1) <{perm = [0, 1, 3, 2]}> : (tensor<?x1x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x1x4x?xf32, {dims = ["b", "s"]}> loc("Transpose_1")
    %4 = "tgn.broadcast"(%3) <{shape = ["b", 4, 4, "s"]}> : (tensor<?x1x4x?xf32, {dims = ["b", "s"]}>) -> tensor<?x4x4x?xf32, {dims = ["b", "s"]}> loc("MatMul_2")
    %5 = "tgn.dot"(%0, %4) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x4x?x4xf32, {dims = ["b", "l"]}>, tensor<?x4x4x?xf32, {dims = ["b", "s"]}>) -> tensor<?x4x?x?xf32, {dims = ["b", "l", "s"]}> loc("MatMul_2")
    %6 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 1056964608}> : () -> tensor<1x1x1x1xf32> loc("Mul_3")
    %7 = "tgn.elementwise"(%5, %6) <{f = "mul"}> : (tensor<?x4x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<1x1x1x1xf32>) -> tensor<?x4x?x?xf32, {dims = ["b", "l", "s"]}> loc("Mul_3")
    %8 = "tgn.softmax"(%7) <{axis = 3, log = false}> : (tensor<?x4x?x?xf32, {dims = ["b", "l", "s"]}>) -> tensor<?x4x?x?xf32, {dims = ["b", "l", "s"]}> loc("Softmax_5")
    %9 = "tgn.broadcast"(%2) <{shape = ["b", 4, "s", 4]}> : (tensor<?x1x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x4x?x4xf32, {dims = ["b", "s"]}> loc("MatMul_6")
    %10 = "tgn.dot"(%8, %9) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x4x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<?x4x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x4x?x4xf32, {dims = ["b", "l"]}> loc("MatMul_6")
    "tgn.return"(%10) : (tensor<?x4x?x4xf32, {dims = ["b", "l"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 2}, s = {input = 1, axis = 2}}} : () -> ()
// -----
// MatMul_6: dot(softmax(dot(q, k) * scale + mask), v) => attention(q, k, v, mask)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v"], result_names = ["MatMul_6"]}> ({
  ^bb0(%0: tensor<?x4x?x4xf32, {dims = ["b", "l"]}>, %1: tensor<?x1x?x4xf32, {dims = ["b", "s"]}>, %2: tensor<?x1x?x4xf32, {dims = ["b", "s"]}>):
    %12 = "tgn.attention"(%0, %1, %2) <{scale = 5.0e-1 : f64, causal = false, window = 0, softcap = 0.0e0 : f64}> : (tensor<?x4x?x4xf32, {dims = ["b", "l"]}>, tensor<?x1x?x4xf32, {dims = ["b", "s"]}>, tensor<?x1x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x4x?x4xf32, {dims = ["b", "l"]}> loc(fused[fused["MatMul_2", "MatMul_6"], "Transpose_1", "Mul_3", "Softmax_5"])
    "tgn.return"(%12) : (tensor<?x4x?x4xf32, {dims = ["b", "l"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 2}, s = {input = 1, axis = 2}}} : () -> ()
