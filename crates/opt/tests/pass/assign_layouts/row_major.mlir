// Without convolutions nothing changes.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<?x4xf32, {dims = ["n"]}>):
    %y = "tgn.elementwise"(%x) <{f = "exp"}> : (tensor<?x4xf32, {dims = ["n"]}>) -> tensor<?x4xf32, {dims = ["n"]}> loc("y")
    "tgn.return"(%y) : (tensor<?x4xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
// -----
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<?x4xf32, {dims = ["n"]}>):
    %2 = "tgn.kernel"(%0) <{class = "map"}> ({
    ^bb0(%3: tensor<?x4xf32, {dims = ["n"]}>):
      %1 = "tgn.elementwise"(%3) <{f = "exp"}> : (tensor<?x4xf32, {dims = ["n"]}>) -> tensor<?x4xf32, {dims = ["n"]}> loc("y")
      "tgn.yield"(%1) : (tensor<?x4xf32, {dims = ["n"]}>) -> ()
    }) : (tensor<?x4xf32, {dims = ["n"]}>) -> tensor<?x4xf32, {dims = ["n"]}> loc("y")
    "tgn.return"(%2) : (tensor<?x4xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
