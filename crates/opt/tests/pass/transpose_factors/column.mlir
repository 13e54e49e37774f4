// Long rows by a single column are multiplied and summed, batch by batch; also where the column lies as a row.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w", "r"], result_names = ["y", "z"]}> ({
  ^bb0(%x: tensor<3x?x64xf32, {dims = ["n"]}>, %w: tensor<3x64x1xf32>, %r: tensor<3x1x64xf32>):
    %y = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [0], lhs_contract = [2], rhs_batch = [0], rhs_contract = [1]}, out = "f32"}> : (tensor<3x?x64xf32, {dims = ["n"]}>, tensor<3x64x1xf32>) -> tensor<3x?x1xf32, {dims = ["n"]}> loc("y")
    %z = "tgn.dot"(%x, %r) <{dims = {lhs_batch = [0], lhs_contract = [2], rhs_batch = [0], rhs_contract = [2]}, out = "f32"}> : (tensor<3x?x64xf32, {dims = ["n"]}>, tensor<3x1x64xf32>) -> tensor<3x?x1xf32, {dims = ["n"]}> loc("z")
    "tgn.return"(%y, %z) : (tensor<3x?x1xf32, {dims = ["n"]}>, tensor<3x?x1xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// y: dot(x, column) => sum(x * row)
// z: dot(x, column) => sum(x * row)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w", "r"], result_names = ["y", "z"]}> ({
  ^bb0(%0: tensor<3x?x64xf32, {dims = ["n"]}>, %1: tensor<3x64x1xf32>, %2: tensor<3x1x64xf32>):
    %5 = "tgn.reshape"(%1) <{shape = [3, 1, 64]}> : (tensor<3x64x1xf32>) -> tensor<3x1x64xf32> loc("y")
    %6 = "tgn.elementwise"(%0, %5) <{f = "mul"}> : (tensor<3x?x64xf32, {dims = ["n"]}>, tensor<3x1x64xf32>) -> tensor<3x?x64xf32, {dims = ["n"]}> loc("y")
    %7 = "tgn.reduce"(%6) <{f = "add", axes = [2]}> : (tensor<3x?x64xf32, {dims = ["n"]}>) -> tensor<3x?x1xf32, {dims = ["n"]}> loc(fused[fused["y"]])
    %8 = "tgn.elementwise"(%0, %2) <{f = "mul"}> : (tensor<3x?x64xf32, {dims = ["n"]}>, tensor<3x1x64xf32>) -> tensor<3x?x64xf32, {dims = ["n"]}> loc("z")
    %9 = "tgn.reduce"(%8) <{f = "add", axes = [2]}> : (tensor<3x?x64xf32, {dims = ["n"]}>) -> tensor<3x?x1xf32, {dims = ["n"]}> loc(fused[fused["z"]])
    "tgn.return"(%7, %9) : (tensor<3x?x1xf32, {dims = ["n"]}>, tensor<3x?x1xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) : () -> ()
