// q_dot {dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}} : u8[m,k] f32[] u8[] i8[k,n] f32[n] i8[n] f32[] u8[]
"tgn.func"() <{sym_name = "q_dot", arg_names = [], result_names = []}> ({
^bb0(%0: tensor<?x?xui8, {dims = ["m", "k"]}>, %1: tensor<f32>, %2: tensor<ui8>, %3: tensor<?x?xi8, {dims = ["k", "n"]}>, %4: tensor<?xf32, {dims = ["n"]}>, %5: tensor<?xi8, {dims = ["n"]}>, %6: tensor<f32>, %7: tensor<ui8>):
  %9 = "tgn.reshape"(%5) <{shape = [1, "n"]}> : (tensor<?xi8, {dims = ["n"]}>) -> tensor<1x?xi8, {dims = ["n"]}>
  %10 = "tgn.elementwise"(%0) <{f = "cast:i32"}> : (tensor<?x?xui8, {dims = ["m", "k"]}>) -> tensor<?x?xi32, {dims = ["m", "k"]}>
  %11 = "tgn.elementwise"(%2) <{f = "cast:i32"}> : (tensor<ui8>) -> tensor<i32>
  %12 = "tgn.reshape"(%11) <{shape = [1, 1]}> : (tensor<i32>) -> tensor<1x1xi32>
  %13 = "tgn.elementwise"(%10, %12) <{f = "sub"}> : (tensor<?x?xi32, {dims = ["m", "k"]}>, tensor<1x1xi32>) -> tensor<?x?xi32, {dims = ["m", "k"]}>
  %14 = "tgn.elementwise"(%3) <{f = "cast:i32"}> : (tensor<?x?xi8, {dims = ["k", "n"]}>) -> tensor<?x?xi32, {dims = ["k", "n"]}>
  %15 = "tgn.elementwise"(%9) <{f = "cast:i32"}> : (tensor<1x?xi8, {dims = ["n"]}>) -> tensor<1x?xi32, {dims = ["n"]}>
  %16 = "tgn.elementwise"(%14, %15) <{f = "sub"}> : (tensor<?x?xi32, {dims = ["k", "n"]}>, tensor<1x?xi32, {dims = ["n"]}>) -> tensor<?x?xi32, {dims = ["k", "n"]}>
  %17 = "tgn.dot"(%13, %16) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "i32"}> : (tensor<?x?xi32, {dims = ["m", "k"]}>, tensor<?x?xi32, {dims = ["k", "n"]}>) -> tensor<?x?xi32, {dims = ["m", "n"]}>
  %18 = "tgn.reshape"(%1) <{shape = [1]}> : (tensor<f32>) -> tensor<1xf32>
  %19 = "tgn.elementwise"(%18, %4) <{f = "mul"}> : (tensor<1xf32>, tensor<?xf32, {dims = ["n"]}>) -> tensor<?xf32, {dims = ["n"]}>
  %20 = "tgn.elementwise"(%17) <{f = "cast:f32"}> : (tensor<?x?xi32, {dims = ["m", "n"]}>) -> tensor<?x?xf32, {dims = ["m", "n"]}>
  %21 = "tgn.reshape"(%6) <{shape = [1]}> : (tensor<f32>) -> tensor<1xf32>
  %22 = "tgn.elementwise"(%19, %21) <{f = "div"}> : (tensor<?xf32, {dims = ["n"]}>, tensor<1xf32>) -> tensor<?xf32, {dims = ["n"]}>
  %23 = "tgn.reshape"(%22) <{shape = [1, "n"]}> : (tensor<?xf32, {dims = ["n"]}>) -> tensor<1x?xf32, {dims = ["n"]}>
  %24 = "tgn.elementwise"(%20, %23) <{f = "mul"}> : (tensor<?x?xf32, {dims = ["m", "n"]}>, tensor<1x?xf32, {dims = ["n"]}>) -> tensor<?x?xf32, {dims = ["m", "n"]}>
  %25 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 1065353216}> : () -> tensor<f32>
  %26 = "tgn.quantize"(%24, %25, %7) <{scheme = {axis, block, storage = "u8", zero_point = true}}> : (tensor<?x?xf32, {dims = ["m", "n"]}>, tensor<f32>, tensor<ui8>) -> tensor<?x?xui8, {dims = ["m", "n"]}>
  "tgn.return"(%26) : (tensor<?x?xui8, {dims = ["m", "n"]}>) -> ()
}) : () -> ()
