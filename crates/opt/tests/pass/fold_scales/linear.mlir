// Scales and a bias before a product of matrices.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["MatMul_8"]}> ({
  ^bb0(%0: tensor<?x4xf32, {dims = ["n"]}>):
    %3 = "tgn.constant"() <{id = dense_resource<const2> : tensor<4x3xf32>, dtype = "f32", shape = [4, 3]}> : () -> tensor<4x3xf32> loc("c7")
    %4 = "tgn.constant"() <{id = dense_resource<const3> : tensor<1x4xf32>, dtype = "f32", shape = [1, 4]}> : () -> tensor<1x4xf32> loc("Mul_2")
    %5 = "tgn.elementwise"(%0, %4) <{f = "mul"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<1x4xf32>) -> tensor<?x4xf32, {dims = ["n"]}> loc("Mul_2")
    %6 = "tgn.constant"() <{id = dense_resource<const4> : tensor<1x4xf32>, dtype = "f32", shape = [1, 4]}> : () -> tensor<1x4xf32> loc("Add_4")
    %7 = "tgn.elementwise"(%5, %6) <{f = "add"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<1x4xf32>) -> tensor<?x4xf32, {dims = ["n"]}> loc("Add_4")
    %8 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1056964608}> : () -> tensor<1x1xf32> loc("Mul_5")
    %9 = "tgn.elementwise"(%7, %8) <{f = "mul"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<1x1xf32>) -> tensor<?x4xf32, {dims = ["n"]}> loc("Mul_5")
    %10 = "tgn.dot"(%9, %3) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<4x3xf32>) -> tensor<?x3xf32, {dims = ["n"]}> loc("MatMul_8")
    "tgn.return"(%10) : (tensor<?x3xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const2: "0x40000000E17A143F8FC275BD52B89E3E9A99D9BFA470BDBE9A9919BFF6285CBFD7A310C0C3F5A8BE6666663F5C8FC23E9A9919BF",
      const3: "0x4000000048E13A3FE17A143FC3F5883FCDCCCC3E",
      const4: "0x4000000052B89EBEEC51B83E000080BF85EBD1BF"
    }
  }
#-}
// -----
// MatMul_8: conv(x * c, w) => conv(x, w * c)
// MatMul_8: conv(x + b, w) => conv(x, w) + sum(w * b) without padding
// MatMul_8: conv(x * c, w) => conv(x, w * c)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["MatMul_8"]}> ({
  ^bb0(%0: tensor<?x4xf32, {dims = ["n"]}>):
    %1 = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x3xf32>, dtype = "f32", shape = [4, 3]}> : () -> tensor<4x3xf32> loc("c7")
    %2 = "tgn.constant"() <{id = dense_resource<const1> : tensor<1x4xf32>, dtype = "f32", shape = [1, 4]}> : () -> tensor<1x4xf32> loc("Mul_2")
    %4 = "tgn.constant"() <{id = dense_resource<const2> : tensor<1x4xf32>, dtype = "f32", shape = [1, 4]}> : () -> tensor<1x4xf32> loc("Add_4")
    %6 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1056964608}> : () -> tensor<1x1xf32> loc("Mul_5")
    %9 = "tgn.elementwise"(%1, %6) <{f = "mul"}> : (tensor<4x3xf32>, tensor<1x1xf32>) -> tensor<4x3xf32> loc("MatMul_8")
    %16 = "tgn.reshape"(%2) <{shape = [4, 1]}> : (tensor<1x4xf32>) -> tensor<4x1xf32> loc("MatMul_8")
    %17 = "tgn.elementwise"(%9, %16) <{f = "mul"}> : (tensor<4x3xf32>, tensor<4x1xf32>) -> tensor<4x3xf32> loc("MatMul_8")
    %18 = "tgn.dot"(%0, %17) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<4x3xf32>) -> tensor<?x3xf32, {dims = ["n"]}> loc(fused["MatMul_8", "Mul_5", "Mul_2"])
    %12 = "tgn.reshape"(%4) <{shape = [4, 1]}> : (tensor<1x4xf32>) -> tensor<4x1xf32> loc("MatMul_8")
    %13 = "tgn.elementwise"(%9, %12) <{f = "mul"}> : (tensor<4x3xf32>, tensor<4x1xf32>) -> tensor<4x3xf32> loc("MatMul_8")
    %14 = "tgn.reduce"(%13) <{f = "add", axes = [0]}> : (tensor<4x3xf32>) -> tensor<1x3xf32> loc("MatMul_8")
    %15 = "tgn.elementwise"(%18, %14) <{f = "add"}> : (tensor<?x3xf32, {dims = ["n"]}>, tensor<1x3xf32>) -> tensor<?x3xf32, {dims = ["n"]}> loc("Add_4")
    "tgn.return"(%15) : (tensor<?x3xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x40000000E17A143F8FC275BD52B89E3E9A99D9BFA470BDBE9A9919BFF6285CBFD7A310C0C3F5A8BE6666663F5C8FC23E9A9919BF",
      const1: "0x4000000048E13A3FE17A143FC3F5883FCDCCCC3E",
      const2: "0x4000000052B89EBEEC51B83E000080BF85EBD1BF"
    }
  }
#-}
