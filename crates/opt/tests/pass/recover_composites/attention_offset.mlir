// A cache in front: more keys than rows, if the sizes say so at all.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v"], result_names = ["MatMul_33"]}> ({
  ^bb0(%0: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, %1: tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, %2: tensor<?x2x?x4xf32, {dims = ["b", "s"]}>):
    %3 = "tgn.sizes"() <{dims = ["-l + s"]}> : () -> tensor<1xi64> loc("Sub_7")
    %4 = "tgn.iota"() <{dtype = "i64", shape = ["l"], axis = 0}> : () -> tensor<?xi64, {dims = ["l"]}> loc("Range_12")
    %5 = "tgn.elementwise"(%4, %3) <{f = "add"}> : (tensor<?xi64, {dims = ["l"]}>, tensor<1xi64>) -> tensor<?xi64, {dims = ["l"]}> loc("Range_12")
    %6 = "tgn.reshape"(%5) <{shape = ["l", 1]}> : (tensor<?xi64, {dims = ["l"]}>) -> tensor<?x1xi64, {dims = ["l"]}> loc("Unsqueeze_14")
    %7 = "tgn.iota"() <{dtype = "i64", shape = ["s"], axis = 0}> : () -> tensor<?xi64, {dims = ["s"]}> loc("Range_20")
    %8 = "tgn.reshape"(%7) <{shape = [1, "s"]}> : (tensor<?xi64, {dims = ["s"]}>) -> tensor<1x?xi64, {dims = ["s"]}> loc("Unsqueeze_22")
    %9 = "tgn.elementwise"(%8, %6) <{f = "le"}> : (tensor<1x?xi64, {dims = ["s"]}>, tensor<?x1xi64, {dims = ["l"]}>) -> tensor<?x?xi1, {dims = ["l", "s"]}> loc("LessOrEqual_23")
    %10 = "tgn.reshape"(%9) <{shape = [1, 1, "l", "s"]}> : (tensor<?x?xi1, {dims = ["l", "s"]}>) -> tensor<1x1x?x?xi1, {dims = ["l", "s"]}> loc("Unsqueeze_25")
    %11 = "tgn.transpose"(%1) <{perm = [0, 1, 3, 2]}> : (tensor<?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x2x4x?xf32, {dims = ["b", "s"]}> loc("Transpose_26")
    %12 = "tgn.dot"(%0, %11) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, tensor<?x2x4x?xf32, {dims = ["b", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("MatMul_27")
    %13 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 1056964608}> : () -> tensor<1x1x1x1xf32> loc("Div_28")
    %14 = "tgn.elementwise"(%12, %13) <{f = "mul"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<1x1x1x1xf32>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Div_28")
    %15 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 4286578687}> : () -> tensor<1x1x1x1xf32> loc("Where_31")
    %16 = "tgn.elementwise"(%10, %14, %15) <{f = "select"}> : (tensor<1x1x?x?xi1, {dims = ["l", "s"]}>, tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<1x1x1x1xf32>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Where_31")
    %17 = "tgn.softmax"(%16) <{axis = 3, log = false}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Softmax_32")
    %18 = "tgn.dot"(%17, %2) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "l"]}> loc("MatMul_33")
    "tgn.return"(%18) : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 2}, s = {input = 1, axis = 2}}} : () -> ()
// -----
// MatMul_33: dot(softmax(dot(q, k) * scale + mask), v) => attention(q, k, v, mask)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v"], result_names = ["MatMul_33"]}> ({
  ^bb0(%0: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, %1: tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, %2: tensor<?x2x?x4xf32, {dims = ["b", "s"]}>):
    %3 = "tgn.sizes"() <{dims = ["-l + s"]}> : () -> tensor<1xi64> loc("Sub_7")
    %4 = "tgn.iota"() <{dtype = "i64", shape = ["l"], axis = 0}> : () -> tensor<?xi64, {dims = ["l"]}> loc("Range_12")
    %5 = "tgn.elementwise"(%4, %3) <{f = "add"}> : (tensor<?xi64, {dims = ["l"]}>, tensor<1xi64>) -> tensor<?xi64, {dims = ["l"]}> loc("Range_12")
    %6 = "tgn.reshape"(%5) <{shape = ["l", 1]}> : (tensor<?xi64, {dims = ["l"]}>) -> tensor<?x1xi64, {dims = ["l"]}> loc("Unsqueeze_14")
    %7 = "tgn.iota"() <{dtype = "i64", shape = ["s"], axis = 0}> : () -> tensor<?xi64, {dims = ["s"]}> loc("Range_20")
    %8 = "tgn.reshape"(%7) <{shape = [1, "s"]}> : (tensor<?xi64, {dims = ["s"]}>) -> tensor<1x?xi64, {dims = ["s"]}> loc("Unsqueeze_22")
    %9 = "tgn.elementwise"(%8, %6) <{f = "le"}> : (tensor<1x?xi64, {dims = ["s"]}>, tensor<?x1xi64, {dims = ["l"]}>) -> tensor<?x?xi1, {dims = ["l", "s"]}> loc("LessOrEqual_23")
    %10 = "tgn.reshape"(%9) <{shape = [1, 1, "l", "s"]}> : (tensor<?x?xi1, {dims = ["l", "s"]}>) -> tensor<1x1x?x?xi1, {dims = ["l", "s"]}> loc("Unsqueeze_25")
    %19 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 4286578687}> : () -> tensor<1x1x1x1xf32> loc("MatMul_33")
    %20 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 0}> : () -> tensor<1x1x1x1xf32> loc("MatMul_33")
    %21 = "tgn.elementwise"(%10, %20, %19) <{f = "select"}> : (tensor<1x1x?x?xi1, {dims = ["l", "s"]}>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x?x?xf32, {dims = ["l", "s"]}> loc("Where_31")
    %22 = "tgn.attention"(%0, %1, %2, %21) <{scale = 5.0e-1 : f64, causal = false, window = 0, softcap = 0.0e0 : f64}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, tensor<1x1x?x?xf32, {dims = ["l", "s"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "l"]}> loc(fused[fused["MatMul_27", "MatMul_33"], "Transpose_26", "Div_28", "Softmax_32"])
    "tgn.return"(%22) : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 2}, s = {input = 1, axis = 2}}} : () -> ()
