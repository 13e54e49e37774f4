// pass: expand_sub
// Sums are let alone.
"demo.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["z"]}> ({
^bb0(%0: tensor<2xf32>):
  %1 = "demo.map"(%0, %0) <{function = "add"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  "demo.return"(%1) : (tensor<2xf32>) -> ()
}) : () -> ()
// -----
// unchanged
