// Llama in f16: the softmax is computed in f32.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v"], result_names = ["MatMul_8"]}> ({
  ^bb0(%0: tensor<?x2x?x4xf16, {dims = ["b", "l"]}>, %1: tensor<?x2x?x4xf16, {dims = ["b", "s"]}>, %2: tensor<?x2x?x4xf16, {dims = ["b", "s"]}>):
    %3 = "tgn.transpose"(%1) <{perm = [0, 1, 3, 2]}> : (tensor<?x2x?x4xf16, {dims = ["b", "s"]}>) -> tensor<?x2x4x?xf16, {dims = ["b", "s"]}> loc("Transpose_1")
    %4 = "tgn.dot"(%0, %3) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f16"}> : (tensor<?x2x?x4xf16, {dims = ["b", "l"]}>, tensor<?x2x4x?xf16, {dims = ["b", "s"]}>) -> tensor<?x2x?x?xf16, {dims = ["b", "l", "s"]}> loc("MatMul_2")
    %5 = "tgn.splat"() <{dtype = "f16", shape = [1, 1, 1, 1], bits = 14336}> : () -> tensor<1x1x1x1xf16> loc("Mul_4")
    %6 = "tgn.elementwise"(%4, %5) <{f = "mul"}> : (tensor<?x2x?x?xf16, {dims = ["b", "l", "s"]}>, tensor<1x1x1x1xf16>) -> tensor<?x2x?x?xf16, {dims = ["b", "l", "s"]}> loc("Mul_4")
    %7 = "tgn.elementwise"(%6) <{f = "cast:f32"}> : (tensor<?x2x?x?xf16, {dims = ["b", "l", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Cast_5")
    %8 = "tgn.softmax"(%7) <{axis = 3, log = false}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Softmax_6")
    %9 = "tgn.elementwise"(%8) <{f = "cast:f16"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>) -> tensor<?x2x?x?xf16, {dims = ["b", "l", "s"]}> loc("Cast_7")
    %10 = "tgn.dot"(%9, %2) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f16"}> : (tensor<?x2x?x?xf16, {dims = ["b", "l", "s"]}>, tensor<?x2x?x4xf16, {dims = ["b", "s"]}>) -> tensor<?x2x?x4xf16, {dims = ["b", "l"]}> loc("MatMul_8")
    "tgn.return"(%10) : (tensor<?x2x?x4xf16, {dims = ["b", "l"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 2}, s = {input = 1, axis = 2}}} : () -> ()
// -----
// Cast_7: cast(composite(cast(x))) => composite(x)
// MatMul_8: dot(softmax(dot(q, k) * scale + mask), v) => attention(q, k, v, mask)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v"], result_names = ["MatMul_8"]}> ({
  ^bb0(%0: tensor<?x2x?x4xf16, {dims = ["b", "l"]}>, %1: tensor<?x2x?x4xf16, {dims = ["b", "s"]}>, %2: tensor<?x2x?x4xf16, {dims = ["b", "s"]}>):
    %12 = "tgn.attention"(%0, %1, %2) <{scale = 5.0e-1 : f64, causal = false, window = 0, softcap = 0.0e0 : f64}> : (tensor<?x2x?x4xf16, {dims = ["b", "l"]}>, tensor<?x2x?x4xf16, {dims = ["b", "s"]}>, tensor<?x2x?x4xf16, {dims = ["b", "s"]}>) -> tensor<?x2x?x4xf16, {dims = ["b", "l"]}> loc(fused[fused["MatMul_2", "MatMul_8"], "Transpose_1", "Mul_4", "Softmax_6", "Cast_5", "Cast_7"])
    "tgn.return"(%12) : (tensor<?x2x?x4xf16, {dims = ["b", "l"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 2}, s = {input = 1, axis = 2}}} : () -> ()
