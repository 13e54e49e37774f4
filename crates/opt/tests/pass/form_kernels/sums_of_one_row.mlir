// Two sums that only one kernel reads are done there.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<?x5xf32, {dims = ["n"]}>):
    %q = "tgn.elementwise"(%x, %x) <{f = "mul"}> : (tensor<?x5xf32, {dims = ["n"]}>, tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("q")
    %a = "tgn.reduce"(%x) <{f = "add", axes = [1]}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("a")
    %b = "tgn.reduce"(%q) <{f = "add", axes = [1]}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("b")
    %c = "tgn.elementwise"(%a, %a) <{f = "mul"}> : (tensor<?x1xf32, {dims = ["n"]}>, tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("c")
    %d = "tgn.elementwise"(%b, %c) <{f = "sub"}> : (tensor<?x1xf32, {dims = ["n"]}>, tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("d")
    %y = "tgn.elementwise"(%x, %d) <{f = "mul"}> : (tensor<?x5xf32, {dims = ["n"]}>, tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("y")
    "tgn.return"(%y) : (tensor<?x5xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
// -----
// b: fused reduce add into mul "q"
// c: fused mul into reduce add "a"
// d: fused sub into reduce add "a"
// y: fused mul into reduce add "a"
// q: fused into reduce add "a": the same rows
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<?x5xf32, {dims = ["n"]}>):
    %7 = "tgn.kernel"(%0) <{class = "rows"}> ({
    ^bb0(%8: tensor<?x5xf32, {dims = ["n"]}>):
      %1 = "tgn.elementwise"(%8, %8) <{f = "mul"}> : (tensor<?x5xf32, {dims = ["n"]}>, tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("q")
      %2 = "tgn.reduce"(%8) <{f = "add", axes = [1]}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("a")
      %3 = "tgn.reduce"(%1) <{f = "add", axes = [1]}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("b")
      %4 = "tgn.elementwise"(%2, %2) <{f = "mul"}> : (tensor<?x1xf32, {dims = ["n"]}>, tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("c")
      %5 = "tgn.elementwise"(%3, %4) <{f = "sub"}> : (tensor<?x1xf32, {dims = ["n"]}>, tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("d")
      %6 = "tgn.elementwise"(%8, %5) <{f = "mul"}> : (tensor<?x5xf32, {dims = ["n"]}>, tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("y")
      "tgn.yield"(%6) : (tensor<?x5xf32, {dims = ["n"]}>) -> ()
    }) : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc(fused["a", "q", "b", "c", "d", "y"])
    "tgn.return"(%7) : (tensor<?x5xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
