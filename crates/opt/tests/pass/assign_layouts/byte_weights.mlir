// Weights of bytes are packed in groups of four steps, the last of which is not full; a single step goes by itself.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "u"], result_names = ["y", "z"]}> ({
  ^bb0(%x: tensor<?x6xui8, {dims = ["n"]}>, %u: tensor<?x1xui8, {dims = ["n"]}>):
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<6x3xi8>, dtype = "i8", shape = [6, 3]}> : () -> tensor<6x3xi8>
    %v = "tgn.constant"() <{id = dense_resource<const1> : tensor<1x3xi8>, dtype = "i8", shape = [1, 3]}> : () -> tensor<1x3xi8>
    %y = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "i32"}> : (tensor<?x6xui8, {dims = ["n"]}>, tensor<6x3xi8>) -> tensor<?x3xi32, {dims = ["n"]}> loc("y")
    %z = "tgn.dot"(%u, %v) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "i32"}> : (tensor<?x1xui8, {dims = ["n"]}>, tensor<1x3xi8>) -> tensor<?x3xi32, {dims = ["n"]}> loc("z")
    "tgn.return"(%y, %z) : (tensor<?x3xi32, {dims = ["n"]}>, tensor<?x3xi32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x010000000102030405060708090A0B0C0D0E0F1011FF", const1: "0x01000000010203" } }
#-}
// -----
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "u"], result_names = ["y", "z"]}> ({
  ^bb0(%0: tensor<?x6xui8, {dims = ["n"]}>, %1: tensor<?x1xui8, {dims = ["n"]}>):
    %2 = "tgn.constant"() <{id = dense_resource<const0> : tensor<6x3xi8>, dtype = "i8", shape = [6, 3]}> : () -> tensor<6x3xi8>
    %3 = "tgn.constant"() <{id = dense_resource<const1> : tensor<1x3xi8>, dtype = "i8", shape = [1, 3]}> : () -> tensor<1x3xi8>
    %12 = "tgn.relayout"(%2) <{layout = ["1/8", "0/4", "1%8", "0%4"]}> : (tensor<6x3xi8>) -> tensor<6x3xi8, {layout = ["1/8", "0/4", "1%8", "0%4"]}>
    %6 = "tgn.kernel"(%0, %12) <{class = "dot"}> ({
    ^bb0(%7: tensor<?x6xui8, {dims = ["n"]}>, %8: tensor<6x3xi8, {layout = ["1/8", "0/4", "1%8", "0%4"]}>):
      %4 = "tgn.dot"(%7, %8) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "i32"}> : (tensor<?x6xui8, {dims = ["n"]}>, tensor<6x3xi8, {layout = ["1/8", "0/4", "1%8", "0%4"]}>) -> tensor<?x3xi32, {dims = ["n"]}> loc("y")
      "tgn.yield"(%4) : (tensor<?x3xi32, {dims = ["n"]}>) -> ()
    }) : (tensor<?x6xui8, {dims = ["n"]}>, tensor<6x3xi8, {layout = ["1/8", "0/4", "1%8", "0%4"]}>) -> tensor<?x3xi32, {dims = ["n"]}> loc("y")
    %13 = "tgn.relayout"(%3) <{layout = ["1/8", "0", "1%8"]}> : (tensor<1x3xi8>) -> tensor<1x3xi8, {layout = ["1/8", "0", "1%8"]}>
    %9 = "tgn.kernel"(%1, %13) <{class = "dot"}> ({
    ^bb0(%10: tensor<?x1xui8, {dims = ["n"]}>, %11: tensor<1x3xi8, {layout = ["1/8", "0", "1%8"]}>):
      %5 = "tgn.dot"(%10, %11) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "i32"}> : (tensor<?x1xui8, {dims = ["n"]}>, tensor<1x3xi8, {layout = ["1/8", "0", "1%8"]}>) -> tensor<?x3xi32, {dims = ["n"]}> loc("z")
      "tgn.yield"(%5) : (tensor<?x3xi32, {dims = ["n"]}>) -> ()
    }) : (tensor<?x1xui8, {dims = ["n"]}>, tensor<1x3xi8, {layout = ["1/8", "0", "1%8"]}>) -> tensor<?x3xi32, {dims = ["n"]}> loc("z")
    "tgn.return"(%6, %9) : (tensor<?x3xi32, {dims = ["n"]}>, tensor<?x3xi32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x400000000102030405060708090A0B0C0D0E0F1011FF",
      const1: "0x40000000010203"
    }
  }
#-}
