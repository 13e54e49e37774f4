// Two reductions over the same rows, and what lies between and after them, are one kernel.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<?x5xf32, {dims = ["n"]}>):
    %m = "tgn.reduce"(%x) <{f = "max", axes = [1]}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("m")
    %s = "tgn.elementwise"(%x, %m) <{f = "sub"}> : (tensor<?x5xf32, {dims = ["n"]}>, tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("s")
    %e = "tgn.elementwise"(%s) <{f = "exp"}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("e")
    %t = "tgn.reduce"(%e) <{f = "add", axes = [1]}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("t")
    %y = "tgn.elementwise"(%e, %t) <{f = "div"}> : (tensor<?x5xf32, {dims = ["n"]}>, tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("y")
    "tgn.return"(%y) : (tensor<?x5xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
// -----
// s: fused sub into reduce max "m"
// e: fused exp into reduce max "m"
// t: fused reduce add into reduce max "m"
// y: fused div into reduce max "m"
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<?x5xf32, {dims = ["n"]}>):
    %6 = "tgn.kernel"(%0) <{class = "rows"}> ({
    ^bb0(%7: tensor<?x5xf32, {dims = ["n"]}>):
      %1 = "tgn.reduce"(%7) <{f = "max", axes = [1]}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("m")
      %2 = "tgn.elementwise"(%7, %1) <{f = "sub"}> : (tensor<?x5xf32, {dims = ["n"]}>, tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("s")
      %3 = "tgn.elementwise"(%2) <{f = "exp"}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("e")
      %4 = "tgn.reduce"(%3) <{f = "add", axes = [1]}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("t")
      %5 = "tgn.elementwise"(%3, %4) <{f = "div"}> : (tensor<?x5xf32, {dims = ["n"]}>, tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("y")
      "tgn.yield"(%5) : (tensor<?x5xf32, {dims = ["n"]}>) -> ()
    }) : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc(fused["m", "s", "e", "t", "y"])
    "tgn.return"(%6) : (tensor<?x5xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
