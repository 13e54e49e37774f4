// A right side whose columns come first is transposed, unless it is constant.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y", "z"]}> ({
  ^bb0(%x: tensor<?x4xf32, {dims = ["n"]}>, %w: tensor<2x4xf32>):
    %c = "tgn.constant"() <{id = dense_resource<const0> : tensor<2x4xf32>, dtype = "f32", shape = [2, 4]}> : () -> tensor<2x4xf32>
    %y = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [1]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<2x4xf32>) -> tensor<?x2xf32, {dims = ["n"]}> loc("y")
    %z = "tgn.dot"(%x, %c) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [1]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<2x4xf32>) -> tensor<?x2xf32, {dims = ["n"]}> loc("z")
    "tgn.return"(%y, %z) : (tensor<?x2xf32, {dims = ["n"]}>, tensor<?x2xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x400000000000803F0000004000004040000080400000A0400000C0400000E04000000041" } }
#-}
// -----
// y: dot => reshape(dot in normal form)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y", "z"]}> ({
  ^bb0(%0: tensor<?x4xf32, {dims = ["n"]}>, %1: tensor<2x4xf32>):
    %2 = "tgn.constant"() <{id = dense_resource<const0> : tensor<2x4xf32>, dtype = "f32", shape = [2, 4]}> : () -> tensor<2x4xf32>
    %5 = "tgn.transpose"(%1) <{perm = [1, 0]}> : (tensor<2x4xf32>) -> tensor<4x2xf32> loc("y")
    %6 = "tgn.dot"(%0, %5) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<4x2xf32>) -> tensor<?x2xf32, {dims = ["n"]}> loc("y")
    %4 = "tgn.dot"(%0, %2) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [1]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<2x4xf32>) -> tensor<?x2xf32, {dims = ["n"]}> loc("z")
    "tgn.return"(%6, %4) : (tensor<?x2xf32, {dims = ["n"]}>, tensor<?x2xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x400000000000803F0000004000004040000080400000A0400000C0400000E04000000041"
    }
  }
#-}
