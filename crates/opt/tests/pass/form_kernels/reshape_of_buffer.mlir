// A reshape of a buffer only renames it and stays outside.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["t"]}> ({
  ^bb0(%x: tensor<?x6xf32, {dims = ["n"]}>):
    %e = "tgn.elementwise"(%x) <{f = "exp"}> : (tensor<?x6xf32, {dims = ["n"]}>) -> tensor<?x6xf32, {dims = ["n"]}> loc("e")
    %r = "tgn.reshape"(%e) <{shape = ["n", 2, 3]}> : (tensor<?x6xf32, {dims = ["n"]}>) -> tensor<?x2x3xf32, {dims = ["n"]}> loc("r")
    %t = "tgn.transpose"(%r) <{perm = [0, 2, 1]}> : (tensor<?x2x3xf32, {dims = ["n"]}>) -> tensor<?x3x2xf32, {dims = ["n"]}> loc("t")
    "tgn.return"(%t) : (tensor<?x3x2xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
// -----
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["t"]}> ({
  ^bb0(%0: tensor<?x6xf32, {dims = ["n"]}>):
    %4 = "tgn.kernel"(%0) <{class = "map"}> ({
    ^bb0(%5: tensor<?x6xf32, {dims = ["n"]}>):
      %1 = "tgn.elementwise"(%5) <{f = "exp"}> : (tensor<?x6xf32, {dims = ["n"]}>) -> tensor<?x6xf32, {dims = ["n"]}> loc("e")
      "tgn.yield"(%1) : (tensor<?x6xf32, {dims = ["n"]}>) -> ()
    }) : (tensor<?x6xf32, {dims = ["n"]}>) -> tensor<?x6xf32, {dims = ["n"]}> loc("e")
    %2 = "tgn.reshape"(%4) <{shape = ["n", 2, 3]}> : (tensor<?x6xf32, {dims = ["n"]}>) -> tensor<?x2x3xf32, {dims = ["n"]}> loc("r")
    %6 = "tgn.kernel"(%2) <{class = "map"}> ({
    ^bb0(%7: tensor<?x2x3xf32, {dims = ["n"]}>):
      %3 = "tgn.transpose"(%7) <{perm = [0, 2, 1]}> : (tensor<?x2x3xf32, {dims = ["n"]}>) -> tensor<?x3x2xf32, {dims = ["n"]}> loc("t")
      "tgn.yield"(%3) : (tensor<?x3x2xf32, {dims = ["n"]}>) -> ()
    }) : (tensor<?x2x3xf32, {dims = ["n"]}>) -> tensor<?x3x2xf32, {dims = ["n"]}> loc("t")
    "tgn.return"(%6) : (tensor<?x3x2xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
