// Scales behind products go along the columns of the result, whichever axis of the weights that is.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["a", "b"]}> ({
  ^bb0(%x: tensor<?x3xf32, {dims = ["n"]}>):
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<3x3xf32>, dtype = "f32", shape = [3, 3]}> : () -> tensor<3x3xf32> loc("w")
    %c = "tgn.constant"() <{id = dense_resource<const1> : tensor<1x3xf32>, dtype = "f32", shape = [1, 3]}> : () -> tensor<1x3xf32> loc("c")
    %y = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x3xf32, {dims = ["n"]}>, tensor<3x3xf32>) -> tensor<?x3xf32, {dims = ["n"]}> loc("y")
    %a = "tgn.elementwise"(%y, %c) <{f = "mul"}> : (tensor<?x3xf32, {dims = ["n"]}>, tensor<1x3xf32>) -> tensor<?x3xf32, {dims = ["n"]}> loc("a")
    %v = "tgn.constant"() <{id = dense_resource<const2> : tensor<2x3xf32>, dtype = "f32", shape = [2, 3]}> : () -> tensor<2x3xf32> loc("v")
    %d = "tgn.constant"() <{id = dense_resource<const3> : tensor<1x2xf32>, dtype = "f32", shape = [1, 2]}> : () -> tensor<1x2xf32> loc("d")
    %z = "tgn.dot"(%x, %v) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [1]}, out = "f32"}> : (tensor<?x3xf32, {dims = ["n"]}>, tensor<2x3xf32>) -> tensor<?x2xf32, {dims = ["n"]}> loc("z")
    %b = "tgn.elementwise"(%z, %d) <{f = "mul"}> : (tensor<?x2xf32, {dims = ["n"]}>, tensor<1x2xf32>) -> tensor<?x2xf32, {dims = ["n"]}> loc("b")
    "tgn.return"(%a, %b) : (tensor<?x3xf32, {dims = ["n"]}>, tensor<?x2xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x400000000000003F0000A0BF000000400000403F0000C03F000080BE000020C00000003E00004040",
      const1: "0x400000000000003F000040400000C0BF",
      const2: "0x400000000000A03F000000BF00000040000080BF0000803E0000403F",
      const3: "0x40000000000040BF00002040"
    }
  }
#-}
// -----
// a: conv(x, w) * c => conv(x, w * c)
// b: conv(x, w) * c => conv(x, w * c)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["a", "b"]}> ({
  ^bb0(%0: tensor<?x3xf32, {dims = ["n"]}>):
    %1 = "tgn.constant"() <{id = dense_resource<const0> : tensor<3x3xf32>, dtype = "f32", shape = [3, 3]}> : () -> tensor<3x3xf32> loc("w")
    %2 = "tgn.constant"() <{id = dense_resource<const1> : tensor<1x3xf32>, dtype = "f32", shape = [1, 3]}> : () -> tensor<1x3xf32> loc("c")
    %9 = "tgn.elementwise"(%1, %2) <{f = "mul"}> : (tensor<3x3xf32>, tensor<1x3xf32>) -> tensor<3x3xf32> loc("a")
    %10 = "tgn.dot"(%0, %9) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x3xf32, {dims = ["n"]}>, tensor<3x3xf32>) -> tensor<?x3xf32, {dims = ["n"]}> loc(fused["y", "a"])
    %5 = "tgn.constant"() <{id = dense_resource<const2> : tensor<2x3xf32>, dtype = "f32", shape = [2, 3]}> : () -> tensor<2x3xf32> loc("v")
    %6 = "tgn.constant"() <{id = dense_resource<const3> : tensor<1x2xf32>, dtype = "f32", shape = [1, 2]}> : () -> tensor<1x2xf32> loc("d")
    %11 = "tgn.reshape"(%6) <{shape = [2, 1]}> : (tensor<1x2xf32>) -> tensor<2x1xf32> loc("b")
    %12 = "tgn.elementwise"(%5, %11) <{f = "mul"}> : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32> loc("b")
    %13 = "tgn.dot"(%0, %12) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [1]}, out = "f32"}> : (tensor<?x3xf32, {dims = ["n"]}>, tensor<2x3xf32>) -> tensor<?x2xf32, {dims = ["n"]}> loc(fused["z", "b"])
    "tgn.return"(%10, %13) : (tensor<?x3xf32, {dims = ["n"]}>, tensor<?x2xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x400000000000003F0000A0BF000000400000403F0000C03F000080BE000020C00000003E00004040",
      const1: "0x400000000000003F000040400000C0BF",
      const2: "0x400000000000A03F000000BF00000040000080BF0000803E0000403F",
      const3: "0x40000000000040BF00002040"
    }
  }
#-}
