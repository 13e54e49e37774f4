// Broken constraints and result types; equal rank is not enough.
"demo.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y", "z"]}> ({
^bb0(%x: tensor<2xf32>, %n: tensor<?xf32, ["n"]>):
  %0 = "demo.sum"(%x) <{axis = 1, keep = false}> : (tensor<2xf32>) -> tensor<2xf32> loc("head/sum")
  %1 = "demo.map"(%x, %n) <{function = "add"}> : (tensor<2xf32>, tensor<?xf32, ["n"]>) -> tensor<2xf32>
  %2 = "demo.map"(%n) <{function = "exp"}> : (tensor<?xf32, ["n"]>) -> tensor<?xf32, ["m"]> loc("head/exp")
  %3 = "demo.map"(%x) <{function = "not"}> : (tensor<2xf32>) -> tensor<2xf32>
  "demo.map"(%x) <{function = "exp"}> : (tensor<2xf32>) -> ()
  "demo.return"(%x) : (tensor<2xf32>) -> ()
}) : () -> ()
// -----
// error[invalid-ir]: sum_c1: no axis 1 in [2]
//   --> function "main": %2 = demo.sum from node "head/sum"
// error[invalid-ir]: map_c2: shapes differ
//   --> function "main": %3 = demo.map
// error[invalid-ir]: result 0 is tensor<?xf32, ["m"]>, expected tensor<?xf32, ["n"]>
//   --> function "main": %4 = demo.map from node "head/exp"
// error[invalid-ir]: map_c1: `not` is not defined on f32
//   --> function "main": %5 = demo.map
// error[invalid-ir]: 1 results expected, found 0
//   --> function "main": demo.map
// error[invalid-ir]: 2 arguments have 1 names
//   --> function "main"
// error[invalid-ir]: 1 results have 2 names
//   --> function "main"
