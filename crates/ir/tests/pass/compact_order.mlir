// pass: compact
// What dead code leaves is numbered as it stands, an op's results before what its regions take.
"demo.func"() <{sym_name = "main", arg_names = ["x", "c"], result_names = ["y"]}> ({
^bb0(%9: tensor<2xf32>, %3: tensor<i1>):
  %11 = "demo.map"(%9) <{function = "exp"}> : (tensor<2xf32>) -> tensor<2xf32>
  %20, %5 = "demo.split"(%9) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %4 = "demo.if"(%3) ({
    %12 = "demo.map"(%11) <{function = "log"}> : (tensor<2xf32>) -> tensor<2xf32>
    %7 = "demo.map"(%5) <{function = "neg"}> : (tensor<2xf32>) -> tensor<2xf32>
    "demo.yield"(%7) : (tensor<2xf32>) -> ()
  }, {
    "demo.yield"(%20) : (tensor<2xf32>) -> ()
  }) : (tensor<i1>) -> tensor<2xf32>
  %2 = "demo.repeat"(%4) <{times = 2}> ({
  ^bb0(%1: tensor<2xf32>):
    %0 = "demo.map"(%1) <{function = "cos"}> : (tensor<2xf32>) -> tensor<2xf32>
    "demo.yield"(%0) : (tensor<2xf32>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  "demo.return"(%2) : (tensor<2xf32>) -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "demo.func"() <{sym_name = "main", arg_names = ["x", "c"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<2xf32>, %1: tensor<i1>):
    %2, %3 = "demo.split"(%0) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
    %4 = "demo.if"(%1) ({
      %5 = "demo.map"(%3) <{function = "neg"}> : (tensor<2xf32>) -> tensor<2xf32>
      "demo.yield"(%5) : (tensor<2xf32>) -> ()
    }, {
      "demo.yield"(%2) : (tensor<2xf32>) -> ()
    }) : (tensor<i1>) -> tensor<2xf32>
    %6 = "demo.repeat"(%4) <{times = 2}> ({
    ^bb0(%7: tensor<2xf32>):
      %8 = "demo.map"(%7) <{function = "cos"}> : (tensor<2xf32>) -> tensor<2xf32>
      "demo.yield"(%8) : (tensor<2xf32>) -> ()
    }) : (tensor<2xf32>) -> tensor<2xf32>
    "demo.return"(%6) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
