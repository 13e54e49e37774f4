// rms_norm {axis = 1, eps = 1.0e-6} : f16[n,64] f16[64]
"tgn.func"() <{sym_name = "rms_norm", arg_names = [], result_names = []}> ({
^bb0(%0: tensor<?x64xf16, {dims = ["n"]}>, %1: tensor<64xf16>):
  %3 = "tgn.elementwise"(%0) <{f = "cast:f32"}> : (tensor<?x64xf16, {dims = ["n"]}>) -> tensor<?x64xf32, {dims = ["n"]}>
  %4 = "tgn.elementwise"(%1) <{f = "cast:f32"}> : (tensor<64xf16>) -> tensor<64xf32>
  %5 = "tgn.elementwise"(%3, %3) <{f = "mul"}> : (tensor<?x64xf32, {dims = ["n"]}>, tensor<?x64xf32, {dims = ["n"]}>) -> tensor<?x64xf32, {dims = ["n"]}>
  %6 = "tgn.reduce"(%5) <{f = "add", axes = [1]}> : (tensor<?x64xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}>
  %7 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1115684864}> : () -> tensor<1x1xf32>
  %8 = "tgn.elementwise"(%6, %7) <{f = "div"}> : (tensor<?x1xf32, {dims = ["n"]}>, tensor<1x1xf32>) -> tensor<?x1xf32, {dims = ["n"]}>
  %9 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 897988541}> : () -> tensor<1x1xf32>
  %10 = "tgn.elementwise"(%8, %9) <{f = "add"}> : (tensor<?x1xf32, {dims = ["n"]}>, tensor<1x1xf32>) -> tensor<?x1xf32, {dims = ["n"]}>
  %11 = "tgn.elementwise"(%10) <{f = "rsqrt"}> : (tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}>
  %12 = "tgn.elementwise"(%3, %11) <{f = "mul"}> : (tensor<?x64xf32, {dims = ["n"]}>, tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?x64xf32, {dims = ["n"]}>
  %13 = "tgn.reshape"(%4) <{shape = [1, 64]}> : (tensor<64xf32>) -> tensor<1x64xf32>
  %14 = "tgn.elementwise"(%12, %13) <{f = "mul"}> : (tensor<?x64xf32, {dims = ["n"]}>, tensor<1x64xf32>) -> tensor<?x64xf32, {dims = ["n"]}>
  %15 = "tgn.elementwise"(%14) <{f = "cast:f16"}> : (tensor<?x64xf32, {dims = ["n"]}>) -> tensor<?x64xf16, {dims = ["n"]}>
  "tgn.return"(%15) : (tensor<?x64xf16, {dims = ["n"]}>) -> ()
}) : () -> ()
