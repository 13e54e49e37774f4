// A gather by a constant is a slice where the axis has a place; an empty axis has none, and the gather stays.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "y"], result_names = ["g", "h"]}> ({
  ^bb0(%x: tensor<3x0xf32>, %y: tensor<3x1xf32>):
    %i = "tgn.splat"() <{dtype = "i64", shape = [], bits = -1}> : () -> tensor<i64>
    %g = "tgn.gather"(%x, %i) <{axis = 1}> : (tensor<3x0xf32>, tensor<i64>) -> tensor<3xf32> loc("g")
    %h = "tgn.gather"(%y, %i) <{axis = 1}> : (tensor<3x1xf32>, tensor<i64>) -> tensor<3xf32> loc("h")
    "tgn.return"(%g, %h) : (tensor<3xf32>, tensor<3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// h: gather by one constant => slice
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "y"], result_names = ["g", "h"]}> ({
  ^bb0(%0: tensor<3x0xf32>, %1: tensor<3x1xf32>):
    %2 = "tgn.splat"() <{dtype = "i64", shape = [], bits = -1}> : () -> tensor<i64>
    %3 = "tgn.gather"(%0, %2) <{axis = 1}> : (tensor<3x0xf32>, tensor<i64>) -> tensor<3xf32> loc("g")
    %5 = "tgn.reshape"(%1) <{shape = [3]}> : (tensor<3x1xf32>) -> tensor<3xf32> loc("h")
    "tgn.return"(%3, %5) : (tensor<3xf32>, tensor<3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
