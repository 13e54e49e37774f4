// A place for each element stays as it is.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["cache", "places", "row"], result_names = ["y"]}> ({
  ^bb0(%cache: tensor<2x8x4xf32>, %places: tensor<2x1x4xi64>, %row: tensor<2x1x4xf32>):
    %y = "tgn.scatter_elements"(%cache, %places, %row) <{axis = 1, kind = "set"}> : (tensor<2x8x4xf32>, tensor<2x1x4xi64>, tensor<2x1x4xf32>) -> tensor<2x8x4xf32> loc("y")
    "tgn.return"(%y) : (tensor<2x8x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// unchanged
