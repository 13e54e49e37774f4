// Causality by indices and padding in one condition.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v", "pad"], result_names = ["MatMul_20"]}> ({
  ^bb0(%0: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, %1: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, %2: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, %3: tensor<?x?xi1, {dims = ["b", "l"]}>):
    %4 = "tgn.iota"() <{dtype = "i64", shape = ["l"], axis = 0}> : () -> tensor<?xi64, {dims = ["l"]}> loc("Range_6")
    %5 = "tgn.reshape"(%4) <{shape = [1, "l"]}> : (tensor<?xi64, {dims = ["l"]}>) -> tensor<1x?xi64, {dims = ["l"]}> loc("Unsqueeze_8")
    %6 = "tgn.reshape"(%4) <{shape = ["l", 1]}> : (tensor<?xi64, {dims = ["l"]}>) -> tensor<?x1xi64, {dims = ["l"]}> loc("Unsqueeze_10")
    %7 = "tgn.elementwise"(%5, %6) <{f = "le"}> : (tensor<1x?xi64, {dims = ["l"]}>, tensor<?x1xi64, {dims = ["l"]}>) -> tensor<?x?xi1, {dims = ["l", "l"]}> loc("LessOrEqual_11")
    %8 = "tgn.reshape"(%3) <{shape = ["b", 1, 1, "l"]}> : (tensor<?x?xi1, {dims = ["b", "l"]}>) -> tensor<?x1x1x?xi1, {dims = ["b", "l"]}> loc("Unsqueeze_13")
    %9 = "tgn.reshape"(%7) <{shape = [1, 1, "l", "l"]}> : (tensor<?x?xi1, {dims = ["l", "l"]}>) -> tensor<1x1x?x?xi1, {dims = ["l", "l"]}> loc("And_14")
    %10 = "tgn.elementwise"(%9, %8) <{f = "and"}> : (tensor<1x1x?x?xi1, {dims = ["l", "l"]}>, tensor<?x1x1x?xi1, {dims = ["b", "l"]}>) -> tensor<?x1x?x?xi1, {dims = ["b", "l", "l"]}> loc("And_14")
    %11 = "tgn.transpose"(%1) <{perm = [0, 1, 3, 2]}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> tensor<?x2x4x?xf32, {dims = ["b", "l"]}> loc("Transpose_15")
    %12 = "tgn.dot"(%0, %11) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, tensor<?x2x4x?xf32, {dims = ["b", "l"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "l"]}> loc("MatMul_16")
    %13 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 4286578688}> : () -> tensor<1x1x1x1xf32> loc("Where_18")
    %14 = "tgn.elementwise"(%10, %12, %13) <{f = "select"}> : (tensor<?x1x?x?xi1, {dims = ["b", "l", "l"]}>, tensor<?x2x?x?xf32, {dims = ["b", "l", "l"]}>, tensor<1x1x1x1xf32>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "l"]}> loc("Where_18")
    %15 = "tgn.softmax"(%14) <{axis = 3, log = false}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "l"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "l"]}> loc("Softmax_19")
    %16 = "tgn.dot"(%15, %2) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "l"]}>, tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "l"]}> loc("MatMul_20")
    "tgn.return"(%16) : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 2}}} : () -> ()
// -----
// MatMul_20: dot(softmax(dot(q, k) * scale + mask), v) => attention(q, k, v, mask)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v", "pad"], result_names = ["MatMul_20"]}> ({
  ^bb0(%0: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, %1: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, %2: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, %3: tensor<?x?xi1, {dims = ["b", "l"]}>):
    %8 = "tgn.reshape"(%3) <{shape = ["b", 1, 1, "l"]}> : (tensor<?x?xi1, {dims = ["b", "l"]}>) -> tensor<?x1x1x?xi1, {dims = ["b", "l"]}> loc("Unsqueeze_13")
    %17 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 4286578688}> : () -> tensor<1x1x1x1xf32> loc("MatMul_20")
    %18 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 0}> : () -> tensor<1x1x1x1xf32> loc("MatMul_20")
    %19 = "tgn.elementwise"(%8, %18, %17) <{f = "select"}> : (tensor<?x1x1x?xi1, {dims = ["b", "l"]}>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<?x1x1x?xf32, {dims = ["b", "l"]}> loc("Where_18")
    %20 = "tgn.attention"(%0, %1, %2, %19) <{scale = 1.0e0 : f64, causal = true, window = 0, softcap = 0.0e0 : f64}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, tensor<?x1x1x?xf32, {dims = ["b", "l"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "l"]}> loc(fused[fused["MatMul_16", "MatMul_20"], "Transpose_15", "And_14", "Softmax_19"])
    "tgn.return"(%20) : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 2}}} : () -> ()
