// The branch that is always taken replaces the choice.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<?x4xf32, {dims = ["n"]}>):
    %c = "tgn.splat"() <{dtype = "bool", shape = [], bits = 1}> : () -> tensor<i1>
    %y = "tgn.if"(%c) ({
      %e = "tgn.elementwise"(%x) <{f = "exp"}> : (tensor<?x4xf32, {dims = ["n"]}>) -> tensor<?x4xf32, {dims = ["n"]}> loc("e")
      "tgn.yield"(%e) : (tensor<?x4xf32, {dims = ["n"]}>) -> ()
    }, {
      "tgn.yield"(%x) : (tensor<?x4xf32, {dims = ["n"]}>) -> ()
    }) : (tensor<i1>) -> tensor<?x4xf32, {dims = ["n"]}> loc("y")
    "tgn.return"(%y) : (tensor<?x4xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
// -----
// y: the condition is always true
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<?x4xf32, {dims = ["n"]}>):
    %1 = "tgn.splat"() <{dtype = "bool", shape = [], bits = 1}> : () -> tensor<i1>
    %3 = "tgn.elementwise"(%0) <{f = "exp"}> : (tensor<?x4xf32, {dims = ["n"]}>) -> tensor<?x4xf32, {dims = ["n"]}> loc("e")
    "tgn.return"(%3) : (tensor<?x4xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
