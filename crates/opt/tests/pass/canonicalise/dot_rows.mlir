// Leading axes of the left side join, and the reshape moves behind the epilogue.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w", "b"], result_names = ["a"]}> ({
  ^bb0(%x: tensor<?x3x4xf32, {dims = ["n"]}>, %w: tensor<4x8xf32>, %b: tensor<1x1x8xf32>):
    %y = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [2], rhs_contract = [0]}, out = "f32"}> : (tensor<?x3x4xf32, {dims = ["n"]}>, tensor<4x8xf32>) -> tensor<?x3x8xf32, {dims = ["n"]}> loc("y")
    %z = "tgn.elementwise"(%y, %b) <{f = "add"}> : (tensor<?x3x8xf32, {dims = ["n"]}>, tensor<1x1x8xf32>) -> tensor<?x3x8xf32, {dims = ["n"]}> loc("z")
    %a = "tgn.elementwise"(%z) <{f = "exp"}> : (tensor<?x3x8xf32, {dims = ["n"]}>) -> tensor<?x3x8xf32, {dims = ["n"]}> loc("a")
    "tgn.return"(%a) : (tensor<?x3x8xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
// -----
// y: dot => reshape(dot in normal form)
// z: f(reshape(x), y) => reshape(f(x, y'))
// a: f(reshape(x), y) => reshape(f(x, y'))
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w", "b"], result_names = ["a"]}> ({
  ^bb0(%0: tensor<?x3x4xf32, {dims = ["n"]}>, %1: tensor<4x8xf32>, %2: tensor<1x1x8xf32>):
    %6 = "tgn.reshape"(%0) <{shape = ["3*n", 4]}> : (tensor<?x3x4xf32, {dims = ["n"]}>) -> tensor<?x4xf32, {dims = ["3*n"]}> loc("y")
    %7 = "tgn.dot"(%6, %1) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["3*n"]}>, tensor<4x8xf32>) -> tensor<?x8xf32, {dims = ["3*n"]}> loc("y")
    %9 = "tgn.reshape"(%2) <{shape = [1, 8]}> : (tensor<1x1x8xf32>) -> tensor<1x8xf32> loc("z")
    %10 = "tgn.elementwise"(%7, %9) <{f = "add"}> : (tensor<?x8xf32, {dims = ["3*n"]}>, tensor<1x8xf32>) -> tensor<?x8xf32, {dims = ["3*n"]}> loc("z")
    %12 = "tgn.elementwise"(%10) <{f = "exp"}> : (tensor<?x8xf32, {dims = ["3*n"]}>) -> tensor<?x8xf32, {dims = ["3*n"]}> loc("a")
    %13 = "tgn.reshape"(%12) <{shape = ["n", 3, 8]}> : (tensor<?x8xf32, {dims = ["3*n"]}>) -> tensor<?x3x8xf32, {dims = ["n"]}> loc("y")
    "tgn.return"(%13) : (tensor<?x3x8xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
