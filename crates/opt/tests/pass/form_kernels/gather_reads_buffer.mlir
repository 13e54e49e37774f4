// A gather reads a buffer; its indices are computed with it.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["d", "i"], result_names = ["g"]}> ({
  ^bb0(%d: tensor<5x4xf32>, %i: tensor<?xi64, {dims = ["n"]}>):
    %one = "tgn.splat"() <{dtype = "i64", shape = [1], bits = 1}> : () -> tensor<1xi64>
    %e = "tgn.elementwise"(%d) <{f = "exp"}> : (tensor<5x4xf32>) -> tensor<5x4xf32> loc("e")
    %j = "tgn.elementwise"(%i, %one) <{f = "add"}> : (tensor<?xi64, {dims = ["n"]}>, tensor<1xi64>) -> tensor<?xi64, {dims = ["n"]}> loc("j")
    %g = "tgn.gather"(%e, %j) <{axis = 0}> : (tensor<5x4xf32>, tensor<?xi64, {dims = ["n"]}>) -> tensor<?x4xf32, {dims = ["n"]}> loc("g")
    "tgn.return"(%g) : (tensor<?x4xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 1}}} : () -> ()
// -----
// j: fused add into gather "g"
// e: not fused into gather "g": a gather reads a buffer
// fused splat into gather "g"
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["d", "i"], result_names = ["g"]}> ({
  ^bb0(%0: tensor<5x4xf32>, %1: tensor<?xi64, {dims = ["n"]}>):
    %6 = "tgn.kernel"(%0) <{class = "map"}> ({
    ^bb0(%7: tensor<5x4xf32>):
      %3 = "tgn.elementwise"(%7) <{f = "exp"}> : (tensor<5x4xf32>) -> tensor<5x4xf32> loc("e")
      "tgn.yield"(%3) : (tensor<5x4xf32>) -> ()
    }) : (tensor<5x4xf32>) -> tensor<5x4xf32> loc("e")
    %8 = "tgn.kernel"(%1, %6) <{class = "map"}> ({
    ^bb0(%9: tensor<?xi64, {dims = ["n"]}>, %10: tensor<5x4xf32>):
      %2 = "tgn.splat"() <{dtype = "i64", shape = [1], bits = 1}> : () -> tensor<1xi64>
      %4 = "tgn.elementwise"(%9, %2) <{f = "add"}> : (tensor<?xi64, {dims = ["n"]}>, tensor<1xi64>) -> tensor<?xi64, {dims = ["n"]}> loc("j")
      %5 = "tgn.gather"(%10, %4) <{axis = 0}> : (tensor<5x4xf32>, tensor<?xi64, {dims = ["n"]}>) -> tensor<?x4xf32, {dims = ["n"]}> loc("g")
      "tgn.yield"(%5) : (tensor<?x4xf32, {dims = ["n"]}>) -> ()
    }) : (tensor<?xi64, {dims = ["n"]}>, tensor<5x4xf32>) -> tensor<?x4xf32, {dims = ["n"]}> loc(fused["g", "j"])
    "tgn.return"(%8) : (tensor<?x4xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 1, axis = 0}}} : () -> ()
