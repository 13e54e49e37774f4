// A cast with two readers is computed in each.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["t", "s"]}> ({
  ^bb0(%x: tensor<?x5xi32, {dims = ["n"]}>):
    %e = "tgn.elementwise"(%x) <{f = "cast:f32"}> : (tensor<?x5xi32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("e")
    %t = "tgn.transpose"(%e) <{perm = [1, 0]}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<5x?xf32, {dims = ["n"]}> loc("t")
    %s = "tgn.slice"(%e) <{starts = [0, 1], sizes = ["n", 2], steps = [1, 1]}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x2xf32, {dims = ["n"]}> loc("s")
    "tgn.return"(%t, %s) : (tensor<5x?xf32, {dims = ["n"]}>, tensor<?x2xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
// -----
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["t", "s"]}> ({
  ^bb0(%0: tensor<?x5xi32, {dims = ["n"]}>):
    %4 = "tgn.kernel"(%0) <{class = "map"}> ({
    ^bb0(%5: tensor<?x5xi32, {dims = ["n"]}>):
      %6 = "tgn.elementwise"(%5) <{f = "cast:f32"}> : (tensor<?x5xi32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("e")
      %2 = "tgn.transpose"(%6) <{perm = [1, 0]}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<5x?xf32, {dims = ["n"]}> loc("t")
      "tgn.yield"(%2) : (tensor<5x?xf32, {dims = ["n"]}>) -> ()
    }) : (tensor<?x5xi32, {dims = ["n"]}>) -> tensor<5x?xf32, {dims = ["n"]}> loc(fused["t", "e"])
    %7 = "tgn.kernel"(%0) <{class = "map"}> ({
    ^bb0(%8: tensor<?x5xi32, {dims = ["n"]}>):
      %9 = "tgn.elementwise"(%8) <{f = "cast:f32"}> : (tensor<?x5xi32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("e")
      %3 = "tgn.slice"(%9) <{starts = [0, 1], sizes = ["n", 2], steps = [1, 1]}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x2xf32, {dims = ["n"]}> loc("s")
      "tgn.yield"(%3) : (tensor<?x2xf32, {dims = ["n"]}>) -> ()
    }) : (tensor<?x5xi32, {dims = ["n"]}>) -> tensor<?x2xf32, {dims = ["n"]}> loc(fused["s", "e"])
    "tgn.return"(%4, %7) : (tensor<5x?xf32, {dims = ["n"]}>, tensor<?x2xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
