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
      %8 = "tgn.reduce"(%7) <{f = "max", axes = [1]}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("m")
      %9 = "tgn.elementwise"(%7, %8) <{f = "sub"}> : (tensor<?x5xf32, {dims = ["n"]}>, tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("s")
      %10 = "tgn.elementwise"(%9) <{f = "exp"}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("e")
      %11 = "tgn.reduce"(%10) <{f = "add", axes = [1]}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("t")
      %12 = "tgn.elementwise"(%10, %11) <{f = "div"}> : (tensor<?x5xf32, {dims = ["n"]}>, tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("y")
      "tgn.yield"(%12) : (tensor<?x5xf32, {dims = ["n"]}>) -> ()
    }) : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("m+s+e+t+1 more")
    "tgn.return"(%6) : (tensor<?x5xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
