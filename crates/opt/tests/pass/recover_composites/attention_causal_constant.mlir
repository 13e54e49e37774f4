// A causal mask that was folded to a constant.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v"], result_names = ["MatMul_8"]}> ({
  ^bb0(%0: tensor<?x2x3x4xf32, {dims = ["b"]}>, %1: tensor<?x2x3x4xf32, {dims = ["b"]}>, %2: tensor<?x2x3x4xf32, {dims = ["b"]}>):
    %3 = "tgn.constant"() <{id = dense_resource<const0> : tensor<1x1x3x3xf32>, dtype = "f32", shape = [1, 1, 3, 3]}> : () -> tensor<1x1x3x3xf32> loc("c5")
    %4 = "tgn.transpose"(%1) <{perm = [0, 1, 3, 2]}> : (tensor<?x2x3x4xf32, {dims = ["b"]}>) -> tensor<?x2x4x3xf32, {dims = ["b"]}> loc("Transpose_1")
    %5 = "tgn.dot"(%0, %4) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x2x3x4xf32, {dims = ["b"]}>, tensor<?x2x4x3xf32, {dims = ["b"]}>) -> tensor<?x2x3x3xf32, {dims = ["b"]}> loc("MatMul_2")
    %6 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 1056964608}> : () -> tensor<1x1x1x1xf32> loc("Mul_3")
    %7 = "tgn.elementwise"(%5, %6) <{f = "mul"}> : (tensor<?x2x3x3xf32, {dims = ["b"]}>, tensor<1x1x1x1xf32>) -> tensor<?x2x3x3xf32, {dims = ["b"]}> loc("Mul_3")
    %8 = "tgn.elementwise"(%7, %3) <{f = "add"}> : (tensor<?x2x3x3xf32, {dims = ["b"]}>, tensor<1x1x3x3xf32>) -> tensor<?x2x3x3xf32, {dims = ["b"]}> loc("Add_6")
    %9 = "tgn.softmax"(%8) <{axis = 3, log = false}> : (tensor<?x2x3x3xf32, {dims = ["b"]}>) -> tensor<?x2x3x3xf32, {dims = ["b"]}> loc("Softmax_7")
    %10 = "tgn.dot"(%9, %2) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x2x3x3xf32, {dims = ["b"]}>, tensor<?x2x3x4xf32, {dims = ["b"]}>) -> tensor<?x2x3x4xf32, {dims = ["b"]}> loc("MatMul_8")
    "tgn.return"(%10) : (tensor<?x2x3x4xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x4000000000000000000080FF000080FF0000000000000000000080FF000000000000000000000000"
    }
  }
#-}
// -----
// MatMul_8: dot(softmax(dot(q, k) * scale + mask), v) => attention(q, k, v, mask)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v"], result_names = ["MatMul_8"]}> ({
  ^bb0(%0: tensor<?x2x3x4xf32, {dims = ["b"]}>, %1: tensor<?x2x3x4xf32, {dims = ["b"]}>, %2: tensor<?x2x3x4xf32, {dims = ["b"]}>):
    %11 = "tgn.attention"(%0, %1, %2) <{scale = 5.0e-1 : f64, causal = true, window = 0, softcap = 0.0e0 : f64}> : (tensor<?x2x3x4xf32, {dims = ["b"]}>, tensor<?x2x3x4xf32, {dims = ["b"]}>, tensor<?x2x3x4xf32, {dims = ["b"]}>) -> tensor<?x2x3x4xf32, {dims = ["b"]}> loc(fused[fused["MatMul_2", "MatMul_8"], "Transpose_1", "Mul_3", "Add_6", "Softmax_7"])
    "tgn.return"(%11) : (tensor<?x2x3x4xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()
