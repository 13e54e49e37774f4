// TorchScript's T5.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Mul_8"]}> ({
  ^bb0(%0: tensor<?x?x4xf32, {dims = ["b", "s"]}>):
    %2 = "tgn.elementwise"(%0, %0) <{f = "mul"}> : (tensor<?x?x4xf32, {dims = ["b", "s"]}>, tensor<?x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x?x4xf32, {dims = ["b", "s"]}> loc("Mul_1")
    %3 = "tgn.reduce"(%2) <{f = "add", axes = [2]}> : (tensor<?x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}> loc("ReduceMean_2")
    %4 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1048576000}> : () -> tensor<1x1x1xf32> loc("ReduceMean_2")
    %5 = "tgn.elementwise"(%3, %4) <{f = "mul"}> : (tensor<?x?x1xf32, {dims = ["b", "s"]}>, tensor<1x1x1xf32>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}> loc("ReduceMean_2")
    %6 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 897988541}> : () -> tensor<1x1x1xf32> loc("Add_3")
    %7 = "tgn.elementwise"(%5, %6) <{f = "add"}> : (tensor<?x?x1xf32, {dims = ["b", "s"]}>, tensor<1x1x1xf32>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}> loc("Add_3")
    %8 = "tgn.elementwise"(%7) <{f = "sqrt"}> : (tensor<?x?x1xf32, {dims = ["b", "s"]}>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}> loc("Sqrt_5")
    %9 = "tgn.elementwise"(%0, %8) <{f = "div"}> : (tensor<?x?x4xf32, {dims = ["b", "s"]}>, tensor<?x?x1xf32, {dims = ["b", "s"]}>) -> tensor<?x?x4xf32, {dims = ["b", "s"]}> loc("Div_6")
    %10 = "tgn.constant"() <{id = dense_resource<const1> : tensor<1x1x4xf32>, dtype = "f32", shape = [1, 1, 4]}> : () -> tensor<1x1x4xf32> loc("Mul_8")
    %11 = "tgn.elementwise"(%9, %10) <{f = "mul"}> : (tensor<?x?x4xf32, {dims = ["b", "s"]}>, tensor<1x1x4xf32>) -> tensor<?x?x4xf32, {dims = ["b", "s"]}> loc("Mul_8")
    "tgn.return"(%11) : (tensor<?x?x4xf32, {dims = ["b", "s"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, s = {input = 0, axis = 1}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const1: "0x400000007B14AE3F6666C6BFF6285C3F8FC2F53D"
    }
  }
#-}
// -----
// Div_6: x / sqrt(mean(x^2) + eps) => rms_norm(x), layer_norm(y) where x is y - mean(y)
// Mul_8: norm(x, 1) * scale => norm(x, scale)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Mul_8"]}> ({
  ^bb0(%0: tensor<?x?x4xf32, {dims = ["b", "s"]}>):
    %9 = "tgn.constant"() <{id = dense_resource<const0> : tensor<1x1x4xf32>, dtype = "f32", shape = [1, 1, 4]}> : () -> tensor<1x1x4xf32> loc("Mul_8")
    %13 = "tgn.reshape"(%9) <{shape = [4]}> : (tensor<1x1x4xf32>) -> tensor<4xf32> loc("Mul_8")
    %14 = "tgn.rms_norm"(%0, %13) <{axis = 2, eps = 9.999999974752427e-7 : f64}> : (tensor<?x?x4xf32, {dims = ["b", "s"]}>, tensor<4xf32>) -> tensor<?x?x4xf32, {dims = ["b", "s"]}> loc(fused["Div_6", "Mul_1", "ReduceMean_2", "Add_3", "Sqrt_5", "Mul_8"])
    "tgn.return"(%14) : (tensor<?x?x4xf32, {dims = ["b", "s"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, s = {input = 0, axis = 1}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x400000007B14AE3F6666C6BFF6285C3F8FC2F53D"
    }
  }
#-}
