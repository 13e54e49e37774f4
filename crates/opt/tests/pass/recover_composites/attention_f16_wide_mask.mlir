// Near: the mask has numbers that f16 has not.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v", "mask"], result_names = ["MatMul_7"]}> ({
  ^bb0(%0: tensor<?x2x?x4xf16, {dims = ["b", "l"]}>, %1: tensor<?x2x?x4xf16, {dims = ["b", "s"]}>, %2: tensor<?x2x?x4xf16, {dims = ["b", "s"]}>, %3: tensor<1x1x?x?xf32, {dims = ["l", "s"]}>):
    %4 = "tgn.transpose"(%1) <{perm = [0, 1, 3, 2]}> : (tensor<?x2x?x4xf16, {dims = ["b", "s"]}>) -> tensor<?x2x4x?xf16, {dims = ["b", "s"]}> loc("Transpose_1")
    %5 = "tgn.dot"(%0, %4) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f16"}> : (tensor<?x2x?x4xf16, {dims = ["b", "l"]}>, tensor<?x2x4x?xf16, {dims = ["b", "s"]}>) -> tensor<?x2x?x?xf16, {dims = ["b", "l", "s"]}> loc("MatMul_2")
    %6 = "tgn.elementwise"(%5) <{f = "cast:f32"}> : (tensor<?x2x?x?xf16, {dims = ["b", "l", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Cast_3")
    %7 = "tgn.elementwise"(%6, %3) <{f = "add"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<1x1x?x?xf32, {dims = ["l", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Add_4")
    %8 = "tgn.softmax"(%7) <{axis = 3, log = false}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>) -> tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}> loc("Softmax_5")
    %9 = "tgn.elementwise"(%8) <{f = "cast:f16"}> : (tensor<?x2x?x?xf32, {dims = ["b", "l", "s"]}>) -> tensor<?x2x?x?xf16, {dims = ["b", "l", "s"]}> loc("Cast_6")
    %10 = "tgn.dot"(%9, %2) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f16"}> : (tensor<?x2x?x?xf16, {dims = ["b", "l", "s"]}>, tensor<?x2x?x4xf16, {dims = ["b", "s"]}>) -> tensor<?x2x?x4xf16, {dims = ["b", "l"]}> loc("MatMul_7")
    "tgn.return"(%10) : (tensor<?x2x?x4xf16, {dims = ["b", "l"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, l = {input = 0, axis = 2}, s = {input = 1, axis = 2}}} : () -> ()
// -----
// unchanged
// MatMul_7: no attention: a mask has numbers that the queries' type has not
