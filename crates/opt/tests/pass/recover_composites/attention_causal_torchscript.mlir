// torch.onnx.export with `is_causal`: ones, `Trilu`, equal to 0.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v"], result_names = ["MatMul_26"]}> ({
  ^bb0(%0: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, %1: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, %2: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>):
    %3 = "tgn.iota"() <{dtype = "i64", shape = ["l", 1], axis = 0}> : () -> tensor<?x1xi64, {dims = ["l"]}> loc("Trilu_12")
    %4 = "tgn.iota"() <{dtype = "i64", shape = [1, "l"], axis = 1}> : () -> tensor<1x?xi64, {dims = ["l"]}> loc("Trilu_12")
    %5 = "tgn.elementwise"(%4, %3) <{f = "sub"}> : (tensor<1x?xi64, {dims = ["l"]}>, tensor<?x1xi64, {dims = ["l"]}>) -> tensor<?x?xi64, {dims = ["l", "l"]}> loc("Trilu_12")
    %6 = "tgn.splat"() <{dtype = "i64", shape = [1, 1], bits = 0}> : () -> tensor<1x1xi64> loc("Trilu_12")
    %7 = "tgn.elementwise"(%5, %6) <{f = "le"}> : (tensor<?x?xi64, {dims = ["l", "l"]}>, tensor<1x1xi64>) -> tensor<?x?xi1, {dims = ["l", "l"]}> loc("Trilu_12")
    %8 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 0}> : () -> tensor<1x1xf32> loc("Trilu_12")
    %9 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1065353216}> : () -> tensor<1x1xf32> loc("Trilu_12")
    %10 = "tgn.elementwise"(%7, %9, %8) <{f = "select"}> : (tensor<?x?xi1, {dims = ["l", "l"]}>, tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<?x?xf32, {dims = ["l", "l"]}> loc("Trilu_12")
    %11 = "tgn.elementwise"(%10, %8) <{f = "eq"}> : (tensor<?x?xf32, {dims = ["l", "l"]}>, tensor<1x1xf32>) -> tensor<?x?xi1, {dims = ["l", "l"]}> loc("Equal_14")
    %12 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 4286578688}> : () -> tensor<1x1xf32> loc("Where_17")
    %13 = "tgn.elementwise"(%11, %12, %8) <{f = "select"}> : (tensor<?x?xi1, {dims = ["l", "l"]}>, tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<?x?xf32, {dims = ["l", "l"]}> loc("Where_17")
    %14 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 1060439283}> : () -> tensor<1x1x1x1xf32> loc("Mul_18")
    %15 = "tgn.elementwise"(%0, %14) <{f = "mul"}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, tensor<1x1x1x1xf32>) -> tensor<?x2x?x4xf32, {dims = ["b", "l"]}> loc("Mul_18")
    %16 = "tgn.elementwise"(%1, %14) <{f = "mul"}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, tensor<1x1x1x1xf32>) -> tensor<?x2x?x4xf32, {dims = ["b", "l"]}> loc("Mul_21")
    %17 = "tgn.transpose"(%16) <{perm = [0, 1, 3, 2]}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> tensor<?x2x4x?xf32, {dims = ["b", "l"]}> loc("Mul_21")
    %18 = "tgn.dot"(%15, %17) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, tensor<?x2x4x?xf32, {dims = ["b", "l"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "l"]}> loc("MatMul_23")
    %19 = "tgn.reshape"(%13) <{shape = [1, 1, "l", "l"]}> : (tensor<?x?xf32, {dims = ["l", "l"]}>) -> tensor<1x1x?x?xf32, {dims = ["l", "l"]}> loc("Add_24")
    %20 = "tgn.elementwise"(%18, %19) <{f = "add"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "l"]}>, tensor<1x1x?x?xf32, {dims = ["l", "l"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "l"]}> loc("Add_24")
    %21 = "tgn.softmax"(%20) <{axis = 3, log = false}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "l"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "l"]}> loc("Softmax_25")
    %22 = "tgn.dot"(%21, %2) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "l"]}>, tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "l"]}> loc("MatMul_26")
    "tgn.return"(%22) : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 2}}} : () -> ()
// -----
// MatMul_26: dot(softmax(dot(q, k) * scale + mask), v) => attention(q, k, v, mask)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v"], result_names = ["MatMul_26"]}> ({
  ^bb0(%0: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, %1: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, %2: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>):
    %23 = "tgn.attention"(%0, %1, %2) <{scale = 4.999999828857291e-1 : f64, causal = true, window = 0, softcap = 0.0e0 : f64}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "l"]}> loc(fused[fused["MatMul_23", "MatMul_26"], "Mul_21", "Mul_18", "Add_24", "Softmax_25"])
    "tgn.return"(%23) : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 2}}} : () -> ()
