// paddle2onnx, and any exporter to opsets before 13: the softmax's rows are counted in one axis.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["MatMul_24"]}> ({
  ^bb0(%0: tensor<?x?x24xf32, {dims = ["b", "s"]}>):
    %1 = "tgn.reshape"(%0) <{shape = ["b", "s", 3, 2, 4]}> : (tensor<?x?x24xf32, {dims = ["b", "s"]}>) -> tensor<?x?x3x2x4xf32, {dims = ["b", "s"]}> loc("Reshape_2")
    %2 = "tgn.transpose"(%1) <{perm = [2, 0, 3, 1, 4]}> : (tensor<?x?x3x2x4xf32, {dims = ["b", "s"]}>) -> tensor<3x?x2x?x4xf32, {dims = ["b", "s"]}> loc("Transpose_3")
    %3 = "tgn.slice"(%2) <{starts = [0, 0, 0, 0, 0], sizes = [1, "b", 2, "s", 4], steps = [1, 1, 1, 1, 1]}> : (tensor<3x?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<1x?x2x?x4xf32, {dims = ["b", "s"]}> loc("Slice_7")
    %4 = "tgn.reshape"(%3) <{shape = ["b", 2, "s", 4]}> : (tensor<1x?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "s"]}> loc("Squeeze_8")
    %5 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 1056964608}> : () -> tensor<1x1x1x1xf32> loc("Mul_9")
    %6 = "tgn.elementwise"(%4, %5) <{f = "mul"}> : (tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, tensor<1x1x1x1xf32>) -> tensor<?x2x?x4xf32, {dims = ["b", "s"]}> loc("Mul_9")
    %7 = "tgn.slice"(%2) <{starts = [1, 0, 0, 0, 0], sizes = [1, "b", 2, "s", 4], steps = [1, 1, 1, 1, 1]}> : (tensor<3x?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<1x?x2x?x4xf32, {dims = ["b", "s"]}> loc("Slice_14")
    %8 = "tgn.reshape"(%7) <{shape = ["b", 2, "s", 4]}> : (tensor<1x?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "s"]}> loc("Squeeze_15")
    %9 = "tgn.transpose"(%8) <{perm = [0, 1, 3, 2]}> : (tensor<?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x2x4x?xf32, {dims = ["b", "s"]}> loc("Transpose_16")
    %10 = "tgn.dot"(%6, %9) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, tensor<?x2x4x?xf32, {dims = ["b", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "s", "s"]}> loc("MatMul_17")
    %11 = "tgn.reshape"(%10) <{shape = ["2*b*s", "s"]}> : (tensor<?x2x?x?xf32, {dims = ["b", "s", "s"]}>) -> tensor<?x?xf32, {dims = ["2*b*s", "s"]}> loc("Softmax_18")
    %12 = "tgn.softmax"(%11) <{axis = 1, log = false}> : (tensor<?x?xf32, {dims = ["2*b*s", "s"]}>) -> tensor<?x?xf32, {dims = ["2*b*s", "s"]}> loc("Softmax_18")
    %13 = "tgn.reshape"(%12) <{shape = ["b", 2, "s", "s"]}> : (tensor<?x?xf32, {dims = ["2*b*s", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "s", "s"]}> loc("Softmax_18")
    %14 = "tgn.slice"(%2) <{starts = [2, 0, 0, 0, 0], sizes = [1, "b", 2, "s", 4], steps = [1, 1, 1, 1, 1]}> : (tensor<3x?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<1x?x2x?x4xf32, {dims = ["b", "s"]}> loc("Slice_22")
    %15 = "tgn.reshape"(%14) <{shape = ["b", 2, "s", 4]}> : (tensor<1x?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "s"]}> loc("Squeeze_23")
    %16 = "tgn.dot"(%13, %15) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x2x?x?xf32, {dims = ["b", "s", "s"]}>, tensor<?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "s"]}> loc("MatMul_24")
    "tgn.return"(%16) : (tensor<?x2x?x4xf32, {dims = ["b", "s"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, s = {input = 0, axis = 1}}} : () -> ()
// -----
// MatMul_24: dot(softmax(dot(q, k) * scale + mask), v) => attention(q, k, v, mask)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["MatMul_24"]}> ({
  ^bb0(%0: tensor<?x?x24xf32, {dims = ["b", "s"]}>):
    %1 = "tgn.reshape"(%0) <{shape = ["b", "s", 3, 2, 4]}> : (tensor<?x?x24xf32, {dims = ["b", "s"]}>) -> tensor<?x?x3x2x4xf32, {dims = ["b", "s"]}> loc("Reshape_2")
    %2 = "tgn.transpose"(%1) <{perm = [2, 0, 3, 1, 4]}> : (tensor<?x?x3x2x4xf32, {dims = ["b", "s"]}>) -> tensor<3x?x2x?x4xf32, {dims = ["b", "s"]}> loc("Transpose_3")
    %3 = "tgn.slice"(%2) <{starts = [0, 0, 0, 0, 0], sizes = [1, "b", 2, "s", 4], steps = [1, 1, 1, 1, 1]}> : (tensor<3x?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<1x?x2x?x4xf32, {dims = ["b", "s"]}> loc("Slice_7")
    %4 = "tgn.reshape"(%3) <{shape = ["b", 2, "s", 4]}> : (tensor<1x?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "s"]}> loc("Squeeze_8")
    %7 = "tgn.slice"(%2) <{starts = [1, 0, 0, 0, 0], sizes = [1, "b", 2, "s", 4], steps = [1, 1, 1, 1, 1]}> : (tensor<3x?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<1x?x2x?x4xf32, {dims = ["b", "s"]}> loc("Slice_14")
    %8 = "tgn.reshape"(%7) <{shape = ["b", 2, "s", 4]}> : (tensor<1x?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "s"]}> loc("Squeeze_15")
    %14 = "tgn.slice"(%2) <{starts = [2, 0, 0, 0, 0], sizes = [1, "b", 2, "s", 4], steps = [1, 1, 1, 1, 1]}> : (tensor<3x?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<1x?x2x?x4xf32, {dims = ["b", "s"]}> loc("Slice_22")
    %15 = "tgn.reshape"(%14) <{shape = ["b", 2, "s", 4]}> : (tensor<1x?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "s"]}> loc("Squeeze_23")
    %17 = "tgn.attention"(%4, %8, %15) <{scale = 5.0e-1 : f64, causal = false, window = 0, softcap = 0.0e0 : f64}> : (tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, tensor<?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "s"]}> loc(fused[fused["MatMul_17", "MatMul_24"], "Transpose_16", "Mul_9", "Softmax_18"])
    "tgn.return"(%17) : (tensor<?x2x?x4xf32, {dims = ["b", "s"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, s = {input = 0, axis = 1}}} : () -> ()
