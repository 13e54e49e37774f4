// What kernels are made of stays.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<?x4xf32, {dims = ["n"]}>):
    %y = "tgn.elementwise"(%x) <{f = "exp"}> : (tensor<?x4xf32, {dims = ["n"]}>) -> tensor<?x4xf32, {dims = ["n"]}> loc("y")
    "tgn.return"(%y) : (tensor<?x4xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
// -----
// unchanged
