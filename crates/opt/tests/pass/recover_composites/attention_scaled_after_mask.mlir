// The scale comes behind the mask, which it scales, too.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v", "mask"], result_names = ["MatMul_7"]}> ({
  ^bb0(%0: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, %1: tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, %2: tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, %3: tensor<1x1x?x?xf32, {dims = ["l", "s"]}>):
    %4 = "tgn.transpose"(%1) <{perm = [0, 1, 3, 2]}> : (tensor<?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x2x4x?xf32, {dims = ["b", "s"]}> loc("Transpose_1")
    %5 = "tgn.dot"(%0, %4) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, tensor<?x2x4x?xf32, {dims = ["b", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("MatMul_2")
    %6 = "tgn.elementwise"(%5, %3) <{f = "add"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<1x1x?x?xf32, {dims = ["l", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Add_3")
    %7 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 1056964608}> : () -> tensor<1x1x1x1xf32> loc("Mul_4")
    %8 = "tgn.elementwise"(%6, %7) <{f = "mul"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<1x1x1x1xf32>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Mul_4")
    %9 = "tgn.softmax"(%8) <{axis = 3, log = false}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Softmax_6")
    %10 = "tgn.dot"(%9, %2) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "l"]}> loc("MatMul_7")
    "tgn.return"(%10) : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 2}, s = {input = 1, axis = 2}}} : () -> ()
// -----
// MatMul_7: dot(softmax(dot(q, k) * scale + mask), v) => attention(q, k, v, mask)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v", "mask"], result_names = ["MatMul_7"]}> ({
  ^bb0(%0: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, %1: tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, %2: tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, %3: tensor<1x1x?x?xf32, {dims = ["l", "s"]}>):
    %11 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 1056964608}> : () -> tensor<1x1x1x1xf32> loc("MatMul_7")
    %12 = "tgn.elementwise"(%3, %11) <{f = "mul"}> : (tensor<1x1x?x?xf32, {dims = ["l", "s"]}>, tensor<1x1x1x1xf32>) -> tensor<1x1x?x?xf32, {dims = ["l", "s"]}> loc("Mul_4")
    %13 = "tgn.attention"(%0, %1, %2, %12) <{scale = 5.0e-1 : f64, causal = false, window = 0, softcap = 0.0e0 : f64}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, tensor<1x1x?x?xf32, {dims = ["l", "s"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "l"]}> loc(fused[fused["MatMul_2", "MatMul_7"], "Transpose_1", "Add_3", "Softmax_6"])
    "tgn.return"(%13) : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 2}, s = {input = 1, axis = 2}}} : () -> ()
