// Keras through tf2onnx: two Einsums.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v", "mask"], result_names = ["Einsum_6"]}> ({
  ^bb0(%0: tensor<?x?x2x4xf32, {dims = ["b", "l"]}>, %1: tensor<?x?x2x4xf32, {dims = ["b", "s"]}>, %2: tensor<?x?x2x4xf32, {dims = ["b", "s"]}>, %3: tensor<?x1x?x?xf32, {dims = ["b", "l", "s"]}>):
    %4 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 1056964608}> : () -> tensor<1x1x1x1xf32> loc("Mul_1")
    %5 = "tgn.elementwise"(%0, %4) <{f = "mul"}> : (tensor<?x?x2x4xf32, {dims = ["b", "l"]}>, tensor<1x1x1x1xf32>) -> tensor<?x?x2x4xf32, {dims = ["b", "l"]}> loc("Mul_1")
    %6 = "tgn.transpose"(%1) <{perm = [0, 2, 1, 3]}> : (tensor<?x?x2x4xf32, {dims = ["b", "s"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "s"]}> loc("Einsum_3")
    %7 = "tgn.transpose"(%5) <{perm = [0, 2, 3, 1]}> : (tensor<?x?x2x4xf32, {dims = ["b", "l"]}>) -> tensor<?x2x4x?xf32, {dims = ["b", "l"]}> loc("Einsum_3")
    %8 = "tgn.dot"(%6, %7) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, tensor<?x2x4x?xf32, {dims = ["b", "l"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "s", "l"]}> loc("Einsum_3")
    %9 = "tgn.transpose"(%8) <{perm = [0, 1, 3, 2]}> : (tensor<?x2x?x?xf32, {dims = ["b", "s", "l"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Einsum_3")
    %10 = "tgn.elementwise"(%9, %3) <{f = "add"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<?x1x?x?xf32, {dims = ["b", "l", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Add_4")
    %11 = "tgn.softmax"(%10) <{axis = 3, log = false}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Softmax_5")
    %12 = "tgn.transpose"(%2) <{perm = [0, 2, 1, 3]}> : (tensor<?x?x2x4xf32, {dims = ["b", "s"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "s"]}> loc("Einsum_6")
    %13 = "tgn.dot"(%11, %12) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "l"]}> loc("Einsum_6")
    %14 = "tgn.transpose"(%13) <{perm = [0, 2, 1, 3]}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> tensor<?x?x2x4xf32, {dims = ["b", "l"]}> loc("Einsum_6")
    "tgn.return"(%14) : (tensor<?x?x2x4xf32, {dims = ["b", "l"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 1}, s = {input = 1, axis = 1}}} : () -> ()
// -----
// Einsum_6: dot(softmax(dot(q, k) * scale + mask), v) => attention(q, k, v, mask)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v", "mask"], result_names = ["Einsum_6"]}> ({
  ^bb0(%0: tensor<?x?x2x4xf32, {dims = ["b", "l"]}>, %1: tensor<?x?x2x4xf32, {dims = ["b", "s"]}>, %2: tensor<?x?x2x4xf32, {dims = ["b", "s"]}>, %3: tensor<?x1x?x?xf32, {dims = ["b", "l", "s"]}>):
    %6 = "tgn.transpose"(%1) <{perm = [0, 2, 1, 3]}> : (tensor<?x?x2x4xf32, {dims = ["b", "s"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "s"]}> loc("Einsum_3")
    %12 = "tgn.transpose"(%2) <{perm = [0, 2, 1, 3]}> : (tensor<?x?x2x4xf32, {dims = ["b", "s"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "s"]}> loc("Einsum_6")
    %15 = "tgn.transpose"(%0) <{perm = [0, 2, 1, 3]}> : (tensor<?x?x2x4xf32, {dims = ["b", "l"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "l"]}> loc("Einsum_3")
    %16 = "tgn.attention"(%15, %6, %12, %3) <{scale = 5.0e-1 : f64, causal = false, window = 0, softcap = 0.0e0 : f64}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, tensor<?x1x?x?xf32, {dims = ["b", "l", "s"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "l"]}> loc(fused[fused["Einsum_3", "Einsum_6"], "Mul_1", "Add_4", "Softmax_5"])
    %14 = "tgn.transpose"(%16) <{perm = [0, 2, 1, 3]}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> tensor<?x?x2x4xf32, {dims = ["b", "l"]}> loc("Einsum_6")
    "tgn.return"(%14) : (tensor<?x?x2x4xf32, {dims = ["b", "l"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 1}, s = {input = 1, axis = 1}}} : () -> ()
