// Two axes, a scale and no bias.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Mul_12"]}> ({
  ^bb0(%0: tensor<?x3x4xf32, {dims = ["b"]}>):
    %2 = "tgn.reduce"(%0) <{f = "add", axes = [1, 2]}> : (tensor<?x3x4xf32, {dims = ["b"]}>) -> tensor<?x1x1xf32, {dims = ["b"]}> loc("ReduceMean_2")
    %3 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1094713344}> : () -> tensor<1x1x1xf32> loc("ReduceMean_2")
    %4 = "tgn.elementwise"(%2, %3) <{f = "div"}> : (tensor<?x1x1xf32, {dims = ["b"]}>, tensor<1x1x1xf32>) -> tensor<?x1x1xf32, {dims = ["b"]}> loc("ReduceMean_2")
    %5 = "tgn.elementwise"(%0, %4) <{f = "sub"}> : (tensor<?x3x4xf32, {dims = ["b"]}>, tensor<?x1x1xf32, {dims = ["b"]}>) -> tensor<?x3x4xf32, {dims = ["b"]}> loc("Sub_3")
    %6 = "tgn.elementwise"(%5, %5) <{f = "mul"}> : (tensor<?x3x4xf32, {dims = ["b"]}>, tensor<?x3x4xf32, {dims = ["b"]}>) -> tensor<?x3x4xf32, {dims = ["b"]}> loc("Mul_4")
    %7 = "tgn.reduce"(%6) <{f = "add", axes = [1, 2]}> : (tensor<?x3x4xf32, {dims = ["b"]}>) -> tensor<?x1x1xf32, {dims = ["b"]}> loc("ReduceMean_6")
    %8 = "tgn.elementwise"(%7, %3) <{f = "div"}> : (tensor<?x1x1xf32, {dims = ["b"]}>, tensor<1x1x1xf32>) -> tensor<?x1x1xf32, {dims = ["b"]}> loc("ReduceMean_6")
    %9 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 925353388}> : () -> tensor<1x1x1xf32> loc("Add_7")
    %10 = "tgn.elementwise"(%8, %9) <{f = "add"}> : (tensor<?x1x1xf32, {dims = ["b"]}>, tensor<1x1x1xf32>) -> tensor<?x1x1xf32, {dims = ["b"]}> loc("Add_7")
    %11 = "tgn.elementwise"(%10) <{f = "sqrt"}> : (tensor<?x1x1xf32, {dims = ["b"]}>) -> tensor<?x1x1xf32, {dims = ["b"]}> loc("Sqrt_9")
    %12 = "tgn.elementwise"(%5, %11) <{f = "div"}> : (tensor<?x3x4xf32, {dims = ["b"]}>, tensor<?x1x1xf32, {dims = ["b"]}>) -> tensor<?x3x4xf32, {dims = ["b"]}> loc("Div_10")
    %13 = "tgn.constant"() <{id = dense_resource<const1> : tensor<1x3x4xf32>, dtype = "f32", shape = [1, 3, 4]}> : () -> tensor<1x3x4xf32> loc("Mul_12")
    %14 = "tgn.elementwise"(%13, %12) <{f = "mul"}> : (tensor<1x3x4xf32>, tensor<?x3x4xf32, {dims = ["b"]}>) -> tensor<?x3x4xf32, {dims = ["b"]}> loc("Mul_12")
    "tgn.return"(%14) : (tensor<?x3x4xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const1: "0x400000001F85ABBF1F85EBBE3333F3BFB81EA5BF1F85EBBF8FC275BE5C8FA2BF713D8A3E0AD7233E5C8F42BEAE4721C0713D0ABF"
    }
  }
#-}
// -----
// Div_10: x / sqrt(mean(x^2) + eps) => rms_norm(x), layer_norm(y) where x is y - mean(y)
// Mul_12: norm(x, 1) * scale => norm(x, scale)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Mul_12"]}> ({
  ^bb0(%0: tensor<?x3x4xf32, {dims = ["b"]}>):
    %12 = "tgn.constant"() <{id = dense_resource<const0> : tensor<1x3x4xf32>, dtype = "f32", shape = [1, 3, 4]}> : () -> tensor<1x3x4xf32> loc("Mul_12")
    %16 = "tgn.reshape"(%12) <{shape = [3, 4]}> : (tensor<1x3x4xf32>) -> tensor<3x4xf32> loc("Mul_12")
    %17 = "tgn.layer_norm"(%0, %16) <{axis = 1, eps = 9.999999747378752e-6 : f64}> : (tensor<?x3x4xf32, {dims = ["b"]}>, tensor<3x4xf32>) -> tensor<?x3x4xf32, {dims = ["b"]}> loc(fused["Div_10", "Mul_4", "ReduceMean_6", "ReduceMean_2", "Add_7", "Sqrt_9", "Sub_3", "Mul_12"])
    "tgn.return"(%17) : (tensor<?x3x4xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x400000001F85ABBF1F85EBBE3333F3BFB81EA5BF1F85EBBF8FC275BE5C8FA2BF713D8A3E0AD7233E5C8F42BEAE4721C0713D0ABF"
    }
  }
#-}
