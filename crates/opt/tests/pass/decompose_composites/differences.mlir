// Differences of bytes and a byte for each row meet stored bytes in one product; those that have a byte for each column do not.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "r", "c"], result_names = ["y", "z"]}> ({
  ^bb0(%x: tensor<?x4xui8, {dims = ["n"]}>, %r: tensor<?x1xui8, {dims = ["n"]}>, %c: tensor<1x4xui8>):
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x3xi8>, dtype = "i8", shape = [4, 3]}> : () -> tensor<4x3xi8>
    %wx = "tgn.elementwise"(%x) <{f = "cast:i16"}> : (tensor<?x4xui8, {dims = ["n"]}>) -> tensor<?x4xi16, {dims = ["n"]}>
    %wr = "tgn.elementwise"(%r) <{f = "cast:i16"}> : (tensor<?x1xui8, {dims = ["n"]}>) -> tensor<?x1xi16, {dims = ["n"]}>
    %wc = "tgn.elementwise"(%c) <{f = "cast:i16"}> : (tensor<1x4xui8>) -> tensor<1x4xi16>
    %dr = "tgn.elementwise"(%wx, %wr) <{f = "sub"}> : (tensor<?x4xi16, {dims = ["n"]}>, tensor<?x1xi16, {dims = ["n"]}>) -> tensor<?x4xi16, {dims = ["n"]}>
    %dc = "tgn.elementwise"(%wx, %wc) <{f = "sub"}> : (tensor<?x4xi16, {dims = ["n"]}>, tensor<1x4xi16>) -> tensor<?x4xi16, {dims = ["n"]}>
    %fr = "tgn.elementwise"(%dr) <{f = "cast:f32"}> : (tensor<?x4xi16, {dims = ["n"]}>) -> tensor<?x4xf32, {dims = ["n"]}>
    %fc = "tgn.elementwise"(%dc) <{f = "cast:f32"}> : (tensor<?x4xi16, {dims = ["n"]}>) -> tensor<?x4xf32, {dims = ["n"]}>
    %y = "tgn.dot"(%fr, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<4x3xi8>) -> tensor<?x3xf32, {dims = ["n"]}> loc("y")
    %z = "tgn.dot"(%fc, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<4x3xi8>) -> tensor<?x3xf32, {dims = ["n"]}> loc("z")
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
// z: decomposed dot: the target takes its decomposition
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "r", "c"], result_names = ["y", "z"]}> ({
  ^bb0(%0: tensor<?x4xui8, {dims = ["n"]}>, %1: tensor<?x1xui8, {dims = ["n"]}>, %2: tensor<1x4xui8>):
    %3 = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x3xi8>, dtype = "i8", shape = [4, 3]}> : () -> tensor<4x3xi8>
    %4 = "tgn.elementwise"(%0) <{f = "cast:i16"}> : (tensor<?x4xui8, {dims = ["n"]}>) -> tensor<?x4xi16, {dims = ["n"]}>
    %5 = "tgn.elementwise"(%1) <{f = "cast:i16"}> : (tensor<?x1xui8, {dims = ["n"]}>) -> tensor<?x1xi16, {dims = ["n"]}>
    %6 = "tgn.elementwise"(%2) <{f = "cast:i16"}> : (tensor<1x4xui8>) -> tensor<1x4xi16>
    %7 = "tgn.elementwise"(%4, %5) <{f = "sub"}> : (tensor<?x4xi16, {dims = ["n"]}>, tensor<?x1xi16, {dims = ["n"]}>) -> tensor<?x4xi16, {dims = ["n"]}>
    %8 = "tgn.elementwise"(%4, %6) <{f = "sub"}> : (tensor<?x4xi16, {dims = ["n"]}>, tensor<1x4xi16>) -> tensor<?x4xi16, {dims = ["n"]}>
    %9 = "tgn.elementwise"(%7) <{f = "cast:f32"}> : (tensor<?x4xi16, {dims = ["n"]}>) -> tensor<?x4xf32, {dims = ["n"]}>
    %10 = "tgn.elementwise"(%8) <{f = "cast:f32"}> : (tensor<?x4xi16, {dims = ["n"]}>) -> tensor<?x4xf32, {dims = ["n"]}>
    %13 = "tgn.dot"(%0, %3) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "i32"}> : (tensor<?x4xui8, {dims = ["n"]}>, tensor<4x3xi8>) -> tensor<?x3xi32, {dims = ["n"]}> loc("y")
    %14 = "tgn.elementwise"(%1) <{f = "cast:i32"}> : (tensor<?x1xui8, {dims = ["n"]}>) -> tensor<?x1xi32, {dims = ["n"]}> loc("y")
    %15 = "tgn.constant"() <{id = dense_resource<const1> : tensor<1x3xi32>, dtype = "i32", shape = [1, 3]}> : () -> tensor<1x3xi32> loc("y")
    %16 = "tgn.elementwise"(%14, %15) <{f = "mul"}> : (tensor<?x1xi32, {dims = ["n"]}>, tensor<1x3xi32>) -> tensor<?x3xi32, {dims = ["n"]}> loc("y")
    %17 = "tgn.elementwise"(%13, %16) <{f = "sub"}> : (tensor<?x3xi32, {dims = ["n"]}>, tensor<?x3xi32, {dims = ["n"]}>) -> tensor<?x3xi32, {dims = ["n"]}> loc("y")
    %18 = "tgn.elementwise"(%17) <{f = "cast:f32"}> : (tensor<?x3xi32, {dims = ["n"]}>) -> tensor<?x3xf32, {dims = ["n"]}> loc("y")
    %19 = "tgn.elementwise"(%8) <{f = "cast:i32"}> : (tensor<?x4xi16, {dims = ["n"]}>) -> tensor<?x4xi32, {dims = ["n"]}> loc("z")
    %20 = "tgn.splat"() <{dtype = "i32", shape = [1, 1], bits = 32768}> : () -> tensor<1x1xi32> loc("z")
    %21 = "tgn.elementwise"(%19, %20) <{f = "add"}> : (tensor<?x4xi32, {dims = ["n"]}>, tensor<1x1xi32>) -> tensor<?x4xi32, {dims = ["n"]}> loc("z")
    %22 = "tgn.reshape"(%21) <{shape = [1, "n", 4]}> : (tensor<?x4xi32, {dims = ["n"]}>) -> tensor<1x?x4xi32, {dims = ["n"]}> loc("z")
    %23 = "tgn.broadcast"(%22) <{shape = [2, "n", 4]}> : (tensor<1x?x4xi32, {dims = ["n"]}>) -> tensor<2x?x4xi32, {dims = ["n"]}> loc("z")
    %24 = "tgn.constant"() <{id = dense_resource<const2> : tensor<2x1x1xi32>, dtype = "i32", shape = [2, 1, 1]}> : () -> tensor<2x1x1xi32> loc("z")
    %25 = "tgn.elementwise"(%23, %24) <{f = "shift_right"}> : (tensor<2x?x4xi32, {dims = ["n"]}>, tensor<2x1x1xi32>) -> tensor<2x?x4xi32, {dims = ["n"]}> loc("z")
    %26 = "tgn.elementwise"(%25) <{f = "cast:u8"}> : (tensor<2x?x4xi32, {dims = ["n"]}>) -> tensor<2x?x4xui8, {dims = ["n"]}> loc("z")
    %27 = "tgn.dot"(%26, %3) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [2], rhs_contract = [0]}, out = "i32"}> : (tensor<2x?x4xui8, {dims = ["n"]}>, tensor<4x3xi8>) -> tensor<2x?x3xi32, {dims = ["n"]}> loc("z")
    %28 = "tgn.slice"(%27) <{starts = [0, 0, 0], sizes = [1, "n", 3], steps = [1, 1, 1]}> : (tensor<2x?x3xi32, {dims = ["n"]}>) -> tensor<1x?x3xi32, {dims = ["n"]}> loc("z")
    %29 = "tgn.reshape"(%28) <{shape = ["n", 3]}> : (tensor<1x?x3xi32, {dims = ["n"]}>) -> tensor<?x3xi32, {dims = ["n"]}> loc("z")
    %30 = "tgn.slice"(%27) <{starts = [1, 0, 0], sizes = [1, "n", 3], steps = [1, 1, 1]}> : (tensor<2x?x3xi32, {dims = ["n"]}>) -> tensor<1x?x3xi32, {dims = ["n"]}> loc("z")
    %31 = "tgn.reshape"(%30) <{shape = ["n", 3]}> : (tensor<1x?x3xi32, {dims = ["n"]}>) -> tensor<?x3xi32, {dims = ["n"]}> loc("z")
    %32 = "tgn.constant"() <{id = dense_resource<const3> : tensor<1x3xi32>, dtype = "i32", shape = [1, 3]}> : () -> tensor<1x3xi32> loc("z")
    %33 = "tgn.splat"() <{dtype = "i32", shape = [1, 1], bits = 4294967168}> : () -> tensor<1x1xi32> loc("z")
    %34 = "tgn.elementwise"(%32, %33) <{f = "mul"}> : (tensor<1x3xi32>, tensor<1x1xi32>) -> tensor<1x3xi32> loc("z")
    %35 = "tgn.elementwise"(%29, %34) <{f = "add"}> : (tensor<?x3xi32, {dims = ["n"]}>, tensor<1x3xi32>) -> tensor<?x3xi32, {dims = ["n"]}> loc("z")
    %36 = "tgn.elementwise"(%35) <{f = "cast:f32"}> : (tensor<?x3xi32, {dims = ["n"]}>) -> tensor<?x3xf32, {dims = ["n"]}> loc("z")
    %37 = "tgn.elementwise"(%31) <{f = "cast:f32"}> : (tensor<?x3xi32, {dims = ["n"]}>) -> tensor<?x3xf32, {dims = ["n"]}> loc("z")
    %38 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1132462080}> : () -> tensor<1x1xf32> loc("z")
    %39 = "tgn.elementwise"(%36, %38) <{f = "mul"}> : (tensor<?x3xf32, {dims = ["n"]}>, tensor<1x1xf32>) -> tensor<?x3xf32, {dims = ["n"]}> loc("z")
    %40 = "tgn.elementwise"(%39, %37) <{f = "add"}> : (tensor<?x3xf32, {dims = ["n"]}>, tensor<?x3xf32, {dims = ["n"]}>) -> tensor<?x3xf32, {dims = ["n"]}> loc("z")
    "tgn.return"(%18, %40) : (tensor<?x3xf32, {dims = ["n"]}>, tensor<?x3xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x40000000807FFF010203FE05060708F9",
      const1: "0x4000000086FFFFFF8E00000001000000",
      const2: "0x400000000800000000000000",
      const3: "0x4000000086FFFFFF8E00000001000000"
    }
  }
#-}
