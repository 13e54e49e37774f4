// softmax {axis = 1, log = true} : f16[n,10]
"tgn.func"() <{sym_name = "softmax", arg_names = [], result_names = []}> ({
^bb0(%0: tensor<?x10xf16, {dims = ["n"]}>):
  %2 = "tgn.elementwise"(%0) <{f = "cast:f32"}> : (tensor<?x10xf16, {dims = ["n"]}>) -> tensor<?x10xf32, {dims = ["n"]}>
  %3 = "tgn.reduce"(%2) <{f = "max", axes = [1]}> : (tensor<?x10xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}>
  %4 = "tgn.elementwise"(%2, %3) <{f = "sub"}> : (tensor<?x10xf32, {dims = ["n"]}>, tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?x10xf32, {dims = ["n"]}>
  %5 = "tgn.elementwise"(%4) <{f = "exp"}> : (tensor<?x10xf32, {dims = ["n"]}>) -> tensor<?x10xf32, {dims = ["n"]}>
  %6 = "tgn.reduce"(%5) <{f = "add", axes = [1]}> : (tensor<?x10xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}>
  %7 = "tgn.elementwise"(%6) <{f = "log"}> : (tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}>
  %8 = "tgn.elementwise"(%4, %7) <{f = "sub"}> : (tensor<?x10xf32, {dims = ["n"]}>, tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?x10xf32, {dims = ["n"]}>
  %9 = "tgn.elementwise"(%8) <{f = "cast:f16"}> : (tensor<?x10xf32, {dims = ["n"]}>) -> tensor<?x10xf16, {dims = ["n"]}>
  "tgn.return"(%9) : (tensor<?x10xf16, {dims = ["n"]}>) -> ()
}) : () -> ()
