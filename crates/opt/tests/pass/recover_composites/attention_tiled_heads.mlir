// Near: the list of heads is repeated, so that neighbours do not share; the copies stay.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v"], result_names = ["MatMul_10"]}> ({
  ^bb0(%0: tensor<?x4x?x4xf32, {dims = ["b", "l"]}>, %1: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, %2: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>):
    %3 = "tgn.reshape"(%1) <{shape = [1, "b", 1, 2, 1, "l", 1, 4]}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> tensor<1x?x1x2x1x?x1x4xf32, {dims = ["b", "l"]}> loc("Tile_2")
    %4 = "tgn.broadcast"(%3) <{shape = [1, "b", 2, 2, 1, "l", 1, 4]}> : (tensor<1x?x1x2x1x?x1x4xf32, {dims = ["b", "l"]}>) -> tensor<1x?x2x2x1x?x1x4xf32, {dims = ["b", "l"]}> loc("Tile_2")
    %5 = "tgn.reshape"(%4) <{shape = ["b", 4, "l", 4]}> : (tensor<1x?x2x2x1x?x1x4xf32, {dims = ["b", "l"]}>) -> tensor<?x4x?x4xf32, {dims = ["b", "l"]}> loc("Tile_2")
    %6 = "tgn.transpose"(%5) <{perm = [0, 1, 3, 2]}> : (tensor<?x4x?x4xf32, {dims = ["b", "l"]}>) -> tensor<?x4x4x?xf32, {dims = ["b", "l"]}> loc("Transpose_3")
    %7 = "tgn.dot"(%0, %6) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x4x?x4xf32, {dims = ["b", "l"]}>, tensor<?x4x4x?xf32, {dims = ["b", "l"]}>) -> tensor<?x4x?x?xf32, {dims = ["b", "l", "l"]}> loc("MatMul_4")
    %8 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 1056964608}> : () -> tensor<1x1x1x1xf32> loc("Mul_5")
    %9 = "tgn.elementwise"(%7, %8) <{f = "mul"}> : (tensor<?x4x?x?xf32, {dims = ["b", "l", "l"]}>, tensor<1x1x1x1xf32>) -> tensor<?x4x?x?xf32, {dims = ["b", "l", "l"]}> loc("Mul_5")
    %10 = "tgn.softmax"(%9) <{axis = 3, log = false}> : (tensor<?x4x?x?xf32, {dims = ["b", "l", "l"]}>) -> tensor<?x4x?x?xf32, {dims = ["b", "l", "l"]}> loc("Softmax_7")
    %11 = "tgn.reshape"(%2) <{shape = [1, "b", 1, 2, 1, "l", 1, 4]}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> tensor<1x?x1x2x1x?x1x4xf32, {dims = ["b", "l"]}> loc("Tile_9")
    %12 = "tgn.broadcast"(%11) <{shape = [1, "b", 2, 2, 1, "l", 1, 4]}> : (tensor<1x?x1x2x1x?x1x4xf32, {dims = ["b", "l"]}>) -> tensor<1x?x2x2x1x?x1x4xf32, {dims = ["b", "l"]}> loc("Tile_9")
    %13 = "tgn.reshape"(%12) <{shape = ["b", 4, "l", 4]}> : (tensor<1x?x2x2x1x?x1x4xf32, {dims = ["b", "l"]}>) -> tensor<?x4x?x4xf32, {dims = ["b", "l"]}> loc("Tile_9")
    %14 = "tgn.dot"(%10, %13) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<?x4x?x?xf32, {dims = ["b", "l", "l"]}>, tensor<?x4x?x4xf32, {dims = ["b", "l"]}>) -> tensor<?x4x?x4xf32, {dims = ["b", "l"]}> loc("MatMul_10")
    "tgn.return"(%14) : (tensor<?x4x?x4xf32, {dims = ["b", "l"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 2}}} : () -> ()
// -----
// MatMul_10: dot(softmax(dot(q, k) * scale + mask), v) => attention(q, k, v, mask)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v"], result_names = ["MatMul_10"]}> ({
  ^bb0(%0: tensor<?x4x?x4xf32, {dims = ["b", "l"]}>, %1: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>, %2: tensor<?x2x?x4xf32, {dims = ["b", "l"]}>):
    %3 = "tgn.reshape"(%1) <{shape = [1, "b", 1, 2, 1, "l", 1, 4]}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> tensor<1x?x1x2x1x?x1x4xf32, {dims = ["b", "l"]}> loc("Tile_2")
    %4 = "tgn.broadcast"(%3) <{shape = [1, "b", 2, 2, 1, "l", 1, 4]}> : (tensor<1x?x1x2x1x?x1x4xf32, {dims = ["b", "l"]}>) -> tensor<1x?x2x2x1x?x1x4xf32, {dims = ["b", "l"]}> loc("Tile_2")
    %5 = "tgn.reshape"(%4) <{shape = ["b", 4, "l", 4]}> : (tensor<1x?x2x2x1x?x1x4xf32, {dims = ["b", "l"]}>) -> tensor<?x4x?x4xf32, {dims = ["b", "l"]}> loc("Tile_2")
    %11 = "tgn.reshape"(%2) <{shape = [1, "b", 1, 2, 1, "l", 1, 4]}> : (tensor<?x2x?x4xf32, {dims = ["b", "l"]}>) -> tensor<1x?x1x2x1x?x1x4xf32, {dims = ["b", "l"]}> loc("Tile_9")
    %12 = "tgn.broadcast"(%11) <{shape = [1, "b", 2, 2, 1, "l", 1, 4]}> : (tensor<1x?x1x2x1x?x1x4xf32, {dims = ["b", "l"]}>) -> tensor<1x?x2x2x1x?x1x4xf32, {dims = ["b", "l"]}> loc("Tile_9")
    %13 = "tgn.reshape"(%12) <{shape = ["b", 4, "l", 4]}> : (tensor<1x?x2x2x1x?x1x4xf32, {dims = ["b", "l"]}>) -> tensor<?x4x?x4xf32, {dims = ["b", "l"]}> loc("Tile_9")
    %15 = "tgn.attention"(%0, %5, %13) <{scale = 5.0e-1 : f64, causal = false, window = 0, softcap = 0.0e0 : f64}> : (tensor<?x4x?x4xf32, {dims = ["b", "l"]}>, tensor<?x4x?x4xf32, {dims = ["b", "l"]}>, tensor<?x4x?x4xf32, {dims = ["b", "l"]}>) -> tensor<?x4x?x4xf32, {dims = ["b", "l"]}> loc(fused[fused["MatMul_4", "MatMul_10"], "Transpose_3", "Mul_5", "Softmax_7"])
    "tgn.return"(%15) : (tensor<?x4x?x4xf32, {dims = ["b", "l"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 2}}} : () -> ()
