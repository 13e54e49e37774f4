// pass: cse
// Two reads are not one: someone may write in between. Other attributes are another op.
"demo.func"() <{sym_name = "main", arg_names = [], result_names = ["a", "b", "c", "d"]}> ({
  %0 = "demo.load"() <{slot = 0}> : () -> tensor<2xf32>
  %1 = "demo.load"() <{slot = 0}> : () -> tensor<2xf32>
  %2 = "demo.sum"(%0) <{axis = 0, keep = true}> : (tensor<2xf32>) -> tensor<1xf32>
  %3 = "demo.sum"(%0) <{axis = 0, keep = false}> : (tensor<2xf32>) -> tensor<f32>
  "demo.return"(%0, %1, %2, %3) : (tensor<2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<f32>) -> ()
}) : () -> ()
// -----
// unchanged
