// pass: inline_helper
// Copied from another function: ops without a location take the caller's.
"demo.func"() <{sym_name = "main", arg_names = ["x"], result_names = []}> ({
^bb0(%0: tensor<2xf32>):
  "demo.store"(%0) <{slot = 0}> : (tensor<2xf32>) -> () loc("save")
  "demo.return"() : () -> ()
}) : () -> ()
"demo.func"() <{sym_name = "helper", arg_names = [], result_names = []}> ({
^bb0(%0: tensor<2xf32>):
  %1 = "demo.map"(%0) <{function = "exp"}> : (tensor<2xf32>) -> tensor<2xf32>
  %2 = "demo.map"(%1, %0) <{function = "add"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("add")
  "demo.return"(%2) : (tensor<2xf32>) -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "demo.func"() <{sym_name = "main", arg_names = ["x"], result_names = []}> ({
  ^bb0(%0: tensor<2xf32>):
    %1 = "demo.map"(%0) <{function = "exp"}> : (tensor<2xf32>) -> tensor<2xf32> loc("save")
    %2 = "demo.map"(%1, %0) <{function = "add"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("add")
    "demo.store"(%2) <{slot = 0}> : (tensor<2xf32>) -> () loc("save")
    "demo.return"() : () -> ()
  }) : () -> ()
  "demo.func"() <{sym_name = "helper", arg_names = [], result_names = []}> ({
  ^bb0(%0: tensor<2xf32>):
    %1 = "demo.map"(%0) <{function = "exp"}> : (tensor<2xf32>) -> tensor<2xf32>
    %2 = "demo.map"(%1, %0) <{function = "add"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("add")
    "demo.return"(%2) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
