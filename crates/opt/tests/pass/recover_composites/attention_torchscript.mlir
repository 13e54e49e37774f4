// torch.onnx.export, opset 14: the root of the scale is on queries and keys; the scale comes from the shape.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v", "mask"], result_names = ["MatMul_17"]}> ({
  ^bb0(%0: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, %1: tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, %2: tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, %3: tensor<?x1x?x?xf32, {dims = ["b", "l", "s"]}>):
    %4 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 1060439283}> : () -> tensor<1x1x1x1xf32> loc("Mul_11")
    %5 = "tgn.elementwise"(%0, %4) <{f = "mul"}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, tensor<1x1x1x1xf32>) -> tensor<?x2x?x4xf32, {dims = ["b", "l"]}> loc("Mul_11")
    %6 = "tgn.elementwise"(%1, %4) <{f = "mul"}> : (tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, tensor<1x1x1x1xf32>) -> tensor<?x2x?x4xf32, {dims = ["b", "s"]}> loc("Mul_13")
    %7 = "tgn.transpose"(%6) <{perm = [0, 1, 3, 2]}> : (tensor<?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x2x4x?xf32, {dims = ["b", "s"]}> loc("Mul_13")
    %8 = "tgn.dot"(%5, %7) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, tensor<?x2x4x?xf32, {dims = ["b", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("MatMul_14")
    %9 = "tgn.elementwise"(%8, %3) <{f = "add"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<?x1x?x?xf32, {dims = ["b", "l", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Add_15")
    %10 = "tgn.softmax"(%9) <{axis = 3, log = false}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Softmax_16")
    %11 = "tgn.dot"(%10, %2) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "l"]}> loc("MatMul_17")
    "tgn.return"(%11) : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 2}, s = {input = 1, axis = 2}}} : () -> ()
// -----
// MatMul_17: dot(softmax(dot(q, k) * scale + mask), v) => attention(q, k, v, mask)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v", "mask"], result_names = ["MatMul_17"]}> ({
  ^bb0(%0: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, %1: tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, %2: tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, %3: tensor<?x1x?x?xf32, {dims = ["b", "l", "s"]}>):
    %12 = "tgn.attention"(%0, %1, %2, %3) <{scale = 4.999999828857291e-1 : f64, causal = false, window = 0, softcap = 0.0e0 : f64}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, tensor<?x1x?x?xf32, {dims = ["b", "l", "s"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "l"]}> loc(fused[fused["MatMul_14", "MatMul_17"], "Mul_13", "Mul_11", "Add_15", "Softmax_16"])
    "tgn.return"(%12) : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 2}, s = {input = 1, axis = 2}}} : () -> ()
