// gelu {tanh = true} : f32[n]
"tgn.func"() <{sym_name = "gelu", arg_names = [], result_names = []}> ({
^bb0(%0: tensor<?xf32, {dims = ["n"]}>):
  %2 = "tgn.elementwise"(%0, %0) <{f = "mul"}> : (tensor<?xf32, {dims = ["n"]}>, tensor<?xf32, {dims = ["n"]}>) -> tensor<?xf32, {dims = ["n"]}>
  %3 = "tgn.elementwise"(%2, %0) <{f = "mul"}> : (tensor<?xf32, {dims = ["n"]}>, tensor<?xf32, {dims = ["n"]}>) -> tensor<?xf32, {dims = ["n"]}>
  %4 = "tgn.splat"() <{dtype = "f32", shape = [1], bits = 1027024659}> : () -> tensor<1xf32>
  %5 = "tgn.elementwise"(%3, %4) <{f = "mul"}> : (tensor<?xf32, {dims = ["n"]}>, tensor<1xf32>) -> tensor<?xf32, {dims = ["n"]}>
  %6 = "tgn.elementwise"(%0, %5) <{f = "add"}> : (tensor<?xf32, {dims = ["n"]}>, tensor<?xf32, {dims = ["n"]}>) -> tensor<?xf32, {dims = ["n"]}>
  %7 = "tgn.splat"() <{dtype = "f32", shape = [1], bits = 1061962282}> : () -> tensor<1xf32>
  %8 = "tgn.elementwise"(%6, %7) <{f = "mul"}> : (tensor<?xf32, {dims = ["n"]}>, tensor<1xf32>) -> tensor<?xf32, {dims = ["n"]}>
  %9 = "tgn.elementwise"(%8) <{f = "tanh"}> : (tensor<?xf32, {dims = ["n"]}>) -> tensor<?xf32, {dims = ["n"]}>
  %10 = "tgn.splat"() <{dtype = "f32", shape = [1], bits = 1065353216}> : () -> tensor<1xf32>
  %11 = "tgn.elementwise"(%9, %10) <{f = "add"}> : (tensor<?xf32, {dims = ["n"]}>, tensor<1xf32>) -> tensor<?xf32, {dims = ["n"]}>
  %12 = "tgn.splat"() <{dtype = "f32", shape = [1], bits = 1056964608}> : () -> tensor<1xf32>
  %13 = "tgn.elementwise"(%0, %12) <{f = "mul"}> : (tensor<?xf32, {dims = ["n"]}>, tensor<1xf32>) -> tensor<?xf32, {dims = ["n"]}>
  %14 = "tgn.elementwise"(%13, %11) <{f = "mul"}> : (tensor<?xf32, {dims = ["n"]}>, tensor<?xf32, {dims = ["n"]}>) -> tensor<?xf32, {dims = ["n"]}>
  "tgn.return"(%14) : (tensor<?xf32, {dims = ["n"]}>) -> ()
}) : () -> ()
