// Near: the scaled input is a result, too.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["MatMul_4", "Mul_2"]}> ({
  ^bb0(%0: tensor<?x4xf32, {dims = ["n"]}>):
    %2 = "tgn.constant"() <{id = dense_resource<const1> : tensor<4x3xf32>, dtype = "f32", shape = [4, 3]}> : () -> tensor<4x3xf32> loc("c3")
    %3 = "tgn.constant"() <{id = dense_resource<const2> : tensor<1x4xf32>, dtype = "f32", shape = [1, 4]}> : () -> tensor<1x4xf32> loc("Mul_2")
    %4 = "tgn.elementwise"(%0, %3) <{f = "mul"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<1x4xf32>) -> tensor<?x4xf32, {dims = ["n"]}> loc("Mul_2")
    %5 = "tgn.dot"(%4, %2) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<4x3xf32>) -> tensor<?x3xf32, {dims = ["n"]}> loc("MatMul_4")
    "tgn.return"(%5, %4) : (tensor<?x3xf32, {dims = ["n"]}>, tensor<?x4xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const1: "0x40000000713D0A3F7B142E3F9A99D93F85EB913F52B89E3E9A99993E713D4A3F713D0ABF0AD723BDC3F5683F48E1FA3F0AD723BE",
      const2: "0x400000000AD723BC5C8F423FD7A330C08FC2F5BD"
    }
  }
#-}
// -----
// unchanged
