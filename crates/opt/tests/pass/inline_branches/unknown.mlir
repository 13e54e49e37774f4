// A condition of the input stays.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["c", "x"], result_names = ["y"]}> ({
  ^bb0(%c: tensor<i1>, %x: tensor<?x4xf32, {dims = ["n"]}>):
    %y = "tgn.if"(%c) ({
      %e = "tgn.elementwise"(%x) <{f = "exp"}> : (tensor<?x4xf32, {dims = ["n"]}>) -> tensor<?x4xf32, {dims = ["n"]}> loc("e")
      "tgn.yield"(%e) : (tensor<?x4xf32, {dims = ["n"]}>) -> ()
    }, {
      "tgn.yield"(%x) : (tensor<?x4xf32, {dims = ["n"]}>) -> ()
    }) : (tensor<i1>) -> tensor<?x4xf32, {dims = ["n"]}> loc("y")
    "tgn.return"(%y) : (tensor<?x4xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 1}}} : () -> ()
// -----
// unchanged
