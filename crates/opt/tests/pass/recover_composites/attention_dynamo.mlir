// dynamo: keys transposed with their leading axes joined, a boolean mask, a guard against rows without keys.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v", "mask"], result_names = ["MatMul_30"]}> ({
  ^bb0(%0: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, %1: tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, %2: tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, %3: tensor<?x1x?x?xi1, {dims = ["b", "l", "s"]}>):
    %4 = "tgn.reshape"(%1) <{shape = ["2*b", "s", 4]}> : (tensor<?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x?x4xf32, {dims = ["2*b", "s"]}> loc("Reshape_13")
    %5 = "tgn.transpose"(%4) <{perm = [0, 2, 1]}> : (tensor<?x?x4xf32, {dims = ["2*b", "s"]}>) -> tensor<?x4x?xf32, {dims = ["2*b", "s"]}> loc("Transpose_14")
    %6 = "tgn.reshape"(%5) <{shape = ["b", 2, 4, "s"]}> : (tensor<?x4x?xf32, {dims = ["2*b", "s"]}>) -> tensor<?x2x4x?xf32, {dims = ["b", "s"]}> loc("Reshape_16")
    %7 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 0}> : () -> tensor<1x1x1x1xf32> loc("Where_19")
    %8 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 4286578688}> : () -> tensor<1x1x1x1xf32> loc("Where_19")
    %9 = "tgn.elementwise"(%3, %7, %8) <{f = "select"}> : (tensor<?x1x?x?xi1, {dims = ["b", "l", "s"]}>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<?x1x?x?xf32, {dims = ["b", "l", "s"]}> loc("Where_19")
    %10 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 1060439283}> : () -> tensor<1x1x1x1xf32> loc("Mul_20")
    %11 = "tgn.elementwise"(%0, %10) <{f = "mul"}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, tensor<1x1x1x1xf32>) -> tensor<?x2x?x4xf32, {dims = ["b", "l"]}> loc("Mul_20")
    %12 = "tgn.elementwise"(%6, %10) <{f = "mul"}> : (tensor<?x2x4x?xf32, {dims = ["b", "s"]}>, tensor<1x1x1x1xf32>) -> tensor<?x2x4x?xf32, {dims = ["b", "s"]}> loc("Mul_22")
    %13 = "tgn.dot"(%11, %12) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, tensor<?x2x4x?xf32, {dims = ["b", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("MatMul_24")
    %14 = "tgn.elementwise"(%13, %9) <{f = "add"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<?x1x?x?xf32, {dims = ["b", "l", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Add_25")
    %15 = "tgn.softmax"(%14) <{axis = 3, log = false}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Softmax_26")
    %16 = "tgn.elementwise"(%15) <{f = "is_nan"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>) -> tensor<?x2x?x?xi1, {dims = ["b", "l", "s"]}> loc("IsNaN_27")
    %17 = "tgn.elementwise"(%16, %7, %15) <{f = "select"}> : (tensor<?x2x?x?xi1, {dims = ["b", "l", "s"]}>, tensor<1x1x1x1xf32>, tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Where_29")
    %18 = "tgn.dot"(%17, %2) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "l"]}> loc("MatMul_30")
    "tgn.return"(%18) : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 2}, s = {input = 1, axis = 2}}} : () -> ()
// -----
// MatMul_30: dot(softmax(dot(q, k) * scale + mask), v) => attention(q, k, v, mask)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v", "mask"], result_names = ["MatMul_30"]}> ({
  ^bb0(%0: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, %1: tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, %2: tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, %3: tensor<?x1x?x?xi1, {dims = ["b", "l", "s"]}>):
    %4 = "tgn.reshape"(%1) <{shape = ["2*b", "s", 4]}> : (tensor<?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x?x4xf32, {dims = ["2*b", "s"]}> loc("Reshape_13")
    %7 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 0}> : () -> tensor<1x1x1x1xf32> loc("Where_19")
    %8 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 4286578688}> : () -> tensor<1x1x1x1xf32> loc("Where_19")
    %9 = "tgn.elementwise"(%3, %7, %8) <{f = "select"}> : (tensor<?x1x?x?xi1, {dims = ["b", "l", "s"]}>, tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<?x1x?x?xf32, {dims = ["b", "l", "s"]}> loc("Where_19")
    %19 = "tgn.reshape"(%4) <{shape = ["b", 2, "s", 4]}> : (tensor<?x?x4xf32, {dims = ["2*b", "s"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "s"]}> loc("MatMul_24")
    %20 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 0}> : () -> tensor<1x1x1x1xf32> loc("MatMul_30")
    %21 = "tgn.elementwise"(%2, %20) <{f = "mul"}> : (tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, tensor<1x1x1x1xf32>) -> tensor<?x2x?x4xf32, {dims = ["b", "s"]}> loc("Mul_22")
    %22 = "tgn.reduce"(%21) <{f = "add", axes = [2]}> : (tensor<?x2x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x2x1x4xf32, {dims = ["b"]}> loc("Mul_22")
    %23 = "tgn.attention"(%0, %19, %2, %9) <{scale = 4.999999828857291e-1 : f64, causal = false, window = 0, softcap = 0.0e0 : f64}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, tensor<?x2x?x4xf32, {dims = ["b", "s"]}>, tensor<?x1x?x?xf32, {dims = ["b", "l", "s"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "l"]}> loc(fused[fused["MatMul_24", "MatMul_30"], "Transpose_14", "Reshape_16", "Mul_20", "Add_25", "Softmax_26"])
    %24 = "tgn.elementwise"(%23) <{f = "is_nan"}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> tensor<?x2x?x4xi1, {dims = ["b", "l"]}> loc("IsNaN_27")
    %25 = "tgn.elementwise"(%24, %22, %23) <{f = "select"}> : (tensor<?x2x?x4xi1, {dims = ["b", "l"]}>, tensor<?x2x1x4xf32, {dims = ["b"]}>, tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> tensor<?x2x?x4xf32, {dims = ["b", "l"]}> loc("Where_29")
    "tgn.return"(%25) : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 2}, s = {input = 1, axis = 2}}} : () -> ()
