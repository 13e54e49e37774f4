// Machines multiply an unsigned by a signed byte: other signs are flipped, and sums of the other side make up for it; those of constant weights are known here. Few rows leave a computed right side as it is.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "s", "t", "i"], result_names = ["y", "both", "few", "z"]}> ({
  ^bb0(%x: tensor<?x4xui8, {dims = ["n"]}>, %s: tensor<2x9x4xi8>, %t: tensor<2x4x5xui8>, %i: tensor<?x2x5xui8, {dims = ["n"]}>):
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x3xui8>, dtype = "u8", shape = [4, 3]}> : () -> tensor<4x3xui8>
    %f = "tgn.constant"() <{id = dense_resource<const1> : tensor<3x2x2xui8>, dtype = "u8", shape = [3, 2, 2]}> : () -> tensor<3x2x2xui8>
    %y = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "i32"}> : (tensor<?x4xui8, {dims = ["n"]}>, tensor<4x3xui8>) -> tensor<?x3xi32, {dims = ["n"]}> loc("y")
    %both = "tgn.dot"(%s, %t) <{dims = {lhs_batch = [0], rhs_batch = [0], lhs_contract = [2], rhs_contract = [1]}, out = "i32"}> : (tensor<2x9x4xi8>, tensor<2x4x5xui8>) -> tensor<2x9x5xi32> loc("both")
    %c = "tgn.slice"(%s) <{starts = [0, 0, 0], sizes = [2, 7, 4], steps = [1, 1, 1]}> : (tensor<2x9x4xi8>) -> tensor<2x7x4xi8> loc("c")
    %few = "tgn.dot"(%c, %t) <{dims = {lhs_batch = [0], rhs_batch = [0], lhs_contract = [2], rhs_contract = [1]}, out = "i32"}> : (tensor<2x7x4xi8>, tensor<2x4x5xui8>) -> tensor<2x7x5xi32> loc("few")
    %z = "tgn.conv"(%i, %f) <{window = {size = [2], strides = [2], dilations = [1], low = [1], high = [0]}, groups = 1, out = "i32"}> : (tensor<?x2x5xui8, {dims = ["n"]}>, tensor<3x2x2xui8>) -> tensor<?x3x3xi32, {dims = ["n"]}> loc("z")
    "tgn.return"(%y, %both, %few, %z) : (tensor<?x3xi32, {dims = ["n"]}>, tensor<2x9x5xi32>, tensor<2x7x5xi32>, tensor<?x3x3xi32, {dims = ["n"]}>) -> ()
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
// y: decomposed dot: the target takes its decomposition
// both: decomposed dot: the target takes its decomposition
// z: decomposed conv: the target takes its decomposition
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "s", "t", "i"], result_names = ["y", "both", "few", "z"]}> ({
  ^bb0(%0: tensor<?x4xui8, {dims = ["n"]}>, %1: tensor<2x9x4xi8>, %2: tensor<2x4x5xui8>, %3: tensor<?x2x5xui8, {dims = ["n"]}>):
    %4 = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x3xui8>, dtype = "u8", shape = [4, 3]}> : () -> tensor<4x3xui8>
    %5 = "tgn.constant"() <{id = dense_resource<const1> : tensor<3x2x2xui8>, dtype = "u8", shape = [3, 2, 2]}> : () -> tensor<3x2x2xui8>
    %11 = "tgn.constant"() <{id = dense_resource<const2> : tensor<4x3xi8>, dtype = "i8", shape = [4, 3]}> : () -> tensor<4x3xi8> loc("y")
    %12 = "tgn.dot"(%0, %11) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "i32"}> : (tensor<?x4xui8, {dims = ["n"]}>, tensor<4x3xi8>) -> tensor<?x3xi32, {dims = ["n"]}> loc("y")
    %13 = "tgn.elementwise"(%0) <{f = "cast:i32"}> : (tensor<?x4xui8, {dims = ["n"]}>) -> tensor<?x4xi32, {dims = ["n"]}> loc("y")
    %14 = "tgn.reduce"(%13) <{f = "add", axes = [1]}> : (tensor<?x4xi32, {dims = ["n"]}>) -> tensor<?x1xi32, {dims = ["n"]}> loc("y")
    %15 = "tgn.transpose"(%14) <{perm = [1, 0]}> : (tensor<?x1xi32, {dims = ["n"]}>) -> tensor<1x?xi32, {dims = ["n"]}> loc("y")
    %16 = "tgn.reshape"(%15) <{shape = ["n", 1]}> : (tensor<1x?xi32, {dims = ["n"]}>) -> tensor<?x1xi32, {dims = ["n"]}> loc("y")
    %17 = "tgn.splat"() <{dtype = "i32", shape = [1, 1], bits = 128}> : () -> tensor<1x1xi32> loc("y")
    %18 = "tgn.elementwise"(%16, %17) <{f = "mul"}> : (tensor<?x1xi32, {dims = ["n"]}>, tensor<1x1xi32>) -> tensor<?x1xi32, {dims = ["n"]}> loc("y")
    %19 = "tgn.elementwise"(%12, %18) <{f = "add"}> : (tensor<?x3xi32, {dims = ["n"]}>, tensor<?x1xi32, {dims = ["n"]}>) -> tensor<?x3xi32, {dims = ["n"]}> loc("y")
    %20 = "tgn.elementwise"(%1) <{f = "bitcast:u8"}> : (tensor<2x9x4xi8>) -> tensor<2x9x4xui8> loc("both")
    %21 = "tgn.splat"() <{dtype = "u8", shape = [1, 1, 1], bits = 128}> : () -> tensor<1x1x1xui8> loc("both")
    %22 = "tgn.elementwise"(%20, %21) <{f = "xor"}> : (tensor<2x9x4xui8>, tensor<1x1x1xui8>) -> tensor<2x9x4xui8> loc("both")
    %23 = "tgn.elementwise"(%2) <{f = "bitcast:u8"}> : (tensor<2x4x5xui8>) -> tensor<2x4x5xui8> loc("both")
    %24 = "tgn.splat"() <{dtype = "u8", shape = [1, 1, 1], bits = 128}> : () -> tensor<1x1x1xui8> loc("both")
    %25 = "tgn.elementwise"(%23, %24) <{f = "xor"}> : (tensor<2x4x5xui8>, tensor<1x1x1xui8>) -> tensor<2x4x5xui8> loc("both")
    %26 = "tgn.elementwise"(%25) <{f = "bitcast:i8"}> : (tensor<2x4x5xui8>) -> tensor<2x4x5xi8> loc("both")
    %27 = "tgn.dot"(%22, %26) <{dims = {lhs_batch = [0], rhs_batch = [0], lhs_contract = [2], rhs_contract = [1]}, out = "i32"}> : (tensor<2x9x4xui8>, tensor<2x4x5xi8>) -> tensor<2x9x5xi32> loc("both")
    %28 = "tgn.elementwise"(%26) <{f = "cast:i32"}> : (tensor<2x4x5xi8>) -> tensor<2x4x5xi32> loc("both")
    %29 = "tgn.reduce"(%28) <{f = "add", axes = [1]}> : (tensor<2x4x5xi32>) -> tensor<2x1x5xi32> loc("both")
    %30 = "tgn.splat"() <{dtype = "i32", shape = [1, 1, 1], bits = 4294967168}> : () -> tensor<1x1x1xi32> loc("both")
    %31 = "tgn.elementwise"(%29, %30) <{f = "mul"}> : (tensor<2x1x5xi32>, tensor<1x1x1xi32>) -> tensor<2x1x5xi32> loc("both")
    %32 = "tgn.elementwise"(%27, %31) <{f = "add"}> : (tensor<2x9x5xi32>, tensor<2x1x5xi32>) -> tensor<2x9x5xi32> loc("both")
    %33 = "tgn.elementwise"(%1) <{f = "cast:i32"}> : (tensor<2x9x4xi8>) -> tensor<2x9x4xi32> loc("both")
    %34 = "tgn.reduce"(%33) <{f = "add", axes = [2]}> : (tensor<2x9x4xi32>) -> tensor<2x9x1xi32> loc("both")
    %35 = "tgn.transpose"(%34) <{perm = [0, 2, 1]}> : (tensor<2x9x1xi32>) -> tensor<2x1x9xi32> loc("both")
    %36 = "tgn.reshape"(%35) <{shape = [2, 9, 1]}> : (tensor<2x1x9xi32>) -> tensor<2x9x1xi32> loc("both")
    %37 = "tgn.splat"() <{dtype = "i32", shape = [1, 1, 1], bits = 128}> : () -> tensor<1x1x1xi32> loc("both")
    %38 = "tgn.elementwise"(%36, %37) <{f = "mul"}> : (tensor<2x9x1xi32>, tensor<1x1x1xi32>) -> tensor<2x9x1xi32> loc("both")
    %39 = "tgn.elementwise"(%32, %38) <{f = "add"}> : (tensor<2x9x5xi32>, tensor<2x9x1xi32>) -> tensor<2x9x5xi32> loc("both")
    %8 = "tgn.slice"(%1) <{starts = [0, 0, 0], sizes = [2, 7, 4], steps = [1, 1, 1]}> : (tensor<2x9x4xi8>) -> tensor<2x7x4xi8> loc("c")
    %9 = "tgn.dot"(%8, %2) <{dims = {lhs_batch = [0], rhs_batch = [0], lhs_contract = [2], rhs_contract = [1]}, out = "i32"}> : (tensor<2x7x4xi8>, tensor<2x4x5xui8>) -> tensor<2x7x5xi32> loc("few")
    %40 = "tgn.constant"() <{id = dense_resource<const3> : tensor<3x2x2xi8>, dtype = "i8", shape = [3, 2, 2]}> : () -> tensor<3x2x2xi8> loc("z")
    %41 = "tgn.splat"() <{dtype = "i8", shape = [], bits = 0}> : () -> tensor<i8> loc("z")
    %42 = "tgn.pad"(%40, %41) <{low = [0, 0, 0], high = [0, 2, 0], mode = "constant"}> : (tensor<3x2x2xi8>, tensor<i8>) -> tensor<3x4x2xi8> loc("z")
    %43 = "tgn.splat"() <{dtype = "u8", shape = [], bits = 0}> : () -> tensor<ui8> loc("z")
    %44 = "tgn.pad"(%3, %43) <{low = [0, 0, 0], high = [0, 2, 0], mode = "constant"}> : (tensor<?x2x5xui8, {dims = ["n"]}>, tensor<ui8>) -> tensor<?x4x5xui8, {dims = ["n"]}> loc("z")
    %45 = "tgn.conv"(%44, %42) <{window = {size = [2], strides = [2], dilations = [1], low = [1], high = [0]}, groups = 1, out = "i32"}> : (tensor<?x4x5xui8, {dims = ["n"]}>, tensor<3x4x2xi8>) -> tensor<?x3x3xi32, {dims = ["n"]}> loc("z")
    %46 = "tgn.elementwise"(%3) <{f = "cast:i32"}> : (tensor<?x2x5xui8, {dims = ["n"]}>) -> tensor<?x2x5xi32, {dims = ["n"]}> loc("z")
    %47 = "tgn.reduce"(%46) <{f = "add", axes = [1]}> : (tensor<?x2x5xi32, {dims = ["n"]}>) -> tensor<?x1x5xi32, {dims = ["n"]}> loc("z")
    %48 = "tgn.splat"() <{dtype = "i32", shape = [1, 1, 2], bits = 1}> : () -> tensor<1x1x2xi32> loc("z")
    %49 = "tgn.conv"(%47, %48) <{window = {size = [2], strides = [2], dilations = [1], low = [1], high = [0]}, groups = 1, out = "i32"}> : (tensor<?x1x5xi32, {dims = ["n"]}>, tensor<1x1x2xi32>) -> tensor<?x1x3xi32, {dims = ["n"]}> loc("z")
    %50 = "tgn.splat"() <{dtype = "i32", shape = [1, 1, 1], bits = 128}> : () -> tensor<1x1x1xi32> loc("z")
    %51 = "tgn.elementwise"(%49, %50) <{f = "mul"}> : (tensor<?x1x3xi32, {dims = ["n"]}>, tensor<1x1x1xi32>) -> tensor<?x1x3xi32, {dims = ["n"]}> loc("z")
    %52 = "tgn.elementwise"(%45, %51) <{f = "add"}> : (tensor<?x3x3xi32, {dims = ["n"]}>, tensor<?x1x3xi32, {dims = ["n"]}>) -> tensor<?x3x3xi32, {dims = ["n"]}> loc("z")
    "tgn.return"(%19, %39, %9, %52) : (tensor<?x3xi32, {dims = ["n"]}>, tensor<2x9x5xi32>, tensor<2x7x5xi32>, tensor<?x3x3xi32, {dims = ["n"]}>) -> ()
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
