// A right side repeated for each batch needs no batch.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<?x3x4xf32, {dims = ["n"]}>, %w: tensor<1x4x2xf32>):
    %b = "tgn.broadcast"(%w) <{shape = ["n", 4, 2]}> : (tensor<1x4x2xf32>) -> tensor<?x4x2xf32, {dims = ["n"]}> loc("b")
    %y = "tgn.dot"(%x, %b) <{dims = {lhs_batch = [0], rhs_batch = [0], lhs_contract = [2], rhs_contract = [1]}, out = "f32"}> : (tensor<?x3x4xf32, {dims = ["n"]}>, tensor<?x4x2xf32, {dims = ["n"]}>) -> tensor<?x3x2xf32, {dims = ["n"]}> loc("y")
    "tgn.return"(%y) : (tensor<?x3x2xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
// -----
// y: dot(x, broadcast(w)) => dot(x, w) where only batch axes repeat
// y: dot => reshape(dot in normal form)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<?x3x4xf32, {dims = ["n"]}>, %1: tensor<1x4x2xf32>):
    %4 = "tgn.reshape"(%1) <{shape = [4, 2]}> : (tensor<1x4x2xf32>) -> tensor<4x2xf32> loc("y")
    %6 = "tgn.reshape"(%0) <{shape = ["3*n", 4]}> : (tensor<?x3x4xf32, {dims = ["n"]}>) -> tensor<?x4xf32, {dims = ["3*n"]}> loc("y")
    %7 = "tgn.dot"(%6, %4) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["3*n"]}>, tensor<4x2xf32>) -> tensor<?x2xf32, {dims = ["3*n"]}> loc(fused["y", "b"])
    %8 = "tgn.reshape"(%7) <{shape = ["n", 3, 2]}> : (tensor<?x2xf32, {dims = ["3*n"]}>) -> tensor<?x3x2xf32, {dims = ["n"]}> loc("y")
    "tgn.return"(%8) : (tensor<?x3x2xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
