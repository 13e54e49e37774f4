// Near: another product reads the weights, too.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "z"], result_names = ["MatMul_4", "MatMul_5"]}> ({
  ^bb0(%0: tensor<?x4xf32, {dims = ["n"]}>, %1: tensor<?x4xf32, {dims = ["n"]}>):
    %2 = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x3xf32>, dtype = "f32", shape = [4, 3]}> : () -> tensor<4x3xf32> loc("c1")
    %4 = "tgn.constant"() <{id = dense_resource<const2> : tensor<1x4xf32>, dtype = "f32", shape = [1, 4]}> : () -> tensor<1x4xf32> loc("Mul_3")
    %5 = "tgn.elementwise"(%0, %4) <{f = "mul"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<1x4xf32>) -> tensor<?x4xf32, {dims = ["n"]}> loc("Mul_3")
    %6 = "tgn.dot"(%5, %2) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<4x3xf32>) -> tensor<?x3xf32, {dims = ["n"]}> loc("MatMul_4")
    %7 = "tgn.dot"(%1, %2) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<4x3xf32>) -> tensor<?x3xf32, {dims = ["n"]}> loc("MatMul_5")
    "tgn.return"(%6, %7) : (tensor<?x3xf32, {dims = ["n"]}>, tensor<?x3xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x40000000000000009A99993E713D8ABE0AD763BF6666E6BEA4707DBF8FC2753D1F85AB3F48E1FABE52B81EBF48E1FA3EEC51B83E",
      const2: "0x40000000AE47E13D7B146EBF8FC2F5BC3333333F"
    }
  }
#-}
// -----
// unchanged
