// A reshape that adds an axis of extent 1 between computed values stays inside.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "y"], result_names = ["s"]}> ({
  ^bb0(%x: tensor<?xi32, {dims = ["n"]}>, %y: tensor<?x4xf32, {dims = ["n"]}>):
    %c = "tgn.elementwise"(%x) <{f = "cast:f32"}> : (tensor<?xi32, {dims = ["n"]}>) -> tensor<?xf32, {dims = ["n"]}> loc("c")
    %r = "tgn.reshape"(%c) <{shape = ["n", 1]}> : (tensor<?xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("r")
    %s = "tgn.elementwise"(%r, %y) <{f = "add"}> : (tensor<?x1xf32, {dims = ["n"]}>, tensor<?x4xf32, {dims = ["n"]}>) -> tensor<?x4xf32, {dims = ["n"]}> loc("s")
    "tgn.return"(%s) : (tensor<?x4xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
// -----
// r: fused reshape into add "s"
// c: fused cast:f32 into add "s"
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "y"], result_names = ["s"]}> ({
  ^bb0(%0: tensor<?xi32, {dims = ["n"]}>, %1: tensor<?x4xf32, {dims = ["n"]}>):
    %5 = "tgn.kernel"(%0, %1) <{class = "map"}> ({
    ^bb0(%6: tensor<?xi32, {dims = ["n"]}>, %7: tensor<?x4xf32, {dims = ["n"]}>):
      %2 = "tgn.elementwise"(%6) <{f = "cast:f32"}> : (tensor<?xi32, {dims = ["n"]}>) -> tensor<?xf32, {dims = ["n"]}> loc("c")
      %3 = "tgn.reshape"(%2) <{shape = ["n", 1]}> : (tensor<?xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("r")
      %4 = "tgn.elementwise"(%3, %7) <{f = "add"}> : (tensor<?x1xf32, {dims = ["n"]}>, tensor<?x4xf32, {dims = ["n"]}>) -> tensor<?x4xf32, {dims = ["n"]}> loc("s")
      "tgn.yield"(%4) : (tensor<?x4xf32, {dims = ["n"]}>) -> ()
    }) : (tensor<?xi32, {dims = ["n"]}>, tensor<?x4xf32, {dims = ["n"]}>) -> tensor<?x4xf32, {dims = ["n"]}> loc(fused["s", "c", "r"])
    "tgn.return"(%5) : (tensor<?x4xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
