// attention {scale = 0.125, causal = true, window = 0, softcap = 0.0} : f32[b,8,l,64] f32[b,2,s,64] f32[b,2,s,64] f32[b,1,1,s]
"tgn.func"() <{sym_name = "attention", arg_names = [], result_names = []}> ({
^bb0(%0: tensor<?x8x?x64xf32, {dims = ["b", "l"]}>, %1: tensor<?x2x?x64xf32, {dims = ["b", "s"]}>, %2: tensor<?x2x?x64xf32, {dims = ["b", "s"]}>, %3: tensor<?x1x1x?xf32, {dims = ["b", "s"]}>):
  %5 = "tgn.reshape"(%0) <{shape = ["b", 2, 4, "l", 64]}> : (tensor<?x8x?x64xf32, {dims = ["b", "l"]}>) -> tensor<?x2x4x?x64xf32, {dims = ["b", "l"]}>
  %6 = "tgn.dot"(%5, %1) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [4], rhs_contract = [3]}, out = "f32"}> : (tensor<?x2x4x?x64xf32, {dims = ["b", "l"]}>, tensor<?x2x?x64xf32, {dims = ["b", "s"]}>) -> tensor<?x2x4x?x?xf32, {dims = ["b", "l", "s"]}>
  %7 = "tgn.reshape"(%6) <{shape = ["b", 8, "l", "s"]}> : (tensor<?x2x4x?x?xf32, {dims = ["b", "l", "s"]}>) -> tensor<?x8x?x?xf32, {dims = ["b", "l", "s"]}>
  %8 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 1040187392}> : () -> tensor<1x1x1x1xf32>
  %9 = "tgn.elementwise"(%7, %8) <{f = "mul"}> : (tensor<?x8x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<1x1x1x1xf32>) -> tensor<?x8x?x?xf32, {dims = ["b", "l", "s"]}>
  %10 = "tgn.elementwise"(%9, %3) <{f = "add"}> : (tensor<?x8x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<?x1x1x?xf32, {dims = ["b", "s"]}>) -> tensor<?x8x?x?xf32, {dims = ["b", "l", "s"]}>
  %11 = "tgn.iota"() <{dtype = "i64", shape = [1, 1, "l", 1], axis = 2}> : () -> tensor<1x1x?x1xi64, {dims = ["l"]}>
  %12 = "tgn.sizes"() <{dims = ["-l + s"]}> : () -> tensor<1xi64>
  %13 = "tgn.reshape"(%12) <{shape = [1, 1, 1, 1]}> : (tensor<1xi64>) -> tensor<1x1x1x1xi64>
  %14 = "tgn.elementwise"(%11, %13) <{f = "add"}> : (tensor<1x1x?x1xi64, {dims = ["l"]}>, tensor<1x1x1x1xi64>) -> tensor<1x1x?x1xi64, {dims = ["l"]}>
  %15 = "tgn.iota"() <{dtype = "i64", shape = [1, 1, 1, "s"], axis = 3}> : () -> tensor<1x1x1x?xi64, {dims = ["s"]}>
  %16 = "tgn.elementwise"(%15, %14) <{f = "le"}> : (tensor<1x1x1x?xi64, {dims = ["s"]}>, tensor<1x1x?x1xi64, {dims = ["l"]}>) -> tensor<1x1x?x?xi1, {dims = ["l", "s"]}>
  %17 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 4286578688}> : () -> tensor<f32>
  %18 = "tgn.reshape"(%17) <{shape = [1, 1, 1, 1]}> : (tensor<f32>) -> tensor<1x1x1x1xf32>
  %19 = "tgn.elementwise"(%16, %10, %18) <{f = "select"}> : (tensor<1x1x?x?xi1, {dims = ["l", "s"]}>, tensor<?x8x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<1x1x1x1xf32>) -> tensor<?x8x?x?xf32, {dims = ["b", "l", "s"]}>
  %20 = "tgn.softmax"(%19) <{axis = 3, log = false}> : (tensor<?x8x?x?xf32, {dims = ["b", "l", "s"]}>) -> tensor<?x8x?x?xf32, {dims = ["b", "l", "s"]}>
  %21 = "tgn.reshape"(%20) <{shape = ["b", 2, 4, "l", "s"]}> : (tensor<?x8x?x?xf32, {dims = ["b", "l", "s"]}>) -> tensor<?x2x4x?x?xf32, {dims = ["b", "l", "s"]}>
  %22 = "tgn.dot"(%21, %2) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [4], rhs_contract = [2]}, out = "f32"}> : (tensor<?x2x4x?x?xf32, {dims = ["b", "l", "s"]}>, tensor<?x2x?x64xf32, {dims = ["b", "s"]}>) -> tensor<?x2x4x?x64xf32, {dims = ["b", "l"]}>
  %23 = "tgn.reshape"(%22) <{shape = ["b", 8, "l", 64]}> : (tensor<?x2x4x?x64xf32, {dims = ["b", "l"]}>) -> tensor<?x8x?x64xf32, {dims = ["b", "l"]}>
  "tgn.return"(%23) : (tensor<?x8x?x64xf32, {dims = ["b", "l"]}>) -> ()
}) : () -> ()
