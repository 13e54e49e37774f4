// pass: dce
// A dead chain goes with the regions in it; what is written, and what leads there, stays.
"demo.func"() <{sym_name = "main", arg_names = ["x", "c"], result_names = ["y"]}> ({
^bb0(%0: tensor<2xf32>, %1: tensor<i1>):
  %2 = "demo.map"(%0) <{function = "exp"}> : (tensor<2xf32>) -> tensor<2xf32>
  %3 = "demo.map"(%2) <{function = "log"}> : (tensor<2xf32>) -> tensor<2xf32>
  %4 = "demo.if"(%1) ({
    %5 = "demo.map"(%3) <{function = "neg"}> : (tensor<2xf32>) -> tensor<2xf32>
    "demo.yield"(%5) : (tensor<2xf32>) -> ()
  }, {
    "demo.yield"(%3) : (tensor<2xf32>) -> ()
  }) : (tensor<i1>) -> tensor<2xf32>
  %6 = "demo.load"() <{slot = 1}> : () -> tensor<2xf32>
  %7 = "demo.map"(%0) <{function = "sin"}> : (tensor<2xf32>) -> tensor<2xf32>
  "demo.store"(%7) <{slot = 0}> : (tensor<2xf32>) -> ()
  %8 = "demo.repeat"(%0) <{times = 2}> ({
  ^bb0(%9: tensor<2xf32>):
    %10 = "demo.map"(%9) <{function = "cos"}> : (tensor<2xf32>) -> tensor<2xf32>
    "demo.store"(%10) <{slot = 2}> : (tensor<2xf32>) -> ()
    %11 = "demo.map"(%9) <{function = "tan"}> : (tensor<2xf32>) -> tensor<2xf32>
    "demo.yield"(%9) : (tensor<2xf32>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  "demo.return"(%0) : (tensor<2xf32>) -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "demo.func"() <{sym_name = "main", arg_names = ["x", "c"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<2xf32>, %1: tensor<i1>):
    %7 = "demo.map"(%0) <{function = "sin"}> : (tensor<2xf32>) -> tensor<2xf32>
    "demo.store"(%7) <{slot = 0}> : (tensor<2xf32>) -> ()
    %8 = "demo.repeat"(%0) <{times = 2}> ({
    ^bb0(%9: tensor<2xf32>):
      %10 = "demo.map"(%9) <{function = "cos"}> : (tensor<2xf32>) -> tensor<2xf32>
      "demo.store"(%10) <{slot = 2}> : (tensor<2xf32>) -> ()
      "demo.yield"(%9) : (tensor<2xf32>) -> ()
    }) : (tensor<2xf32>) -> tensor<2xf32>
    "demo.return"(%0) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
