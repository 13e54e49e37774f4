// torch before opset 17: differences are squared by a power and divided by a root.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Add_13"]}> ({
  ^bb0(%0: tensor<?x?x4xf32, {dims = ["b", "s"]}>):
    %3 = "tgn.reduce"(%0) <{f = "add", axes = [2]}> : (tensor<?x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}> loc("ReduceMean_1")
    %4 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1048576000}> : () -> tensor<1x1x1xf32> loc("ReduceMean_1")
    %5 = "tgn.elementwise"(%3, %4) <{f = "mul"}> : (tensor<?x?x1xf32, {dims = ["b", "s"]}>, tensor<1x1x1xf32>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}> loc("ReduceMean_1")
    %6 = "tgn.elementwise"(%0, %5) <{f = "sub"}> : (tensor<?x?x4xf32, {dims = ["b", "s"]}>, tensor<?x?x1xf32, {dims = ["b", "s"]}>) -> tensor<?x?x4xf32, {dims = ["b", "s"]}> loc("Sub_2")
    %7 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1073741824}> : () -> tensor<1x1x1xf32> loc("Pow_3")
    %8 = "tgn.elementwise"(%6, %7) <{f = "pow"}> : (tensor<?x?x4xf32, {dims = ["b", "s"]}>, tensor<1x1x1xf32>) -> tensor<?x?x4xf32, {dims = ["b", "s"]}> loc("Pow_3")
    %9 = "tgn.reduce"(%8) <{f = "add", axes = [2]}> : (tensor<?x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}> loc("ReduceMean_5")
    %10 = "tgn.elementwise"(%9, %4) <{f = "mul"}> : (tensor<?x?x1xf32, {dims = ["b", "s"]}>, tensor<1x1x1xf32>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}> loc("ReduceMean_5")
    %11 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 925353388}> : () -> tensor<1x1x1xf32> loc("Add_6")
    %12 = "tgn.elementwise"(%10, %11) <{f = "add"}> : (tensor<?x?x1xf32, {dims = ["b", "s"]}>, tensor<1x1x1xf32>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}> loc("Add_6")
    %13 = "tgn.elementwise"(%12) <{f = "sqrt"}> : (tensor<?x?x1xf32, {dims = ["b", "s"]}>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}> loc("Sqrt_8")
    %14 = "tgn.elementwise"(%6, %13) <{f = "div"}> : (tensor<?x?x4xf32, {dims = ["b", "s"]}>, tensor<?x?x1xf32, {dims = ["b", "s"]}>) -> tensor<?x?x4xf32, {dims = ["b", "s"]}> loc("Div_9")
    %15 = "tgn.constant"() <{id = dense_resource<const2> : tensor<1x1x4xf32>, dtype = "f32", shape = [1, 1, 4]}> : () -> tensor<1x1x4xf32> loc("Mul_11")
    %16 = "tgn.elementwise"(%14, %15) <{f = "mul"}> : (tensor<?x?x4xf32, {dims = ["b", "s"]}>, tensor<1x1x4xf32>) -> tensor<?x?x4xf32, {dims = ["b", "s"]}> loc("Mul_11")
    %17 = "tgn.constant"() <{id = dense_resource<const3> : tensor<1x1x4xf32>, dtype = "f32", shape = [1, 1, 4]}> : () -> tensor<1x1x4xf32> loc("Add_13")
    %18 = "tgn.elementwise"(%16, %17) <{f = "add"}> : (tensor<?x?x4xf32, {dims = ["b", "s"]}>, tensor<1x1x4xf32>) -> tensor<?x?x4xf32, {dims = ["b", "s"]}> loc("Add_13")
    "tgn.return"(%18) : (tensor<?x?x4xf32, {dims = ["b", "s"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, s = {input = 0, axis = 1}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const2: "0x40000000000000009A99993E713D8ABE0AD763BF",
      const3: "0x400000006666E6BEA4707DBF8FC2753D1F85AB3F"
    }
  }
#-}
// -----
// Div_9: x / sqrt(mean(x^2) + eps) => rms_norm(x), layer_norm(y) where x is y - mean(y)
// Mul_11: norm(x, 1) * scale => norm(x, scale)
// Add_13: layer_norm(x, scale) + bias => layer_norm(x, scale, bias)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Add_13"]}> ({
  ^bb0(%0: tensor<?x?x4xf32, {dims = ["b", "s"]}>):
    %13 = "tgn.constant"() <{id = dense_resource<const0> : tensor<1x1x4xf32>, dtype = "f32", shape = [1, 1, 4]}> : () -> tensor<1x1x4xf32> loc("Mul_11")
    %19 = "tgn.reshape"(%13) <{shape = [4]}> : (tensor<1x1x4xf32>) -> tensor<4xf32> loc("Mul_11")
    %15 = "tgn.constant"() <{id = dense_resource<const1> : tensor<1x1x4xf32>, dtype = "f32", shape = [1, 1, 4]}> : () -> tensor<1x1x4xf32> loc("Add_13")
    %21 = "tgn.reshape"(%15) <{shape = [4]}> : (tensor<1x1x4xf32>) -> tensor<4xf32> loc("Add_13")
    %22 = "tgn.layer_norm"(%0, %19, %21) <{axis = 2, eps = 9.999999747378752e-6 : f64}> : (tensor<?x?x4xf32, {dims = ["b", "s"]}>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32, {dims = ["b", "s"]}> loc(fused["Div_9", "Pow_3", "ReduceMean_5", "ReduceMean_1", "Add_6", "Sqrt_8", "Sub_2", "Mul_11", "Add_13"])
    "tgn.return"(%22) : (tensor<?x?x4xf32, {dims = ["b", "s"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, s = {input = 0, axis = 1}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x40000000000000009A99993E713D8ABE0AD763BF",
      const1: "0x400000006666E6BEA4707DBF8FC2753D1F85AB3F"
    }
  }
#-}
