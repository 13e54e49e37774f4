// Where the target multiplies `i16`, 16-bit integers meet stored bytes as they are; bytes that are no constant do not.
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
    %6 = "tgn.dot"(%0, %2) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "i32"}> : (tensor<?x4xi16, {dims = ["n"]}>, tensor<4x3xi8>) -> tensor<?x3xi32, {dims = ["n"]}> loc("y")
    %7 = "tgn.elementwise"(%6) <{f = "cast:f32"}> : (tensor<?x3xi32, {dims = ["n"]}>) -> tensor<?x3xf32, {dims = ["n"]}> loc("y")
    %5 = "tgn.dot"(%3, %1) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<4x3xi8>) -> tensor<?x3xf32, {dims = ["n"]}> loc("z")
    "tgn.return"(%7, %5) : (tensor<?x3xf32, {dims = ["n"]}>, tensor<?x3xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x40000000807FFF010203FE05060708F9"
    }
  }
#-}
