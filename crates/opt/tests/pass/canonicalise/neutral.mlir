// Adding -0, multiplying by 1 and casting to the same type do nothing.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["c"]}> ({
  ^bb0(%x: tensor<?x2xf32, {dims = ["n"]}>):
    %one = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1065353216}> : () -> tensor<1x1xf32>
    %z = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 2147483648}> : () -> tensor<1x1xf32>
    %a = "tgn.elementwise"(%x, %one) <{f = "mul"}> : (tensor<?x2xf32, {dims = ["n"]}>, tensor<1x1xf32>) -> tensor<?x2xf32, {dims = ["n"]}> loc("a")
    %b = "tgn.elementwise"(%a, %z) <{f = "add"}> : (tensor<?x2xf32, {dims = ["n"]}>, tensor<1x1xf32>) -> tensor<?x2xf32, {dims = ["n"]}> loc("b")
    %c = "tgn.elementwise"(%b) <{f = "cast:f32"}> : (tensor<?x2xf32, {dims = ["n"]}>) -> tensor<?x2xf32, {dims = ["n"]}> loc("c")
    "tgn.return"(%c) : (tensor<?x2xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
// -----
// a: x + 0, x - 0, x * 1, x / 1, x & true, x | false, max(x, -inf), min(x, inf) => x
// b: x + 0, x - 0, x * 1, x / 1, x & true, x | false, max(x, -inf), min(x, inf) => x
// c: cast to the same type => x
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["c"]}> ({
  ^bb0(%0: tensor<?x2xf32, {dims = ["n"]}>):
    "tgn.return"(%0) : (tensor<?x2xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
