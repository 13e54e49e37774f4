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
      %8 = "tgn.elementwise"(%7) <{f = "exp"}> : (tensor<5x4xf32>) -> tensor<5x4xf32> loc("e")
      "tgn.yield"(%8) : (tensor<5x4xf32>) -> ()
    }) : (tensor<5x4xf32>) -> tensor<5x4xf32> loc("e")
    %9 = "tgn.kernel"(%1, %6) <{class = "map"}> ({
    ^bb0(%10: tensor<?xi64, {dims = ["n"]}>, %11: tensor<5x4xf32>):
      %12 = "tgn.splat"() <{dtype = "i64", shape = [1], bits = 1}> : () -> tensor<1xi64>
      %13 = "tgn.elementwise"(%10, %12) <{f = "add"}> : (tensor<?xi64, {dims = ["n"]}>, tensor<1xi64>) -> tensor<?xi64, {dims = ["n"]}> loc("j")
      %14 = "tgn.gather"(%11, %13) <{axis = 0}> : (tensor<5x4xf32>, tensor<?xi64, {dims = ["n"]}>) -> tensor<?x4xf32, {dims = ["n"]}> loc("g")
      "tgn.yield"(%14) : (tensor<?x4xf32, {dims = ["n"]}>) -> ()
    }) : (tensor<?xi64, {dims = ["n"]}>, tensor<5x4xf32>) -> tensor<?x4xf32, {dims = ["n"]}> loc("g+j")
    "tgn.return"(%9) : (tensor<?x4xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 1, axis = 0}}} : () -> ()
