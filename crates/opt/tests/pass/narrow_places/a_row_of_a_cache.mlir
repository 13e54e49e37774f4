// One place for all elements of a row is narrowed before it is broadcast.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["cache", "place", "row"], result_names = ["y"]}> ({
  ^bb0(%cache: tensor<2x8x4xf32>, %place: tensor<1x1x1xi64>, %row: tensor<2x1x4xf32>):
    %places = "tgn.broadcast"(%place) <{shape = [2, 1, 4]}> : (tensor<1x1x1xi64>) -> tensor<2x1x4xi64> loc("places")
    %y = "tgn.scatter_elements"(%cache, %places, %row) <{axis = 1, kind = "set"}> : (tensor<2x8x4xf32>, tensor<2x1x4xi64>, tensor<2x1x4xf32>) -> tensor<2x8x4xf32> loc("y")
    "tgn.return"(%y) : (tensor<2x8x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// y: scatter_elements(data, broadcast(place), rows) => scatter_elements(data, broadcast(cast:i32(place)), rows)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["cache", "place", "row"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<2x8x4xf32>, %1: tensor<1x1x1xi64>, %2: tensor<2x1x4xf32>):
    %5 = "tgn.splat"() <{dtype = "i64", shape = [1, 1, 1], bits = -2147483648}> : () -> tensor<1x1x1xi64> loc("y")
    %6 = "tgn.elementwise"(%1, %5) <{f = "max"}> : (tensor<1x1x1xi64>, tensor<1x1x1xi64>) -> tensor<1x1x1xi64> loc("y")
    %7 = "tgn.splat"() <{dtype = "i64", shape = [1, 1, 1], bits = 2147483647}> : () -> tensor<1x1x1xi64> loc("y")
    %8 = "tgn.elementwise"(%6, %7) <{f = "min"}> : (tensor<1x1x1xi64>, tensor<1x1x1xi64>) -> tensor<1x1x1xi64> loc("y")
    %9 = "tgn.elementwise"(%8) <{f = "cast:i32"}> : (tensor<1x1x1xi64>) -> tensor<1x1x1xi32> loc("y")
    %10 = "tgn.broadcast"(%9) <{shape = [2, 1, 4]}> : (tensor<1x1x1xi32>) -> tensor<2x1x4xi32> loc("places")
    %11 = "tgn.scatter_elements"(%0, %10, %2) <{axis = 1, kind = "set"}> : (tensor<2x8x4xf32>, tensor<2x1x4xi32>, tensor<2x1x4xf32>) -> tensor<2x8x4xf32> loc("y")
    "tgn.return"(%11) : (tensor<2x8x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
