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
    %6 = "tgn.elementwise"(%2) <{f = "bitcast:u8"}> : (tensor<4x3xui8>) -> tensor<4x3xui8> loc("y")
    %7 = "tgn.splat"() <{dtype = "u8", shape = [1, 1], bits = 128}> : () -> tensor<1x1xui8> loc("y")
    %8 = "tgn.elementwise"(%6, %7) <{f = "xor"}> : (tensor<4x3xui8>, tensor<1x1xui8>) -> tensor<4x3xui8> loc("y")
    %9 = "tgn.elementwise"(%8) <{f = "bitcast:i8"}> : (tensor<4x3xui8>) -> tensor<4x3xi8> loc("y")
    %10 = "tgn.dot"(%0, %9) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "i32"}> : (tensor<?x4xui8, {dims = ["n"]}>, tensor<4x3xi8>) -> tensor<?x3xi32, {dims = ["n"]}> loc("y")
    %11 = "tgn.elementwise"(%0) <{f = "cast:i32"}> : (tensor<?x4xui8, {dims = ["n"]}>) -> tensor<?x4xi32, {dims = ["n"]}> loc("y")
    %12 = "tgn.reduce"(%11) <{f = "add", axes = [1]}> : (tensor<?x4xi32, {dims = ["n"]}>) -> tensor<?x1xi32, {dims = ["n"]}> loc("y")
    %13 = "tgn.splat"() <{dtype = "i32", shape = [1, 1], bits = 128}> : () -> tensor<1x1xi32> loc("y")
    %14 = "tgn.elementwise"(%12, %13) <{f = "mul"}> : (tensor<?x1xi32, {dims = ["n"]}>, tensor<1x1xi32>) -> tensor<?x1xi32, {dims = ["n"]}> loc("y")
    %15 = "tgn.elementwise"(%10, %14) <{f = "add"}> : (tensor<?x3xi32, {dims = ["n"]}>, tensor<?x1xi32, {dims = ["n"]}>) -> tensor<?x3xi32, {dims = ["n"]}> loc("y")
    %16 = "tgn.elementwise"(%3) <{f = "bitcast:u8"}> : (tensor<3x2x2xui8>) -> tensor<3x2x2xui8> loc("z")
    %17 = "tgn.splat"() <{dtype = "u8", shape = [1, 1, 1], bits = 128}> : () -> tensor<1x1x1xui8> loc("z")
    %18 = "tgn.elementwise"(%16, %17) <{f = "xor"}> : (tensor<3x2x2xui8>, tensor<1x1x1xui8>) -> tensor<3x2x2xui8> loc("z")
    %19 = "tgn.elementwise"(%18) <{f = "bitcast:i8"}> : (tensor<3x2x2xui8>) -> tensor<3x2x2xi8> loc("z")
    %20 = "tgn.splat"() <{dtype = "i8", shape = [], bits = 0}> : () -> tensor<i8> loc("z")
    %21 = "tgn.pad"(%19, %20) <{low = [0, 0, 0], high = [0, 2, 0], mode = "constant"}> : (tensor<3x2x2xi8>, tensor<i8>) -> tensor<3x4x2xi8> loc("z")
    %22 = "tgn.splat"() <{dtype = "u8", shape = [], bits = 0}> : () -> tensor<ui8> loc("z")
    %23 = "tgn.pad"(%1, %22) <{low = [0, 0, 0], high = [0, 2, 0], mode = "constant"}> : (tensor<?x2x5xui8, {dims = ["n"]}>, tensor<ui8>) -> tensor<?x4x5xui8, {dims = ["n"]}> loc("z")
    %24 = "tgn.conv"(%23, %21) <{window = {size = [2], strides = [2], dilations = [1], low = [1], high = [0]}, groups = 1, out = "i32"}> : (tensor<?x4x5xui8, {dims = ["n"]}>, tensor<3x4x2xi8>) -> tensor<?x3x3xi32, {dims = ["n"]}> loc("z")
    %25 = "tgn.elementwise"(%1) <{f = "cast:i32"}> : (tensor<?x2x5xui8, {dims = ["n"]}>) -> tensor<?x2x5xi32, {dims = ["n"]}> loc("z")
    %26 = "tgn.reduce"(%25) <{f = "add", axes = [1]}> : (tensor<?x2x5xi32, {dims = ["n"]}>) -> tensor<?x1x5xi32, {dims = ["n"]}> loc("z")
    %27 = "tgn.splat"() <{dtype = "i32", shape = [1, 1, 2], bits = 1}> : () -> tensor<1x1x2xi32> loc("z")
    %28 = "tgn.conv"(%26, %27) <{window = {size = [2], strides = [2], dilations = [1], low = [1], high = [0]}, groups = 1, out = "i32"}> : (tensor<?x1x5xi32, {dims = ["n"]}>, tensor<1x1x2xi32>) -> tensor<?x1x3xi32, {dims = ["n"]}> loc("z")
    %29 = "tgn.splat"() <{dtype = "i32", shape = [1, 1, 1], bits = 128}> : () -> tensor<1x1x1xi32> loc("z")
    %30 = "tgn.elementwise"(%28, %29) <{f = "mul"}> : (tensor<?x1x3xi32, {dims = ["n"]}>, tensor<1x1x1xi32>) -> tensor<?x1x3xi32, {dims = ["n"]}> loc("z")
    %31 = "tgn.elementwise"(%24, %30) <{f = "add"}> : (tensor<?x3x3xi32, {dims = ["n"]}>, tensor<?x1x3xi32, {dims = ["n"]}>) -> tensor<?x3x3xi32, {dims = ["n"]}> loc("z")
    "tgn.return"(%15, %31) : (tensor<?x3xi32, {dims = ["n"]}>, tensor<?x3x3xi32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x40000000807FFF010203FE05060708F9",
      const1: "0x40000000007FFF0102038005060708F9"
    }
  }
#-}
