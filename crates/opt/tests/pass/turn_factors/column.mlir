// Long rows by a single column are multiplied and summed, batch by batch.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<3x?x64xf32, {dims = ["n"]}>, %w: tensor<3x64x1xf32>):
    %y = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [0], lhs_contract = [2], rhs_batch = [0], rhs_contract = [1]}, out = "f32"}> : (tensor<3x?x64xf32, {dims = ["n"]}>, tensor<3x64x1xf32>) -> tensor<3x?x1xf32, {dims = ["n"]}> loc("y")
    "tgn.return"(%y) : (tensor<3x?x1xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// y: dot(x, column) => sum(x * row)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<3x?x64xf32, {dims = ["n"]}>, %1: tensor<3x64x1xf32>):
    %3 = "tgn.reshape"(%1) <{shape = [3, 1, 64]}> : (tensor<3x64x1xf32>) -> tensor<3x1x64xf32> loc("y")
    %4 = "tgn.elementwise"(%0, %3) <{f = "mul"}> : (tensor<3x?x64xf32, {dims = ["n"]}>, tensor<3x1x64xf32>) -> tensor<3x?x64xf32, {dims = ["n"]}> loc("y")
    %5 = "tgn.reduce"(%4) <{f = "add", axes = [2]}> : (tensor<3x?x64xf32, {dims = ["n"]}>) -> tensor<3x?x1xf32, {dims = ["n"]}> loc("y")
    "tgn.return"(%5) : (tensor<3x?x1xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) : () -> ()
