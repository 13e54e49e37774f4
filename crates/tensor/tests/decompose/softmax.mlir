// softmax {axis = 1, log = false} : f32[n,m]
"tgn.func"() <{sym_name = "softmax", arg_names = [], result_names = []}> ({
^bb0(%0: tensor<?x?xf32, {dims = ["n", "m"]}>):
  %2 = "tgn.reduce"(%0) <{f = "max", axes = [1]}> : (tensor<?x?xf32, {dims = ["n", "m"]}>) -> tensor<?x1xf32, {dims = ["n"]}>
  %3 = "tgn.elementwise"(%0, %2) <{f = "sub"}> : (tensor<?x?xf32, {dims = ["n", "m"]}>, tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?x?xf32, {dims = ["n", "m"]}>
  %4 = "tgn.elementwise"(%3) <{f = "exp"}> : (tensor<?x?xf32, {dims = ["n", "m"]}>) -> tensor<?x?xf32, {dims = ["n", "m"]}>
  %5 = "tgn.reduce"(%4) <{f = "add", axes = [1]}> : (tensor<?x?xf32, {dims = ["n", "m"]}>) -> tensor<?x1xf32, {dims = ["n"]}>
  %6 = "tgn.elementwise"(%5) <{f = "reciprocal"}> : (tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}>
  %7 = "tgn.elementwise"(%4, %6) <{f = "mul"}> : (tensor<?x?xf32, {dims = ["n", "m"]}>, tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?x?xf32, {dims = ["n", "m"]}>
  "tgn.return"(%7) : (tensor<?x?xf32, {dims = ["n", "m"]}>) -> ()
}) : () -> ()
