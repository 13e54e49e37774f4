// Gemma 2: scores are bent before the mask.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v", "mask"], result_names = ["MatMul_12"]}> ({
  ^bb0(%0: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, %1: tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, %2: tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, %3: tensor<1x1x?x?xf32, {dims = ["l", "s"]}>):
    %4 = "tgn.transpose"(%1) <{perm = [0, 1, 3, 2]}> : (tensor<?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x2x4x?xf32, {dims = ["b", "s"]}> loc("Transpose_1")
    %5 = "tgn.dot"(%0, %4) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, tensor<?x2x4x?xf32, {dims = ["b", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("MatMul_2")
    %6 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 1048576000}> : () -> tensor<1x1x1x1xf32> loc("Mul_3")
    %7 = "tgn.elementwise"(%5, %6) <{f = "mul"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<1x1x1x1xf32>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Mul_3")
    %8 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 1112014848}> : () -> tensor<1x1x1x1xf32> loc("Div_5")
    %9 = "tgn.elementwise"(%7, %8) <{f = "div"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<1x1x1x1xf32>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Div_5")
    %10 = "tgn.elementwise"(%9) <{f = "tanh"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Tanh_7")
    %11 = "tgn.elementwise"(%10, %8) <{f = "mul"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<1x1x1x1xf32>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Mul_8")
    %12 = "tgn.elementwise"(%11, %3) <{f = "add"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<1x1x?x?xf32, {dims = ["l", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Add_10")
    %13 = "tgn.softmax"(%12) <{axis = 3, log = false}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Softmax_11")
    %14 = "tgn.dot"(%13, %2) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "l"]}> loc("MatMul_12")
    "tgn.return"(%14) : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 2}, s = {input = 1, axis = 2}}} : () -> ()
// -----
// MatMul_12: dot(softmax(dot(q, k) * scale + mask), v) => attention(q, k, v, mask)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v", "mask"], result_names = ["MatMul_12"]}> ({
  ^bb0(%0: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, %1: tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, %2: tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, %3: tensor<1x1x?x?xf32, {dims = ["l", "s"]}>):
    %15 = "tgn.attention"(%0, %1, %2, %3) <{scale = 2.5e-1 : f64, causal = false, window = 0, softcap = 5.0e1 : f64}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, tensor<1x1x?x?xf32, {dims = ["l", "s"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "l"]}> loc(fused[fused["MatMul_2", "MatMul_12"], "Transpose_1", "Mul_3", "Div_5", "Tanh_7", "Mul_8", "Add_10", "Softmax_11"])
    "tgn.return"(%15) : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 2}, s = {input = 1, axis = 2}}} : () -> ()
