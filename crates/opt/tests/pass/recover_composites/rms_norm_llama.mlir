// dynamo's Llama in f16: computed in f32, scaled behind the cast.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Mul_13"]}> ({
  ^bb0(%0: tensor<?x?x4xf16, {dims = ["b", "s"]}>):
    %2 = "tgn.elementwise"(%0) <{f = "cast:f32"}> : (tensor<?x?x4xf16, {dims = ["b", "s"]}>) -> tensor<?x?x4xf32, {dims = ["b", "s"]}> loc("Cast_1")
    %3 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1073741824}> : () -> tensor<1x1x1xf32> loc("Pow_2")
    %4 = "tgn.elementwise"(%2, %3) <{f = "pow"}> : (tensor<?x?x4xf32, {dims = ["b", "s"]}>, tensor<1x1x1xf32>) -> tensor<?x?x4xf32, {dims = ["b", "s"]}> loc("Pow_2")
    %5 = "tgn.reduce"(%4) <{f = "add", axes = [2]}> : (tensor<?x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}> loc("ReduceMean_5")
    %6 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1048576000}> : () -> tensor<1x1x1xf32> loc("ReduceMean_5")
    %7 = "tgn.elementwise"(%5, %6) <{f = "mul"}> : (tensor<?x?x1xf32, {dims = ["b", "s"]}>, tensor<1x1x1xf32>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}> loc("ReduceMean_5")
    %8 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 897988541}> : () -> tensor<1x1x1xf32> loc("Add_6")
    %9 = "tgn.elementwise"(%7, %8) <{f = "add"}> : (tensor<?x?x1xf32, {dims = ["b", "s"]}>, tensor<1x1x1xf32>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}> loc("Add_6")
    %10 = "tgn.elementwise"(%9) <{f = "sqrt"}> : (tensor<?x?x1xf32, {dims = ["b", "s"]}>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}> loc("Sqrt_8")
    %11 = "tgn.elementwise"(%10) <{f = "reciprocal"}> : (tensor<?x?x1xf32, {dims = ["b", "s"]}>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}> loc("Reciprocal_9")
    %12 = "tgn.elementwise"(%2, %11) <{f = "mul"}> : (tensor<?x?x4xf32, {dims = ["b", "s"]}>, tensor<?x?x1xf32, {dims = ["b", "s"]}>) -> tensor<?x?x4xf32, {dims = ["b", "s"]}> loc("Mul_10")
    %13 = "tgn.elementwise"(%12) <{f = "cast:f16"}> : (tensor<?x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x?x4xf16, {dims = ["b", "s"]}> loc("Cast_12")
    %14 = "tgn.constant"() <{id = dense_resource<const1> : tensor<1x1x4xf16>, dtype = "f16", shape = [1, 1, 4]}> : () -> tensor<1x1x4xf16> loc("Mul_13")
    %15 = "tgn.elementwise"(%14, %13) <{f = "mul"}> : (tensor<1x1x4xf16>, tensor<?x?x4xf16, {dims = ["b", "s"]}>) -> tensor<?x?x4xf16, {dims = ["b", "s"]}> loc("Mul_13")
    "tgn.return"(%15) : (tensor<?x?x4xf16, {dims = ["b", "s"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, s = {input = 0, axis = 1}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const1: "0x400000000A2FAE2BECBC1F2D"
    }
  }
#-}
// -----
// Mul_10: x / sqrt(mean(x^2) + eps) => rms_norm(x), layer_norm(y) where x is y - mean(y)
// Cast_12: cast(composite(cast(x))) => composite(x)
// Mul_13: norm(x, 1) * scale => norm(x, scale)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Mul_13"]}> ({
  ^bb0(%0: tensor<?x?x4xf16, {dims = ["b", "s"]}>):
    %13 = "tgn.constant"() <{id = dense_resource<const0> : tensor<1x1x4xf16>, dtype = "f16", shape = [1, 1, 4]}> : () -> tensor<1x1x4xf16> loc("Mul_13")
    %19 = "tgn.reshape"(%13) <{shape = [4]}> : (tensor<1x1x4xf16>) -> tensor<4xf16> loc("Mul_13")
    %20 = "tgn.rms_norm"(%0, %19) <{axis = 2, eps = 9.999999974752427e-7 : f64}> : (tensor<?x?x4xf16, {dims = ["b", "s"]}>, tensor<4xf16>) -> tensor<?x?x4xf16, {dims = ["b", "s"]}> loc(fused["Mul_10", "Pow_2", "ReduceMean_5", "Add_6", "Sqrt_8", "Reciprocal_9", "Cast_1", "Cast_12", "Mul_13"])
    "tgn.return"(%20) : (tensor<?x?x4xf16, {dims = ["b", "s"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, s = {input = 0, axis = 1}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x400000000A2FAE2BECBC1F2D"
    }
  }
#-}
