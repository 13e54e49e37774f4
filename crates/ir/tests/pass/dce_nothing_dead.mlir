// pass: dce
// One used result keeps an op whole.
"demo.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
^bb0(%0: tensor<2xf32>):
  %1, %2 = "demo.split"(%0) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  "demo.return"(%2) : (tensor<2xf32>) -> ()
}) : () -> ()
// -----
// unchanged
