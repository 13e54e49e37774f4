// Llama's `repeat_kv`: heads of keys are repeated one by one.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v"], result_names = ["MatMul_42"]}> ({
  ^bb0(%0: tensor<?x4x?x4xf32, {dims = ["b", "l"]}>, %1: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, %2: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>):
    %3 = "tgn.reshape"(%1) <{shape = ["b", 2, 1, "l", 4]}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> tensor<?x2x1x?x4xf32, {dims = ["b", "l"]}> loc("Unsqueeze_10")
    %4 = "tgn.broadcast"(%3) <{shape = ["b", 2, 2, "l", 4]}> : (tensor<?x2x1x?x4xf32, {dims = ["b", "l"]}>) -> tensor<?x2x2x?x4xf32, {dims = ["b", "l"]}> loc("Expand_14")
    %5 = "tgn.reshape"(%4) <{shape = ["b", 4, "l", 4]}> : (tensor<?x2x2x?x4xf32, {dims = ["b", "l"]}>) -> tensor<?x4x?x4xf32, {dims = ["b", "l"]}> loc("Reshape_18")
    %6 = "tgn.transpose"(%5) <{perm = [0, 1, 3, 2]}> : (tensor<?x4x?x4xf32, {dims = ["b", "l"]}>) -> tensor<?x4x4x?xf32, {dims = ["b", "l"]}> loc("Transpose_19")
    %7 = "tgn.dot"(%0, %6) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x4x?x4xf32, {dims = ["b", "l"]}>, tensor<?x4x4x?xf32, {dims = ["b", "l"]}>) -> tensor<?x4x?x?xf32, {dims = ["b", "l", "l"]}> loc("MatMul_20")
    %8 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 1056964608}> : () -> tensor<1x1x1x1xf32> loc("Mul_21")
    %9 = "tgn.elementwise"(%7, %8) <{f = "mul"}> : (tensor<?x4x?x?xf32, {dims = ["b", "l", "l"]}>, tensor<1x1x1x1xf32>) -> tensor<?x4x?x?xf32, {dims = ["b", "l", "l"]}> loc("Mul_21")
    %10 = "tgn.softmax"(%9) <{axis = 3, log = false}> : (tensor<?x4x?x?xf32, {dims = ["b", "l", "l"]}>) -> tensor<?x4x?x?xf32, {dims = ["b", "l", "l"]}> loc("Softmax_23")
    %11 = "tgn.reshape"(%2) <{shape = ["b", 2, 1, "l", 4]}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> tensor<?x2x1x?x4xf32, {dims = ["b", "l"]}> loc("Unsqueeze_33")
    %12 = "tgn.broadcast"(%11) <{shape = ["b", 2, 2, "l", 4]}> : (tensor<?x2x1x?x4xf32, {dims = ["b", "l"]}>) -> tensor<?x2x2x?x4xf32, {dims = ["b", "l"]}> loc("Expand_37")
    %13 = "tgn.reshape"(%12) <{shape = ["b", 4, "l", 4]}> : (tensor<?x2x2x?x4xf32, {dims = ["b", "l"]}>) -> tensor<?x4x?x4xf32, {dims = ["b", "l"]}> loc("Reshape_41")
    %14 = "tgn.dot"(%10, %13) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x4x?x?xf32, {dims = ["b", "l", "l"]}>, tensor<?x4x?x4xf32, {dims = ["b", "l"]}>) -> tensor<?x4x?x4xf32, {dims = ["b", "l"]}> loc("MatMul_42")
    "tgn.return"(%14) : (tensor<?x4x?x4xf32, {dims = ["b", "l"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 2}}} : () -> ()
// -----
// MatMul_42: dot(softmax(dot(q, k) * scale + mask), v) => attention(q, k, v, mask)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v"], result_names = ["MatMul_42"]}> ({
  ^bb0(%0: tensor<?x4x?x4xf32, {dims = ["b", "l"]}>, %1: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, %2: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>):
    %3 = "tgn.reshape"(%1) <{shape = ["b", 2, 1, "l", 4]}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> tensor<?x2x1x?x4xf32, {dims = ["b", "l"]}> loc("Unsqueeze_10")
    %11 = "tgn.reshape"(%2) <{shape = ["b", 2, 1, "l", 4]}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> tensor<?x2x1x?x4xf32, {dims = ["b", "l"]}> loc("Unsqueeze_33")
    %15 = "tgn.reshape"(%3) <{shape = ["b", 2, "l", 4]}> : (tensor<?x2x1x?x4xf32, {dims = ["b", "l"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "l"]}> loc("MatMul_20")
    %16 = "tgn.reshape"(%11) <{shape = ["b", 2, "l", 4]}> : (tensor<?x2x1x?x4xf32, {dims = ["b", "l"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "l"]}> loc("MatMul_42")
    %17 = "tgn.attention"(%0, %15, %16) <{scale = 5.0e-1 : f64, causal = false, window = 0, softcap = 0.0e0 : f64}> : (tensor<?x4x?x4xf32, {dims = ["b", "l"]}>, tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> tensor<?x4x?x4xf32, {dims = ["b", "l"]}> loc(fused[fused["MatMul_20", "MatMul_42"], "Expand_14", "Reshape_18", "Transpose_19", "Expand_37", "Mul_21", "Reshape_41", "Softmax_23"])
    "tgn.return"(%17) : (tensor<?x4x?x4xf32, {dims = ["b", "l"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 2}}} : () -> ()
