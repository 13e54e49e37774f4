// Reflected borders are gathered.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<?x4xf32, {dims = ["n"]}>):
    %y = "tgn.pad"(%x) <{low = [0, 2], high = [0, 1], mode = "reflect"}> : (tensor<?x4xf32, {dims = ["n"]}>) -> tensor<?x7xf32, {dims = ["n"]}> loc("y")
    "tgn.return"(%y) : (tensor<?x7xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
// -----
// y: decomposed pad: the target takes it in pieces
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<?x4xf32, {dims = ["n"]}>):
    %2 = "tgn.iota"() <{dtype = "i64", shape = [7], axis = 0}> : () -> tensor<7xi64> loc("y")
    %3 = "tgn.splat"() <{dtype = "i64", shape = [1], bits = 2}> : () -> tensor<1xi64> loc("y")
    %4 = "tgn.elementwise"(%2, %3) <{f = "sub"}> : (tensor<7xi64>, tensor<1xi64>) -> tensor<7xi64> loc("y")
    %5 = "tgn.splat"() <{dtype = "i64", shape = [1], bits = 6}> : () -> tensor<1xi64> loc("y")
    %6 = "tgn.elementwise"(%4, %5) <{f = "mod"}> : (tensor<7xi64>, tensor<1xi64>) -> tensor<7xi64> loc("y")
    %7 = "tgn.elementwise"(%5, %6) <{f = "sub"}> : (tensor<1xi64>, tensor<7xi64>) -> tensor<7xi64> loc("y")
    %8 = "tgn.elementwise"(%6, %7) <{f = "min"}> : (tensor<7xi64>, tensor<7xi64>) -> tensor<7xi64> loc("y")
    %9 = "tgn.gather"(%0, %8) <{axis = 1}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<7xi64>) -> tensor<?x7xf32, {dims = ["n"]}> loc("y")
    "tgn.return"(%9) : (tensor<?x7xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
