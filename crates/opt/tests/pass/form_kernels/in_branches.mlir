// Regions form kernels of their own and may read values from outside.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["c", "x"], result_names = ["y"]}> ({
  ^bb0(%c: tensor<i1>, %x: tensor<?x5xf32, {dims = ["n"]}>):
    %e = "tgn.elementwise"(%x) <{f = "exp"}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("e")
    %y = "tgn.if"(%c) ({
      %a = "tgn.elementwise"(%e) <{f = "neg"}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("a")
      %b = "tgn.elementwise"(%a, %e) <{f = "add"}> : (tensor<?x5xf32, {dims = ["n"]}>, tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("b")
      "tgn.yield"(%b) : (tensor<?x5xf32, {dims = ["n"]}>) -> ()
    }, {
      "tgn.yield"(%e) : (tensor<?x5xf32, {dims = ["n"]}>) -> ()
    }) : (tensor<i1>) -> tensor<?x5xf32, {dims = ["n"]}> loc("y")
    "tgn.return"(%y) : (tensor<?x5xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 1}}} : () -> ()
// -----
// b: fused add into neg "a"
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["c", "x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<i1>, %1: tensor<?x5xf32, {dims = ["n"]}>):
    %6 = "tgn.kernel"(%1) <{class = "map"}> ({
    ^bb0(%7: tensor<?x5xf32, {dims = ["n"]}>):
      %2 = "tgn.elementwise"(%7) <{f = "exp"}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("e")
      "tgn.yield"(%2) : (tensor<?x5xf32, {dims = ["n"]}>) -> ()
    }) : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("e")
    %3 = "tgn.if"(%0) ({
      %8 = "tgn.kernel"(%6) <{class = "map"}> ({
      ^bb0(%9: tensor<?x5xf32, {dims = ["n"]}>):
        %4 = "tgn.elementwise"(%9) <{f = "neg"}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("a")
        %5 = "tgn.elementwise"(%4, %9) <{f = "add"}> : (tensor<?x5xf32, {dims = ["n"]}>, tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("b")
        "tgn.yield"(%5) : (tensor<?x5xf32, {dims = ["n"]}>) -> ()
      }) : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc(fused["b", "a"])
      "tgn.yield"(%8) : (tensor<?x5xf32, {dims = ["n"]}>) -> ()
    }, {
      "tgn.yield"(%6) : (tensor<?x5xf32, {dims = ["n"]}>) -> ()
    }) : (tensor<i1>) -> tensor<?x5xf32, {dims = ["n"]}> loc("y")
    "tgn.return"(%3) : (tensor<?x5xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 1, axis = 0}}} : () -> ()
