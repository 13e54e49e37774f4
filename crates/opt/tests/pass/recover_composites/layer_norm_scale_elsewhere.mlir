// The scale lies across the rows: it stays outside.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Add_15"]}> ({
  ^bb0(%0: tensor<?x3x4xf32, {dims = ["b"]}>):
    %3 = "tgn.reduce"(%0) <{f = "add", axes = [2]}> : (tensor<?x3x4xf32, {dims = ["b"]}>) -> tensor<?x3x1xf32, {dims = ["b"]}> loc("ReduceMean_2")
    %4 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1048576000}> : () -> tensor<1x1x1xf32> loc("ReduceMean_2")
    %5 = "tgn.elementwise"(%3, %4) <{f = "mul"}> : (tensor<?x3x1xf32, {dims = ["b"]}>, tensor<1x1x1xf32>) -> tensor<?x3x1xf32, {dims = ["b"]}> loc("ReduceMean_2")
    %6 = "tgn.elementwise"(%0, %5) <{f = "sub"}> : (tensor<?x3x4xf32, {dims = ["b"]}>, tensor<?x3x1xf32, {dims = ["b"]}>) -> tensor<?x3x4xf32, {dims = ["b"]}> loc("Sub_3")
    %7 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1073741824}> : () -> tensor<1x1x1xf32> loc("Pow_4")
    %8 = "tgn.elementwise"(%6, %7) <{f = "pow"}> : (tensor<?x3x4xf32, {dims = ["b"]}>, tensor<1x1x1xf32>) -> tensor<?x3x4xf32, {dims = ["b"]}> loc("Pow_4")
    %9 = "tgn.reduce"(%8) <{f = "add", axes = [2]}> : (tensor<?x3x4xf32, {dims = ["b"]}>) -> tensor<?x3x1xf32, {dims = ["b"]}> loc("ReduceMean_7")
    %10 = "tgn.elementwise"(%9, %4) <{f = "mul"}> : (tensor<?x3x1xf32, {dims = ["b"]}>, tensor<1x1x1xf32>) -> tensor<?x3x1xf32, {dims = ["b"]}> loc("ReduceMean_7")
    %11 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 925353388}> : () -> tensor<1x1x1xf32> loc("Add_8")
    %12 = "tgn.elementwise"(%10, %11) <{f = "add"}> : (tensor<?x3x1xf32, {dims = ["b"]}>, tensor<1x1x1xf32>) -> tensor<?x3x1xf32, {dims = ["b"]}> loc("Add_8")
    %13 = "tgn.elementwise"(%12) <{f = "sqrt"}> : (tensor<?x3x1xf32, {dims = ["b"]}>) -> tensor<?x3x1xf32, {dims = ["b"]}> loc("Sqrt_10")
    %14 = "tgn.elementwise"(%6, %13) <{f = "div"}> : (tensor<?x3x4xf32, {dims = ["b"]}>, tensor<?x3x1xf32, {dims = ["b"]}>) -> tensor<?x3x4xf32, {dims = ["b"]}> loc("Div_11")
    %15 = "tgn.constant"() <{id = dense_resource<const2> : tensor<1x3x1xf32>, dtype = "f32", shape = [1, 3, 1]}> : () -> tensor<1x3x1xf32> loc("Mul_13")
    %16 = "tgn.elementwise"(%14, %15) <{f = "mul"}> : (tensor<?x3x4xf32, {dims = ["b"]}>, tensor<1x3x1xf32>) -> tensor<?x3x4xf32, {dims = ["b"]}> loc("Mul_13")
    %17 = "tgn.constant"() <{id = dense_resource<const3> : tensor<1x3x1xf32>, dtype = "f32", shape = [1, 3, 1]}> : () -> tensor<1x3x1xf32> loc("Add_15")
    %18 = "tgn.elementwise"(%16, %17) <{f = "add"}> : (tensor<?x3x4xf32, {dims = ["b"]}>, tensor<1x3x1xf32>) -> tensor<?x3x4xf32, {dims = ["b"]}> loc("Add_15")
    "tgn.return"(%18) : (tensor<?x3x4xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const2: "0x4000000014AE873F295C4FBF8FC2F5BC",
      const3: "0x40000000AE47613FE17A14BFAE47E1BD"
    }
  }
#-}
// -----
// Div_11: x / sqrt(mean(x^2) + eps) => rms_norm(x), layer_norm(y) where x is y - mean(y)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Add_15"]}> ({
  ^bb0(%0: tensor<?x3x4xf32, {dims = ["b"]}>):
    %17 = "tgn.splat"() <{dtype = "f32", shape = [4], bits = 1065353216}> : () -> tensor<4xf32> loc("Div_11")
    %18 = "tgn.layer_norm"(%0, %17) <{axis = 2, eps = 9.999999747378752e-6 : f64}> : (tensor<?x3x4xf32, {dims = ["b"]}>, tensor<4xf32>) -> tensor<?x3x4xf32, {dims = ["b"]}> loc(fused["Div_11", "Pow_4", "ReduceMean_7", "ReduceMean_2", "Add_8", "Sqrt_10", "Sub_3"])
    %13 = "tgn.constant"() <{id = dense_resource<const0> : tensor<1x3x1xf32>, dtype = "f32", shape = [1, 3, 1]}> : () -> tensor<1x3x1xf32> loc("Mul_13")
    %14 = "tgn.elementwise"(%18, %13) <{f = "mul"}> : (tensor<?x3x4xf32, {dims = ["b"]}>, tensor<1x3x1xf32>) -> tensor<?x3x4xf32, {dims = ["b"]}> loc("Mul_13")
    %15 = "tgn.constant"() <{id = dense_resource<const1> : tensor<1x3x1xf32>, dtype = "f32", shape = [1, 3, 1]}> : () -> tensor<1x3x1xf32> loc("Add_15")
    %16 = "tgn.elementwise"(%14, %15) <{f = "add"}> : (tensor<?x3x4xf32, {dims = ["b"]}>, tensor<1x3x1xf32>) -> tensor<?x3x4xf32, {dims = ["b"]}> loc("Add_15")
    "tgn.return"(%16) : (tensor<?x3x4xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x4000000014AE873F295C4FBF8FC2F5BC",
      const1: "0x40000000AE47613FE17A14BFAE47E1BD"
    }
  }
#-}
