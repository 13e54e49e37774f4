// gelu {tanh = false} : f32[n]
"tgn.func"() <{sym_name = "gelu", arg_names = [], result_names = []}> ({
^bb0(%0: tensor<?xf32, {dims = ["n"]}>):
  %2 = "tgn.splat"() <{dtype = "f32", shape = [1], bits = 1060439283}> : () -> tensor<1xf32>
  %3 = "tgn.elementwise"(%0, %2) <{f = "mul"}> : (tensor<?xf32, {dims = ["n"]}>, tensor<1xf32>) -> tensor<?xf32, {dims = ["n"]}>
  %4 = "tgn.elementwise"(%3) <{f = "erf"}> : (tensor<?xf32, {dims = ["n"]}>) -> tensor<?xf32, {dims = ["n"]}>
  %5 = "tgn.splat"() <{dtype = "f32", shape = [1], bits = 1065353216}> : () -> tensor<1xf32>
  %6 = "tgn.elementwise"(%4, %5) <{f = "add"}> : (tensor<?xf32, {dims = ["n"]}>, tensor<1xf32>) -> tensor<?xf32, {dims = ["n"]}>
  %7 = "tgn.splat"() <{dtype = "f32", shape = [1], bits = 1056964608}> : () -> tensor<1xf32>
  %8 = "tgn.elementwise"(%0, %7) <{f = "mul"}> : (tensor<?xf32, {dims = ["n"]}>, tensor<1xf32>) -> tensor<?xf32, {dims = ["n"]}>
  %9 = "tgn.elementwise"(%8, %6) <{f = "mul"}> : (tensor<?xf32, {dims = ["n"]}>, tensor<?xf32, {dims = ["n"]}>) -> tensor<?xf32, {dims = ["n"]}>
  "tgn.return"(%9) : (tensor<?xf32, {dims = ["n"]}>) -> ()
}) : () -> ()
