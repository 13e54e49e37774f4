// Constant right sides are packed in panels.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "v"], result_names = ["y", "z"]}> ({
  ^bb0(%x: tensor<?x4xf32, {dims = ["n"]}>, %v: tensor<4x3xf32>):
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x3xf32>, dtype = "f32", shape = [4, 3]}> : () -> tensor<4x3xf32>
    %y = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<4x3xf32>) -> tensor<?x3xf32, {dims = ["n"]}> loc("y")
    %z = "tgn.dot"(%x, %v) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<4x3xf32>) -> tensor<?x3xf32, {dims = ["n"]}> loc("z")
    "tgn.return"(%y, %z) : (tensor<?x3xf32, {dims = ["n"]}>, tensor<?x3xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x400000000000803F0000004000004040000080400000A0400000C0400000E0400000004100001041000020410000304100004041" } }
#-}
// -----
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "v"], result_names = ["y", "z"]}> ({
  ^bb0(%0: tensor<?x4xf32, {dims = ["n"]}>, %1: tensor<4x3xf32>):
    %2 = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x3xf32>, dtype = "f32", shape = [4, 3]}> : () -> tensor<4x3xf32>
    %11 = "tgn.relayout"(%2) <{layout = ["1/8", "0", "1%8"]}> : (tensor<4x3xf32>) -> tensor<4x3xf32, {layout = ["1/8", "0", "1%8"]}>
    %5 = "tgn.kernel"(%0, %11) <{class = "dot"}> ({
    ^bb0(%6: tensor<?x4xf32, {dims = ["n"]}>, %7: tensor<4x3xf32, {layout = ["1/8", "0", "1%8"]}>):
      %3 = "tgn.dot"(%6, %7) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<4x3xf32, {layout = ["1/8", "0", "1%8"]}>) -> tensor<?x3xf32, {dims = ["n"]}> loc("y")
      "tgn.yield"(%3) : (tensor<?x3xf32, {dims = ["n"]}>) -> ()
    }) : (tensor<?x4xf32, {dims = ["n"]}>, tensor<4x3xf32, {layout = ["1/8", "0", "1%8"]}>) -> tensor<?x3xf32, {dims = ["n"]}> loc("y")
    %8 = "tgn.kernel"(%0, %1) <{class = "dot"}> ({
    ^bb0(%9: tensor<?x4xf32, {dims = ["n"]}>, %10: tensor<4x3xf32>):
      %4 = "tgn.dot"(%9, %10) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<4x3xf32>) -> tensor<?x3xf32, {dims = ["n"]}> loc("z")
      "tgn.yield"(%4) : (tensor<?x3xf32, {dims = ["n"]}>) -> ()
    }) : (tensor<?x4xf32, {dims = ["n"]}>, tensor<4x3xf32>) -> tensor<?x3xf32, {dims = ["n"]}> loc("z")
    "tgn.return"(%5, %8) : (tensor<?x3xf32, {dims = ["n"]}>, tensor<?x3xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x400000000000803F0000004000004040000080400000A0400000C0400000E0400000004100001041000020410000304100004041"
    }
  }
#-}
