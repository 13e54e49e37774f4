// Where four products of bytes take the time of one of floats, 16-bit integers meet stored bytes as two digits each; bytes that are no constant do not.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "v"], result_names = ["y", "z"]}> ({
  ^bb0(%x: tensor<?x4xi16, {dims = ["n"]}>, %v: tensor<4x3xi8>):
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x3xi8>, dtype = "i8", shape = [4, 3]}> : () -> tensor<4x3xi8>
    %f = "tgn.elementwise"(%x) <{f = "cast:f32"}> : (tensor<?x4xi16, {dims = ["n"]}>) -> tensor<?x4xf32, {dims = ["n"]}>
    %y = "tgn.dot"(%f, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<4x3xi8>) -> tensor<?x3xf32, {dims = ["n"]}> loc("y")
    %z = "tgn.dot"(%f, %v) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<4x3xi8>) -> tensor<?x3xf32, {dims = ["n"]}> loc("z")
    "tgn.return"(%y, %z) : (tensor<?x3xf32, {dims = ["n"]}>, tensor<?x3xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x40000000807FFF010203FE05060708F9"
    }
  }
#-}
// -----
// y: decomposed dot: the target takes its decomposition
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "v"], result_names = ["y", "z"]}> ({
  ^bb0(%0: tensor<?x4xi16, {dims = ["n"]}>, %1: tensor<4x3xi8>):
    %2 = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x3xi8>, dtype = "i8", shape = [4, 3]}> : () -> tensor<4x3xi8>
    %3 = "tgn.elementwise"(%0) <{f = "cast:f32"}> : (tensor<?x4xi16, {dims = ["n"]}>) -> tensor<?x4xf32, {dims = ["n"]}>
    %6 = "tgn.elementwise"(%0) <{f = "cast:i32"}> : (tensor<?x4xi16, {dims = ["n"]}>) -> tensor<?x4xi32, {dims = ["n"]}> loc("y")
    %7 = "tgn.splat"() <{dtype = "i32", shape = [1, 1], bits = 32768}> : () -> tensor<1x1xi32> loc("y")
    %8 = "tgn.elementwise"(%6, %7) <{f = "add"}> : (tensor<?x4xi32, {dims = ["n"]}>, tensor<1x1xi32>) -> tensor<?x4xi32, {dims = ["n"]}> loc("y")
    %9 = "tgn.reshape"(%8) <{shape = [1, "n", 4]}> : (tensor<?x4xi32, {dims = ["n"]}>) -> tensor<1x?x4xi32, {dims = ["n"]}> loc("y")
    %10 = "tgn.broadcast"(%9) <{shape = [2, "n", 4]}> : (tensor<1x?x4xi32, {dims = ["n"]}>) -> tensor<2x?x4xi32, {dims = ["n"]}> loc("y")
    %11 = "tgn.constant"() <{id = dense_resource<const1> : tensor<2x1x1xi32>, dtype = "i32", shape = [2, 1, 1]}> : () -> tensor<2x1x1xi32> loc("y")
    %12 = "tgn.elementwise"(%10, %11) <{f = "shift_right"}> : (tensor<2x?x4xi32, {dims = ["n"]}>, tensor<2x1x1xi32>) -> tensor<2x?x4xi32, {dims = ["n"]}> loc("y")
    %13 = "tgn.elementwise"(%12) <{f = "cast:u8"}> : (tensor<2x?x4xi32, {dims = ["n"]}>) -> tensor<2x?x4xui8, {dims = ["n"]}> loc("y")
    %14 = "tgn.dot"(%13, %2) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [2], rhs_contract = [0]}, out = "i32"}> : (tensor<2x?x4xui8, {dims = ["n"]}>, tensor<4x3xi8>) -> tensor<2x?x3xi32, {dims = ["n"]}> loc("y")
    %15 = "tgn.slice"(%14) <{starts = [0, 0, 0], sizes = [1, "n", 3], steps = [1, 1, 1]}> : (tensor<2x?x3xi32, {dims = ["n"]}>) -> tensor<1x?x3xi32, {dims = ["n"]}> loc("y")
    %16 = "tgn.reshape"(%15) <{shape = ["n", 3]}> : (tensor<1x?x3xi32, {dims = ["n"]}>) -> tensor<?x3xi32, {dims = ["n"]}> loc("y")
    %17 = "tgn.slice"(%14) <{starts = [1, 0, 0], sizes = [1, "n", 3], steps = [1, 1, 1]}> : (tensor<2x?x3xi32, {dims = ["n"]}>) -> tensor<1x?x3xi32, {dims = ["n"]}> loc("y")
    %18 = "tgn.reshape"(%17) <{shape = ["n", 3]}> : (tensor<1x?x3xi32, {dims = ["n"]}>) -> tensor<?x3xi32, {dims = ["n"]}> loc("y")
    %19 = "tgn.constant"() <{id = dense_resource<const2> : tensor<1x3xi32>, dtype = "i32", shape = [1, 3]}> : () -> tensor<1x3xi32> loc("y")
    %20 = "tgn.splat"() <{dtype = "i32", shape = [1, 1], bits = 4294967168}> : () -> tensor<1x1xi32> loc("y")
    %21 = "tgn.elementwise"(%19, %20) <{f = "mul"}> : (tensor<1x3xi32>, tensor<1x1xi32>) -> tensor<1x3xi32> loc("y")
    %22 = "tgn.elementwise"(%16, %21) <{f = "add"}> : (tensor<?x3xi32, {dims = ["n"]}>, tensor<1x3xi32>) -> tensor<?x3xi32, {dims = ["n"]}> loc("y")
    %23 = "tgn.elementwise"(%22) <{f = "cast:f32"}> : (tensor<?x3xi32, {dims = ["n"]}>) -> tensor<?x3xf32, {dims = ["n"]}> loc("y")
    %24 = "tgn.elementwise"(%18) <{f = "cast:f32"}> : (tensor<?x3xi32, {dims = ["n"]}>) -> tensor<?x3xf32, {dims = ["n"]}> loc("y")
    %25 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1132462080}> : () -> tensor<1x1xf32> loc("y")
    %26 = "tgn.elementwise"(%23, %25) <{f = "mul"}> : (tensor<?x3xf32, {dims = ["n"]}>, tensor<1x1xf32>) -> tensor<?x3xf32, {dims = ["n"]}> loc("y")
    %27 = "tgn.elementwise"(%26, %24) <{f = "add"}> : (tensor<?x3xf32, {dims = ["n"]}>, tensor<?x3xf32, {dims = ["n"]}>) -> tensor<?x3xf32, {dims = ["n"]}> loc("y")
    %5 = "tgn.dot"(%3, %1) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<4x3xi8>) -> tensor<?x3xf32, {dims = ["n"]}> loc("z")
    "tgn.return"(%27, %5) : (tensor<?x3xf32, {dims = ["n"]}>, tensor<?x3xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x40000000807FFF010203FE05060708F9",
      const1: "0x400000000800000000000000",
      const2: "0x4000000086FFFFFF8E00000001000000"
    }
  }
#-}
