// Slices of slices join; a gather at one known place is a slice.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["b", "g"]}> ({
  ^bb0(%x: tensor<?x8xf32, {dims = ["n"]}>):
    %i = "tgn.splat"() <{dtype = "i64", shape = [], bits = -1}> : () -> tensor<i64>
    %a = "tgn.slice"(%x) <{starts = [0, 1], sizes = ["n", 3], steps = [1, 2]}> : (tensor<?x8xf32, {dims = ["n"]}>) -> tensor<?x3xf32, {dims = ["n"]}> loc("a")
    %b = "tgn.slice"(%a) <{starts = [0, 1], sizes = ["n", 2], steps = [1, 1]}> : (tensor<?x3xf32, {dims = ["n"]}>) -> tensor<?x2xf32, {dims = ["n"]}> loc("b")
    %g = "tgn.gather"(%x, %i) <{axis = 1}> : (tensor<?x8xf32, {dims = ["n"]}>, tensor<i64>) -> tensor<?xf32, {dims = ["n"]}> loc("g")
    "tgn.return"(%b, %g) : (tensor<?x2xf32, {dims = ["n"]}>, tensor<?xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
// -----
// b: slice(slice(x)) => slice(x)
// g: gather by one constant => slice
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["b", "g"]}> ({
  ^bb0(%0: tensor<?x8xf32, {dims = ["n"]}>):
    %5 = "tgn.slice"(%0) <{starts = [0, 3], sizes = ["n", 2], steps = [1, 2]}> : (tensor<?x8xf32, {dims = ["n"]}>) -> tensor<?x2xf32, {dims = ["n"]}> loc(fused["b", "a"])
    %6 = "tgn.slice"(%0) <{starts = [0, 7], sizes = ["n", 1], steps = [1, 1]}> : (tensor<?x8xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("g")
    %7 = "tgn.reshape"(%6) <{shape = ["n"]}> : (tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?xf32, {dims = ["n"]}> loc("g")
    "tgn.return"(%5, %7) : (tensor<?x2xf32, {dims = ["n"]}>, tensor<?xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
