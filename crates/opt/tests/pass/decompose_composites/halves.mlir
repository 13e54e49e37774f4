// 16-bit floats are widened before a contraction; of a product, constant weights stay as they are stored, and so does a computed right side that few rows read. A depthwise convolution reads vectors.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "s", "t", "i"], result_names = ["y", "few", "z", "d"]}> ({
  ^bb0(%x: tensor<?x4xf16, {dims = ["n"]}>, %s: tensor<2x9x4xf16>, %t: tensor<2x4x5xf16>, %i: tensor<1x4x5xf16>):
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x3xf16>, dtype = "f16", shape = [4, 3]}> : () -> tensor<4x3xf16>
    %f = "tgn.constant"() <{id = dense_resource<const1> : tensor<4x1x2xf16>, dtype = "f16", shape = [4, 1, 2]}> : () -> tensor<4x1x2xf16>
    %y = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f16"}> : (tensor<?x4xf16, {dims = ["n"]}>, tensor<4x3xf16>) -> tensor<?x3xf16, {dims = ["n"]}> loc("y")
    %few = "tgn.dot"(%x, %x) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [0], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf16, {dims = ["n"]}>, tensor<?x4xf16, {dims = ["n"]}>) -> tensor<4x4xf32> loc("few")
    %z = "tgn.dot"(%s, %t) <{dims = {lhs_batch = [0], rhs_batch = [0], lhs_contract = [2], rhs_contract = [1]}, out = "f32"}> : (tensor<2x9x4xf16>, tensor<2x4x5xf16>) -> tensor<2x9x5xf32> loc("z")
    %d = "tgn.conv"(%i, %f) <{window = {size = [2], strides = [1], dilations = [1], low = [0], high = [0]}, groups = 4, out = "f16"}> : (tensor<1x4x5xf16>, tensor<4x1x2xf16>) -> tensor<1x4x4xf16> loc("d")
    "tgn.return"(%y, %few, %z, %d) : (tensor<?x3xf16, {dims = ["n"]}>, tensor<4x4xf32>, tensor<2x9x5xf32>, tensor<1x4x4xf16>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x40000000003C003C003C003C003C003C003C003C003C003C003C003C",
      const1: "0x40000000003C003C003C003C003C003C003C003C"
    }
  }
#-}
// -----
// y: decomposed dot: the target takes its decomposition
// few: decomposed dot: the target takes its decomposition
// z: decomposed dot: the target takes its decomposition
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "s", "t", "i"], result_names = ["y", "few", "z", "d"]}> ({
  ^bb0(%0: tensor<?x4xf16, {dims = ["n"]}>, %1: tensor<2x9x4xf16>, %2: tensor<2x4x5xf16>, %3: tensor<1x4x5xf16>):
    %4 = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x3xf16>, dtype = "f16", shape = [4, 3]}> : () -> tensor<4x3xf16>
    %5 = "tgn.constant"() <{id = dense_resource<const1> : tensor<4x1x2xf16>, dtype = "f16", shape = [4, 1, 2]}> : () -> tensor<4x1x2xf16>
    %10 = "tgn.elementwise"(%0) <{f = "cast:f32"}> : (tensor<?x4xf16, {dims = ["n"]}>) -> tensor<?x4xf32, {dims = ["n"]}> loc("y")
    %11 = "tgn.dot"(%10, %4) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<4x3xf16>) -> tensor<?x3xf32, {dims = ["n"]}> loc("y")
    %12 = "tgn.elementwise"(%11) <{f = "cast:f16:wrap"}> : (tensor<?x3xf32, {dims = ["n"]}>) -> tensor<?x3xf16, {dims = ["n"]}> loc("y")
    %13 = "tgn.elementwise"(%0) <{f = "cast:f32"}> : (tensor<?x4xf16, {dims = ["n"]}>) -> tensor<?x4xf32, {dims = ["n"]}> loc("few")
    %14 = "tgn.dot"(%13, %0) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [0], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<?x4xf16, {dims = ["n"]}>) -> tensor<4x4xf32> loc("few")
    %15 = "tgn.elementwise"(%1) <{f = "cast:f32"}> : (tensor<2x9x4xf16>) -> tensor<2x9x4xf32> loc("z")
    %16 = "tgn.elementwise"(%2) <{f = "cast:f32"}> : (tensor<2x4x5xf16>) -> tensor<2x4x5xf32> loc("z")
    %17 = "tgn.dot"(%15, %16) <{dims = {lhs_batch = [0], rhs_batch = [0], lhs_contract = [2], rhs_contract = [1]}, out = "f32"}> : (tensor<2x9x4xf32>, tensor<2x4x5xf32>) -> tensor<2x9x5xf32> loc("z")
    %9 = "tgn.conv"(%3, %5) <{window = {size = [2], strides = [1], dilations = [1], low = [0], high = [0]}, groups = 4, out = "f16"}> : (tensor<1x4x5xf16>, tensor<4x1x2xf16>) -> tensor<1x4x4xf16> loc("d")
    "tgn.return"(%12, %14, %17, %9) : (tensor<?x3xf16, {dims = ["n"]}>, tensor<4x4xf32>, tensor<2x9x5xf32>, tensor<1x4x4xf16>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x40000000003C003C003C003C003C003C003C003C003C003C003C003C",
      const1: "0x40000000003C003C003C003C003C003C003C003C"
    }
  }
#-}
