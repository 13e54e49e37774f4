// GPT-Neo in f16: the scores are computed from widened queries and keys.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v", "mask"], result_names = ["MatMul_11"]}> ({
  ^bb0(%0: tensor<?x2x?x4xf16, {dims = ["b", "l"]}>, %1: tensor<?x2x?x4xf16, {dims = ["b", "s"]}>, %2: tensor<?x2x?x4xf16, {dims = ["b", "s"]}>, %3: tensor<1x1x?x?xi1, {dims = ["l", "s"]}>):
    %4 = "tgn.elementwise"(%0) <{f = "cast:f32"}> : (tensor<?x2x?x4xf16, {dims = ["b", "l"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "l"]}> loc("Cast_1")
    %5 = "tgn.elementwise"(%1) <{f = "cast:f32"}> : (tensor<?x2x?x4xf16, {dims = ["b", "s"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "s"]}> loc("Cast_2")
    %6 = "tgn.transpose"(%5) <{perm = [0, 1, 3, 2]}> : (tensor<?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x2x4x?xf32, {dims = ["b", "s"]}> loc("Transpose_3")
    %7 = "tgn.dot"(%4, %6) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, tensor<?x2x4x?xf32, {dims = ["b", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("MatMul_4")
    %8 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 1056964608}> : () -> tensor<1x1x1x1xf32> loc("Mul_5")
    %9 = "tgn.elementwise"(%7, %8) <{f = "mul"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<1x1x1x1xf32>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Mul_5")
    %10 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 4286578688}> : () -> tensor<1x1x1x1xf32> loc("Where_8")
    %11 = "tgn.elementwise"(%3, %9, %10) <{f = "select"}> : (tensor<1x1x?x?xi1, {dims = ["l", "s"]}>, tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<1x1x1x1xf32>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Where_8")
    %12 = "tgn.softmax"(%11) <{axis = 3, log = false}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Softmax_9")
    %13 = "tgn.elementwise"(%12) <{f = "cast:f16"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>) -> tensor<?x2x?x?xf16, {dims = ["b", "l", "s"]}> loc("Cast_10")
    %14 = "tgn.dot"(%13, %2) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f16"}> : (tensor<?x2x?x?xf16, {dims = ["b", "l", "s"]}>, tensor<?x2x?x4xf16, {dims = ["b", "s"]}>) -> tensor<?x2x?x4xf16, {dims = ["b", "l"]}> loc("MatMul_11")
    "tgn.return"(%14) : (tensor<?x2x?x4xf16, {dims = ["b", "l"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 2}, s = {input = 1, axis = 2}}} : () -> ()
// -----
// MatMul_11: dot(softmax(dot(q, k) * scale + mask), v) => attention(q, k, v, mask)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v", "mask"], result_names = ["MatMul_11"]}> ({
  ^bb0(%0: tensor<?x2x?x4xf16, {dims = ["b", "l"]}>, %1: tensor<?x2x?x4xf16, {dims = ["b", "s"]}>, %2: tensor<?x2x?x4xf16, {dims = ["b", "s"]}>, %3: tensor<1x1x?x?xi1, {dims = ["l", "s"]}>):
    %15 = "tgn.splat"() <{dtype = "f16", shape = [1, 1, 1, 1], bits = 64512}> : () -> tensor<1x1x1x1xf16> loc("MatMul_11")
    %16 = "tgn.splat"() <{dtype = "f16", shape = [1, 1, 1, 1], bits = 0}> : () -> tensor<1x1x1x1xf16> loc("MatMul_11")
    %17 = "tgn.elementwise"(%3, %16, %15) <{f = "select"}> : (tensor<1x1x?x?xi1, {dims = ["l", "s"]}>, tensor<1x1x1x1xf16>, tensor<1x1x1x1xf16>) -> tensor<1x1x?x?xf16, {dims = ["l", "s"]}> loc("Where_8")
    %18 = "tgn.attention"(%0, %1, %2, %17) <{scale = 5.0e-1 : f64, causal = false, window = 0, softcap = 0.0e0 : f64}> : (tensor<?x2x?x4xf16, {dims = ["b", "l"]}>, tensor<?x2x?x4xf16, {dims = ["b", "s"]}>, tensor<?x2x?x4xf16, {dims = ["b", "s"]}>, tensor<1x1x?x?xf16, {dims = ["l", "s"]}>) -> tensor<?x2x?x4xf16, {dims = ["b", "l"]}> loc(fused[fused["MatMul_4", "MatMul_11"], "Cast_2", "Transpose_3", "Cast_1", "Mul_5", "Softmax_9", "Cast_10"])
    "tgn.return"(%18) : (tensor<?x2x?x4xf16, {dims = ["b", "l"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 2}, s = {input = 1, axis = 2}}} : () -> ()
