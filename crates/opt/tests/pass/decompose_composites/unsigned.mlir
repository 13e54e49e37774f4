// Weights of unsigned bytes become signed where machines multiply an unsigned by a signed byte; the sums of the other side make up for it.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "i"], result_names = ["y", "z"]}> ({
  ^bb0(%x: tensor<?x4xui8, {dims = ["n"]}>, %i: tensor<?x2x5xui8, {dims = ["n"]}>):
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x3xui8>, dtype = "u8", shape = [4, 3]}> : () -> tensor<4x3xui8>
    %f = "tgn.constant"() <{id = dense_resource<const1> : tensor<3x2x2xui8>, dtype = "u8", shape = [3, 2, 2]}> : () -> tensor<3x2x2xui8>
    %y = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "i32"}> : (tensor<?x4xui8, {dims = ["n"]}>, tensor<4x3xui8>) -> tensor<?x3xi32, {dims = ["n"]}> loc("y")
    %z = "tgn.conv"(%i, %f) <{window = {size = [2], strides = [2], dilations = [1], low = [1], high = [0]}, groups = 1, out = "i32"}> : (tensor<?x2x5xui8, {dims = ["n"]}>, tensor<3x2x2xui8>) -> tensor<?x3x3xi32, {dims = ["n"]}> loc("z")
    "tgn.return"(%y, %z) : (tensor<?x3xi32, {dims = ["n"]}>, tensor<?x3x3xi32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x40000000807FFF010203FE05060708F9",
      const1: "0x40000000007FFF0102038005060708F9"
    }
  }
#-}
// -----
// y: decomposed dot: the target takes it in pieces
// z: decomposed conv: the target takes it in pieces
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "i"], result_names = ["y", "z"]}> ({
  ^bb0(%0: tensor<?x4xui8, {dims = ["n"]}>, %1: tensor<?x2x5xui8, {dims = ["n"]}>):
    %2 = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x3xui8>, dtype = "u8", shape = [4, 3]}> : () -> tensor<4x3xui8>
    %3 = "tgn.constant"() <{id = dense_resource<const1> : tensor<3x2x2xui8>, dtype = "u8", shape = [3, 2, 2]}> : () -> tensor<3x2x2xui8>
    %6 = "tgn.constant"() <{id = dense_resource<const2> : tensor<4x3xi8>, dtype = "i8", shape = [4, 3]}> : () -> tensor<4x3xi8> loc("y")
    %7 = "tgn.dot"(%0, %6) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "i32"}> : (tensor<?x4xui8, {dims = ["n"]}>, tensor<4x3xi8>) -> tensor<?x3xi32, {dims = ["n"]}> loc("y")
    %8 = "tgn.elementwise"(%0) <{f = "cast:i32"}> : (tensor<?x4xui8, {dims = ["n"]}>) -> tensor<?x4xi32, {dims = ["n"]}> loc("y")
    %9 = "tgn.reduce"(%8) <{f = "add", axes = [1]}> : (tensor<?x4xi32, {dims = ["n"]}>) -> tensor<?x1xi32, {dims = ["n"]}> loc("y")
    %10 = "tgn.splat"() <{dtype = "i32", shape = [1, 1], bits = 128}> : () -> tensor<1x1xi32> loc("y")
    %11 = "tgn.elementwise"(%9, %10) <{f = "mul"}> : (tensor<?x1xi32, {dims = ["n"]}>, tensor<1x1xi32>) -> tensor<?x1xi32, {dims = ["n"]}> loc("y")
    %12 = "tgn.elementwise"(%7, %11) <{f = "add"}> : (tensor<?x3xi32, {dims = ["n"]}>, tensor<?x1xi32, {dims = ["n"]}>) -> tensor<?x3xi32, {dims = ["n"]}> loc("y")
    %13 = "tgn.constant"() <{id = dense_resource<const3> : tensor<3x2x2xi8>, dtype = "i8", shape = [3, 2, 2]}> : () -> tensor<3x2x2xi8> loc("z")
    %14 = "tgn.splat"() <{dtype = "i8", shape = [], bits = 0}> : () -> tensor<i8> loc("z")
    %15 = "tgn.pad"(%13, %14) <{low = [0, 0, 0], high = [0, 2, 0], mode = "constant"}> : (tensor<3x2x2xi8>, tensor<i8>) -> tensor<3x4x2xi8> loc("z")
    %16 = "tgn.splat"() <{dtype = "u8", shape = [], bits = 0}> : () -> tensor<ui8> loc("z")
    %17 = "tgn.pad"(%1, %16) <{low = [0, 0, 0], high = [0, 2, 0], mode = "constant"}> : (tensor<?x2x5xui8, {dims = ["n"]}>, tensor<ui8>) -> tensor<?x4x5xui8, {dims = ["n"]}> loc("z")
    %18 = "tgn.conv"(%17, %15) <{window = {size = [2], strides = [2], dilations = [1], low = [1], high = [0]}, groups = 1, out = "i32"}> : (tensor<?x4x5xui8, {dims = ["n"]}>, tensor<3x4x2xi8>) -> tensor<?x3x3xi32, {dims = ["n"]}> loc("z")
    %19 = "tgn.elementwise"(%1) <{f = "cast:i32"}> : (tensor<?x2x5xui8, {dims = ["n"]}>) -> tensor<?x2x5xi32, {dims = ["n"]}> loc("z")
    %20 = "tgn.reduce"(%19) <{f = "add", axes = [1]}> : (tensor<?x2x5xi32, {dims = ["n"]}>) -> tensor<?x1x5xi32, {dims = ["n"]}> loc("z")
    %21 = "tgn.splat"() <{dtype = "i32", shape = [1, 1, 2], bits = 1}> : () -> tensor<1x1x2xi32> loc("z")
    %22 = "tgn.conv"(%20, %21) <{window = {size = [2], strides = [2], dilations = [1], low = [1], high = [0]}, groups = 1, out = "i32"}> : (tensor<?x1x5xi32, {dims = ["n"]}>, tensor<1x1x2xi32>) -> tensor<?x1x3xi32, {dims = ["n"]}> loc("z")
    %23 = "tgn.splat"() <{dtype = "i32", shape = [1, 1, 1], bits = 128}> : () -> tensor<1x1x1xi32> loc("z")
    %24 = "tgn.elementwise"(%22, %23) <{f = "mul"}> : (tensor<?x1x3xi32, {dims = ["n"]}>, tensor<1x1x1xi32>) -> tensor<?x1x3xi32, {dims = ["n"]}> loc("z")
    %25 = "tgn.elementwise"(%18, %24) <{f = "add"}> : (tensor<?x3x3xi32, {dims = ["n"]}>, tensor<?x1x3xi32, {dims = ["n"]}>) -> tensor<?x3x3xi32, {dims = ["n"]}> loc("z")
    "tgn.return"(%12, %25) : (tensor<?x3xi32, {dims = ["n"]}>, tensor<?x3x3xi32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x40000000807FFF010203FE05060708F9",
      const1: "0x40000000007FFF0102038005060708F9",
      const2: "0x4000000000FF7F8182837E8586878879",
      const3: "0x4000000080FF7F818283008586878879"
    }
  }
#-}
