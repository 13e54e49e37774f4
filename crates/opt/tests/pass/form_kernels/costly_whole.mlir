// What all elements become one number of is stored where it is costly, in a kernel of many threads; both reductions then share one that reads it.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<?x5xf32, {dims = ["n"]}>):
    %t = "tgn.elementwise"(%x) <{f = "tanh"}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("t")
    %a = "tgn.reduce"(%t) <{f = "max", axes = [0, 1]}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<1x1xf32> loc("a")
    %b = "tgn.reduce"(%t) <{f = "min", axes = [0, 1]}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<1x1xf32> loc("b")
    %s = "tgn.elementwise"(%a, %b) <{f = "sub"}> : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32> loc("s")
    %q = "tgn.elementwise"(%t, %s) <{f = "mul"}> : (tensor<?x5xf32, {dims = ["n"]}>, tensor<1x1xf32>) -> tensor<?x5xf32, {dims = ["n"]}> loc("q")
    %y = "tgn.elementwise"(%q) <{f = "cast:u8"}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xui8, {dims = ["n"]}> loc("y")
    "tgn.return"(%y) : (tensor<?x5xui8, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
// -----
// b: fused reduce min into reduce max "a"
// s: fused sub into reduce max "a"
// q: fused mul into reduce max "a"
// y: fused cast:u8 into reduce max "a"
// t: not fused into reduce max "a": it would be computed again in every pass over the row
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<?x5xf32, {dims = ["n"]}>):
    %7 = "tgn.kernel"(%0) <{class = "map"}> ({
    ^bb0(%8: tensor<?x5xf32, {dims = ["n"]}>):
      %1 = "tgn.elementwise"(%8) <{f = "tanh"}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("t")
      "tgn.yield"(%1) : (tensor<?x5xf32, {dims = ["n"]}>) -> ()
    }) : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("t")
    %9 = "tgn.kernel"(%7) <{class = "rows"}> ({
    ^bb0(%10: tensor<?x5xf32, {dims = ["n"]}>):
      %2 = "tgn.reduce"(%10) <{f = "max", axes = [0, 1]}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<1x1xf32> loc("a")
      %3 = "tgn.reduce"(%10) <{f = "min", axes = [0, 1]}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<1x1xf32> loc("b")
      %4 = "tgn.elementwise"(%2, %3) <{f = "sub"}> : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32> loc("s")
      %5 = "tgn.elementwise"(%10, %4) <{f = "mul"}> : (tensor<?x5xf32, {dims = ["n"]}>, tensor<1x1xf32>) -> tensor<?x5xf32, {dims = ["n"]}> loc("q")
      %6 = "tgn.elementwise"(%5) <{f = "cast:u8"}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xui8, {dims = ["n"]}> loc("y")
      "tgn.yield"(%6) : (tensor<?x5xui8, {dims = ["n"]}>) -> ()
    }) : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xui8, {dims = ["n"]}> loc(fused["a", "b", "s", "q", "y"])
    "tgn.return"(%9) : (tensor<?x5xui8, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
