// A constant whose shape has a symbol cannot be packed at compile time: it stays as it is.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<2x?xf32, {dims = ["n"]}>):
    "tgn.assert_size"() <{left = "n", right = "4", message = "n"}> : () -> ()
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x3xf32>, dtype = "f32", shape = [4, 3]}> : () -> tensor<4x3xf32>
    %r = "tgn.reshape"(%w) <{shape = ["n", 3]}> : (tensor<4x3xf32>) -> tensor<?x3xf32, {dims = ["n"]}>
    %y = "tgn.dot"(%x, %r) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x?xf32, {dims = ["n"]}>, tensor<?x3xf32, {dims = ["n"]}>) -> tensor<2x3xf32> loc("y")
    "tgn.return"(%y) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 1, input = 0}}} : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x400000000000803F0000004000004040000080400000A0400000C0400000E0400000004100001041000020410000304100004041" } }
#-}
// -----
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<2x?xf32, {dims = ["n"]}>):
    "tgn.assert_size"() <{left = "n", right = 4, message = "n"}> : () -> ()
    %1 = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x3xf32>, dtype = "f32", shape = [4, 3]}> : () -> tensor<4x3xf32>
    %2 = "tgn.reshape"(%1) <{shape = ["n", 3]}> : (tensor<4x3xf32>) -> tensor<?x3xf32, {dims = ["n"]}>
    %4 = "tgn.kernel"(%0, %2) <{class = "dot"}> ({
    ^bb0(%5: tensor<2x?xf32, {dims = ["n"]}>, %6: tensor<?x3xf32, {dims = ["n"]}>):
      %3 = "tgn.dot"(%5, %6) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x?xf32, {dims = ["n"]}>, tensor<?x3xf32, {dims = ["n"]}>) -> tensor<2x3xf32> loc("y")
      "tgn.yield"(%3) : (tensor<2x3xf32>) -> ()
    }) : (tensor<2x?xf32, {dims = ["n"]}>, tensor<?x3xf32, {dims = ["n"]}>) -> tensor<2x3xf32> loc("y")
    "tgn.return"(%4) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 1}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x400000000000803F0000004000004040000080400000A0400000C0400000E0400000004100001041000020410000304100004041"
    }
  }
#-}
