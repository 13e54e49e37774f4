// tf2onnx: Keras normalises as `batch_normalization` does, without differences.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Add_15"]}> ({
  ^bb0(%0: tensor<?x?x4xf32, {dims = ["b", "s"]}>):
    %3 = "tgn.reduce"(%0) <{f = "add", axes = [2]}> : (tensor<?x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}> loc("ReduceMean_1")
    %4 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1048576000}> : () -> tensor<1x1x1xf32> loc("ReduceMean_1")
    %5 = "tgn.elementwise"(%3, %4) <{f = "mul"}> : (tensor<?x?x1xf32, {dims = ["b", "s"]}>, tensor<1x1x1xf32>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}> loc("ReduceMean_1")
    %6 = "tgn.elementwise"(%0, %5) <{f = "sub"}> : (tensor<?x?x4xf32, {dims = ["b", "s"]}>, tensor<?x?x1xf32, {dims = ["b", "s"]}>) -> tensor<?x?x4xf32, {dims = ["b", "s"]}> loc("Sub_2")
    %7 = "tgn.elementwise"(%6, %6) <{f = "mul"}> : (tensor<?x?x4xf32, {dims = ["b", "s"]}>, tensor<?x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x?x4xf32, {dims = ["b", "s"]}> loc("Mul_3")
    %8 = "tgn.reduce"(%7) <{f = "add", axes = [2]}> : (tensor<?x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}> loc("ReduceMean_4")
    %9 = "tgn.elementwise"(%8, %4) <{f = "mul"}> : (tensor<?x?x1xf32, {dims = ["b", "s"]}>, tensor<1x1x1xf32>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}> loc("ReduceMean_4")
    %10 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 981668463}> : () -> tensor<1x1x1xf32> loc("Add_5")
    %11 = "tgn.elementwise"(%9, %10) <{f = "add"}> : (tensor<?x?x1xf32, {dims = ["b", "s"]}>, tensor<1x1x1xf32>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}> loc("Add_5")
    %12 = "tgn.elementwise"(%11) <{f = "sqrt"}> : (tensor<?x?x1xf32, {dims = ["b", "s"]}>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}> loc("Sqrt_7")
    %13 = "tgn.elementwise"(%12) <{f = "reciprocal"}> : (tensor<?x?x1xf32, {dims = ["b", "s"]}>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}> loc("Reciprocal_8")
    %14 = "tgn.constant"() <{id = dense_resource<const2> : tensor<1x1x4xf32>, dtype = "f32", shape = [1, 1, 4]}> : () -> tensor<1x1x4xf32> loc("Mul_10")
    %15 = "tgn.elementwise"(%13, %14) <{f = "mul"}> : (tensor<?x?x1xf32, {dims = ["b", "s"]}>, tensor<1x1x4xf32>) -> tensor<?x?x4xf32, {dims = ["b", "s"]}> loc("Mul_10")
    %16 = "tgn.elementwise"(%0, %15) <{f = "mul"}> : (tensor<?x?x4xf32, {dims = ["b", "s"]}>, tensor<?x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x?x4xf32, {dims = ["b", "s"]}> loc("Mul_11")
    %17 = "tgn.elementwise"(%5, %15) <{f = "mul"}> : (tensor<?x?x1xf32, {dims = ["b", "s"]}>, tensor<?x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x?x4xf32, {dims = ["b", "s"]}> loc("Mul_13")
    %18 = "tgn.constant"() <{id = dense_resource<const3> : tensor<1x1x4xf32>, dtype = "f32", shape = [1, 1, 4]}> : () -> tensor<1x1x4xf32> loc("Sub_14")
    %19 = "tgn.elementwise"(%18, %17) <{f = "sub"}> : (tensor<1x1x4xf32>, tensor<?x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x?x4xf32, {dims = ["b", "s"]}> loc("Sub_14")
    %20 = "tgn.elementwise"(%16, %19) <{f = "add"}> : (tensor<?x?x4xf32, {dims = ["b", "s"]}>, tensor<?x?x4xf32, {dims = ["b", "s"]}>) -> tensor<?x?x4xf32, {dims = ["b", "s"]}> loc("Add_15")
    "tgn.return"(%20) : (tensor<?x?x4xf32, {dims = ["b", "s"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, s = {input = 0, axis = 1}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const2: "0x4000000048E1FABE52B81EBF48E1FA3EEC51B83E",
      const3: "0x40000000AE47E13D7B146EBF8FC2F5BC3333333F"
    }
  }
#-}
// -----
// Add_15: x * a + (b - mean(x) * a) => layer_norm(x) * scale + b
// Mul_3: norm(x, 1) * scale => norm(x, scale)
// Add_5: layer_norm(x, scale) + bias => layer_norm(x, scale, bias)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Add_15"]}> ({
  ^bb0(%0: tensor<?x?x4xf32, {dims = ["b", "s"]}>):
    %12 = "tgn.constant"() <{id = dense_resource<const0> : tensor<1x1x4xf32>, dtype = "f32", shape = [1, 1, 4]}> : () -> tensor<1x1x4xf32> loc("Mul_10")
    %16 = "tgn.constant"() <{id = dense_resource<const1> : tensor<1x1x4xf32>, dtype = "f32", shape = [1, 1, 4]}> : () -> tensor<1x1x4xf32> loc("Sub_14")
    %23 = "tgn.reshape"(%12) <{shape = [4]}> : (tensor<1x1x4xf32>) -> tensor<4xf32> loc("Mul_3")
    %25 = "tgn.reshape"(%16) <{shape = [4]}> : (tensor<1x1x4xf32>) -> tensor<4xf32> loc("Add_5")
    %26 = "tgn.layer_norm"(%0, %23, %25) <{axis = 2, eps = 1.0000000474974513e-3 : f64}> : (tensor<?x?x4xf32, {dims = ["b", "s"]}>, tensor<4xf32>, tensor<4xf32>) -> tensor<?x?x4xf32, {dims = ["b", "s"]}> loc(fused["Add_15", "Mul_3", "Add_5", "Sub_2", "ReduceMean_4", "ReduceMean_1", "Sqrt_7", "Reciprocal_8", "Mul_13", "Mul_10", "Sub_14", "Mul_11"])
    "tgn.return"(%26) : (tensor<?x?x4xf32, {dims = ["b", "s"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, s = {input = 0, axis = 1}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x4000000048E1FABE52B81EBF48E1FA3EEC51B83E",
      const1: "0x40000000AE47E13D7B146EBF8FC2F5BC3333333F"
    }
  }
#-}
