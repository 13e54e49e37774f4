// layer_norm {axis = 2, eps = 1.0e-12} : f32[b,s,384] f32[384] f32[384]
"tgn.func"() <{sym_name = "layer_norm", arg_names = [], result_names = []}> ({
^bb0(%0: tensor<?x?x384xf32, {dims = ["b", "s"]}>, %1: tensor<384xf32>, %2: tensor<384xf32>):
  %4 = "tgn.reduce"(%0) <{f = "add", axes = [2]}> : (tensor<?x?x384xf32, {dims = ["b", "s"]}>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}>
  %5 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1136656384}> : () -> tensor<1x1x1xf32>
  %6 = "tgn.elementwise"(%4, %5) <{f = "div"}> : (tensor<?x?x1xf32, {dims = ["b", "s"]}>, tensor<1x1x1xf32>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}>
  %7 = "tgn.elementwise"(%0, %6) <{f = "sub"}> : (tensor<?x?x384xf32, {dims = ["b", "s"]}>, tensor<?x?x1xf32, {dims = ["b", "s"]}>) -> tensor<?x?x384xf32, {dims = ["b", "s"]}>
  %8 = "tgn.elementwise"(%7, %7) <{f = "mul"}> : (tensor<?x?x384xf32, {dims = ["b", "s"]}>, tensor<?x?x384xf32, {dims = ["b", "s"]}>) -> tensor<?x?x384xf32, {dims = ["b", "s"]}>
  %9 = "tgn.reduce"(%8) <{f = "add", axes = [2]}> : (tensor<?x?x384xf32, {dims = ["b", "s"]}>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}>
  %10 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1136656384}> : () -> tensor<1x1x1xf32>
  %11 = "tgn.elementwise"(%9, %10) <{f = "div"}> : (tensor<?x?x1xf32, {dims = ["b", "s"]}>, tensor<1x1x1xf32>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}>
  %12 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 730643660}> : () -> tensor<1x1x1xf32>
  %13 = "tgn.elementwise"(%11, %12) <{f = "add"}> : (tensor<?x?x1xf32, {dims = ["b", "s"]}>, tensor<1x1x1xf32>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}>
  %14 = "tgn.elementwise"(%13) <{f = "rsqrt"}> : (tensor<?x?x1xf32, {dims = ["b", "s"]}>) -> tensor<?x?x1xf32, {dims = ["b", "s"]}>
  %15 = "tgn.elementwise"(%7, %14) <{f = "mul"}> : (tensor<?x?x384xf32, {dims = ["b", "s"]}>, tensor<?x?x1xf32, {dims = ["b", "s"]}>) -> tensor<?x?x384xf32, {dims = ["b", "s"]}>
  %16 = "tgn.reshape"(%1) <{shape = [1, 1, 384]}> : (tensor<384xf32>) -> tensor<1x1x384xf32>
  %17 = "tgn.elementwise"(%15, %16) <{f = "mul"}> : (tensor<?x?x384xf32, {dims = ["b", "s"]}>, tensor<1x1x384xf32>) -> tensor<?x?x384xf32, {dims = ["b", "s"]}>
  %18 = "tgn.reshape"(%2) <{shape = [1, 1, 384]}> : (tensor<384xf32>) -> tensor<1x1x384xf32>
  %19 = "tgn.elementwise"(%17, %18) <{f = "add"}> : (tensor<?x?x384xf32, {dims = ["b", "s"]}>, tensor<1x1x384xf32>) -> tensor<?x?x384xf32, {dims = ["b", "s"]}>
  "tgn.return"(%19) : (tensor<?x?x384xf32, {dims = ["b", "s"]}>) -> ()
}) : () -> ()
