// dequantize {scheme = {axis = 1, block = 32, storage = "u4", zero_point = true}} : u4[n,48] f16[n,2] u4[n,2]
"tgn.func"() <{sym_name = "dequantize", arg_names = [], result_names = []}> ({
^bb0(%0: tensor<?x48xui4, {dims = ["n"]}>, %1: tensor<?x2xf16, {dims = ["n"]}>, %2: tensor<?x2xui4, {dims = ["n"]}>):
  %4 = "tgn.elementwise"(%0) <{f = "cast:i32"}> : (tensor<?x48xui4, {dims = ["n"]}>) -> tensor<?x48xi32, {dims = ["n"]}>
  %5 = "tgn.reshape"(%2) <{shape = ["n", 2, 1]}> : (tensor<?x2xui4, {dims = ["n"]}>) -> tensor<?x2x1xui4, {dims = ["n"]}>
  %6 = "tgn.broadcast"(%5) <{shape = ["n", 2, 32]}> : (tensor<?x2x1xui4, {dims = ["n"]}>) -> tensor<?x2x32xui4, {dims = ["n"]}>
  %7 = "tgn.reshape"(%6) <{shape = ["n", 64]}> : (tensor<?x2x32xui4, {dims = ["n"]}>) -> tensor<?x64xui4, {dims = ["n"]}>
  %8 = "tgn.slice"(%7) <{starts = [0, 0], sizes = ["n", 48], steps = [1, 1]}> : (tensor<?x64xui4, {dims = ["n"]}>) -> tensor<?x48xui4, {dims = ["n"]}>
  %9 = "tgn.elementwise"(%8) <{f = "cast:i32"}> : (tensor<?x48xui4, {dims = ["n"]}>) -> tensor<?x48xi32, {dims = ["n"]}>
  %10 = "tgn.elementwise"(%4, %9) <{f = "sub"}> : (tensor<?x48xi32, {dims = ["n"]}>, tensor<?x48xi32, {dims = ["n"]}>) -> tensor<?x48xi32, {dims = ["n"]}>
  %11 = "tgn.reshape"(%1) <{shape = ["n", 2, 1]}> : (tensor<?x2xf16, {dims = ["n"]}>) -> tensor<?x2x1xf16, {dims = ["n"]}>
  %12 = "tgn.broadcast"(%11) <{shape = ["n", 2, 32]}> : (tensor<?x2x1xf16, {dims = ["n"]}>) -> tensor<?x2x32xf16, {dims = ["n"]}>
  %13 = "tgn.reshape"(%12) <{shape = ["n", 64]}> : (tensor<?x2x32xf16, {dims = ["n"]}>) -> tensor<?x64xf16, {dims = ["n"]}>
  %14 = "tgn.slice"(%13) <{starts = [0, 0], sizes = ["n", 48], steps = [1, 1]}> : (tensor<?x64xf16, {dims = ["n"]}>) -> tensor<?x48xf16, {dims = ["n"]}>
  %15 = "tgn.elementwise"(%10) <{f = "cast:f32"}> : (tensor<?x48xi32, {dims = ["n"]}>) -> tensor<?x48xf32, {dims = ["n"]}>
  %16 = "tgn.elementwise"(%14) <{f = "cast:f32"}> : (tensor<?x48xf16, {dims = ["n"]}>) -> tensor<?x48xf32, {dims = ["n"]}>
  %17 = "tgn.elementwise"(%15, %16) <{f = "mul"}> : (tensor<?x48xf32, {dims = ["n"]}>, tensor<?x48xf32, {dims = ["n"]}>) -> tensor<?x48xf32, {dims = ["n"]}>
  %18 = "tgn.elementwise"(%17) <{f = "cast:f16"}> : (tensor<?x48xf32, {dims = ["n"]}>) -> tensor<?x48xf16, {dims = ["n"]}>
  "tgn.return"(%18) : (tensor<?x48xf16, {dims = ["n"]}>) -> ()
}) : () -> ()
