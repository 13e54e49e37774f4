// An exponential with two readers is computed once, in a kernel of its own.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["t", "s"]}> ({
  ^bb0(%x: tensor<?x5xf32, {dims = ["n"]}>):
    %e = "tgn.elementwise"(%x) <{f = "exp"}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("e")
    %t = "tgn.transpose"(%e) <{perm = [1, 0]}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<5x?xf32, {dims = ["n"]}> loc("t")
    %s = "tgn.slice"(%e) <{starts = [0, 1], sizes = ["n", 2], steps = [1, 1]}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x2xf32, {dims = ["n"]}> loc("s")
    "tgn.return"(%t, %s) : (tensor<5x?xf32, {dims = ["n"]}>, tensor<?x2xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
// -----
// e: not fused: 2 users
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["t", "s"]}> ({
  ^bb0(%0: tensor<?x5xf32, {dims = ["n"]}>):
    %4 = "tgn.kernel"(%0) <{class = "map"}> ({
    ^bb0(%5: tensor<?x5xf32, {dims = ["n"]}>):
      %1 = "tgn.elementwise"(%5) <{f = "exp"}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("e")
      "tgn.yield"(%1) : (tensor<?x5xf32, {dims = ["n"]}>) -> ()
    }) : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("e")
    %6 = "tgn.kernel"(%4) <{class = "map"}> ({
    ^bb0(%7: tensor<?x5xf32, {dims = ["n"]}>):
      %2 = "tgn.transpose"(%7) <{perm = [1, 0]}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<5x?xf32, {dims = ["n"]}> loc("t")
      "tgn.yield"(%2) : (tensor<5x?xf32, {dims = ["n"]}>) -> ()
    }) : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<5x?xf32, {dims = ["n"]}> loc("t")
    %8 = "tgn.kernel"(%4) <{class = "map"}> ({
    ^bb0(%9: tensor<?x5xf32, {dims = ["n"]}>):
      %3 = "tgn.slice"(%9) <{starts = [0, 1], sizes = ["n", 2], steps = [1, 1]}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x2xf32, {dims = ["n"]}> loc("s")
      "tgn.yield"(%3) : (tensor<?x2xf32, {dims = ["n"]}>) -> ()
    }) : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x2xf32, {dims = ["n"]}> loc("s")
    "tgn.return"(%6, %8) : (tensor<5x?xf32, {dims = ["n"]}>, tensor<?x2xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
