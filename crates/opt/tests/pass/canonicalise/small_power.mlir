// Squares, cubes and inverses are no calls of `pow`; halves are.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["a", "b", "c", "d"]}> ({
  ^bb0(%x: tensor<?x2xf32, {dims = ["n"]}>):
    %two = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1073741824}> : () -> tensor<1x1xf32>
    %three = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1077936128}> : () -> tensor<1x1xf32>
    %minus = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 3212836864}> : () -> tensor<1x1xf32>
    %half = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1056964608}> : () -> tensor<1x1xf32>
    %a = "tgn.elementwise"(%x, %two) <{f = "pow"}> : (tensor<?x2xf32, {dims = ["n"]}>, tensor<1x1xf32>) -> tensor<?x2xf32, {dims = ["n"]}> loc("a")
    %b = "tgn.elementwise"(%x, %three) <{f = "pow"}> : (tensor<?x2xf32, {dims = ["n"]}>, tensor<1x1xf32>) -> tensor<?x2xf32, {dims = ["n"]}> loc("b")
    %c = "tgn.elementwise"(%x, %minus) <{f = "pow"}> : (tensor<?x2xf32, {dims = ["n"]}>, tensor<1x1xf32>) -> tensor<?x2xf32, {dims = ["n"]}> loc("c")
    %d = "tgn.elementwise"(%x, %half) <{f = "pow"}> : (tensor<?x2xf32, {dims = ["n"]}>, tensor<1x1xf32>) -> tensor<?x2xf32, {dims = ["n"]}> loc("d")
    "tgn.return"(%a, %b, %c, %d) : (tensor<?x2xf32, {dims = ["n"]}>, tensor<?x2xf32, {dims = ["n"]}>, tensor<?x2xf32, {dims = ["n"]}>, tensor<?x2xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
// -----
// a: pow(x, 2), pow(x, 3), pow(x, -1) => x * x, x * x * x, 1 / x
// c: pow(x, 2), pow(x, 3), pow(x, -1) => x * x, x * x * x, 1 / x
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["a", "b", "c", "d"]}> ({
  ^bb0(%0: tensor<?x2xf32, {dims = ["n"]}>):
    %2 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1077936128}> : () -> tensor<1x1xf32>
    %4 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1056964608}> : () -> tensor<1x1xf32>
    %9 = "tgn.elementwise"(%0, %0) <{f = "mul"}> : (tensor<?x2xf32, {dims = ["n"]}>, tensor<?x2xf32, {dims = ["n"]}>) -> tensor<?x2xf32, {dims = ["n"]}> loc("a")
    %6 = "tgn.elementwise"(%0, %2) <{f = "pow"}> : (tensor<?x2xf32, {dims = ["n"]}>, tensor<1x1xf32>) -> tensor<?x2xf32, {dims = ["n"]}> loc("b")
    %10 = "tgn.elementwise"(%0) <{f = "reciprocal"}> : (tensor<?x2xf32, {dims = ["n"]}>) -> tensor<?x2xf32, {dims = ["n"]}> loc("c")
    %8 = "tgn.elementwise"(%0, %4) <{f = "pow"}> : (tensor<?x2xf32, {dims = ["n"]}>, tensor<1x1xf32>) -> tensor<?x2xf32, {dims = ["n"]}> loc("d")
    "tgn.return"(%9, %6, %10, %8) : (tensor<?x2xf32, {dims = ["n"]}>, tensor<?x2xf32, {dims = ["n"]}>, tensor<?x2xf32, {dims = ["n"]}>, tensor<?x2xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
