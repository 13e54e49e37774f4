// The maximum with -inf and the minimum with inf do nothing, on either side; with any other number they do.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["c"]}> ({
  ^bb0(%x: tensor<?x2xf32, {dims = ["n"]}>):
    %low = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 4286578688}> : () -> tensor<1x1xf32>
    %high = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 2139095040}> : () -> tensor<1x1xf32>
    %a = "tgn.elementwise"(%low, %x) <{f = "max"}> : (tensor<1x1xf32>, tensor<?x2xf32, {dims = ["n"]}>) -> tensor<?x2xf32, {dims = ["n"]}> loc("a")
    %b = "tgn.elementwise"(%a, %high) <{f = "min"}> : (tensor<?x2xf32, {dims = ["n"]}>, tensor<1x1xf32>) -> tensor<?x2xf32, {dims = ["n"]}> loc("b")
    %c = "tgn.elementwise"(%b, %high) <{f = "max"}> : (tensor<?x2xf32, {dims = ["n"]}>, tensor<1x1xf32>) -> tensor<?x2xf32, {dims = ["n"]}> loc("c")
    "tgn.return"(%c) : (tensor<?x2xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
// -----
// a: x + 0, x - 0, x * 1, x / 1, x & true, x | false, max(x, -inf), min(x, inf) => x
// b: x + 0, x - 0, x * 1, x / 1, x & true, x | false, max(x, -inf), min(x, inf) => x
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["c"]}> ({
  ^bb0(%0: tensor<?x2xf32, {dims = ["n"]}>):
    %2 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 2139095040}> : () -> tensor<1x1xf32>
    %5 = "tgn.elementwise"(%0, %2) <{f = "max"}> : (tensor<?x2xf32, {dims = ["n"]}>, tensor<1x1xf32>) -> tensor<?x2xf32, {dims = ["n"]}> loc("c")
    "tgn.return"(%5) : (tensor<?x2xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
