// An argument reduction finds the best element, then its first place.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<?x5xf32, {dims = ["n"]}>):
    %y = "tgn.arg_reduce"(%x) <{max = true, axis = 1, last = false}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x1xi64, {dims = ["n"]}> loc("y")
    "tgn.return"(%y) : (tensor<?x1xi64, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
// -----
// y: decomposed arg_reduce: the target takes its decomposition
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<?x5xf32, {dims = ["n"]}>):
    %2 = "tgn.reduce"(%0) <{f = "max", axes = [1]}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("y")
    %3 = "tgn.elementwise"(%0, %2) <{f = "eq"}> : (tensor<?x5xf32, {dims = ["n"]}>, tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?x5xi1, {dims = ["n"]}> loc("y")
    %4 = "tgn.elementwise"(%0) <{f = "is_nan"}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xi1, {dims = ["n"]}> loc("y")
    %5 = "tgn.elementwise"(%3, %4) <{f = "or"}> : (tensor<?x5xi1, {dims = ["n"]}>, tensor<?x5xi1, {dims = ["n"]}>) -> tensor<?x5xi1, {dims = ["n"]}> loc("y")
    %6 = "tgn.iota"() <{dtype = "i32", shape = [1, 5], axis = 1}> : () -> tensor<1x5xi32> loc("y")
    %7 = "tgn.splat"() <{dtype = "i32", shape = [1, 1], bits = 2147483647}> : () -> tensor<1x1xi32> loc("y")
    %8 = "tgn.elementwise"(%5, %6, %7) <{f = "select"}> : (tensor<?x5xi1, {dims = ["n"]}>, tensor<1x5xi32>, tensor<1x1xi32>) -> tensor<?x5xi32, {dims = ["n"]}> loc("y")
    %9 = "tgn.reduce"(%8) <{f = "min", axes = [1]}> : (tensor<?x5xi32, {dims = ["n"]}>) -> tensor<?x1xi32, {dims = ["n"]}> loc("y")
    %10 = "tgn.elementwise"(%9) <{f = "cast:i64"}> : (tensor<?x1xi32, {dims = ["n"]}>) -> tensor<?x1xi64, {dims = ["n"]}> loc("y")
    "tgn.return"(%10) : (tensor<?x1xi64, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
