// pass: cse
// Merged within and below a region, chains too; not across siblings, not into a region that may not capture.
"demo.func"() <{sym_name = "main", arg_names = ["x", "c"], result_names = ["y", "z"]}> ({
^bb0(%0: tensor<2xf32>, %1: tensor<i1>):
  %2 = "demo.map"(%0) <{function = "exp"}> : (tensor<2xf32>) -> tensor<2xf32>
  %3 = "demo.map"(%0) <{function = "exp"}> : (tensor<2xf32>) -> tensor<2xf32>
  %4 = "demo.map"(%2) <{function = "neg"}> : (tensor<2xf32>) -> tensor<2xf32>
  %5 = "demo.map"(%3) <{function = "neg"}> : (tensor<2xf32>) -> tensor<2xf32>
  %6 = "demo.if"(%1) ({
    %7 = "demo.map"(%0) <{function = "exp"}> : (tensor<2xf32>) -> tensor<2xf32>
    %8 = "demo.map"(%7) <{function = "log"}> : (tensor<2xf32>) -> tensor<2xf32>
    "demo.yield"(%8) : (tensor<2xf32>) -> ()
  }, {
    %9 = "demo.map"(%5) <{function = "log"}> : (tensor<2xf32>) -> tensor<2xf32>
    %10 = "demo.map"(%4) <{function = "log"}> : (tensor<2xf32>) -> tensor<2xf32>
    %11 = "demo.map"(%9, %10) <{function = "add"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    "demo.yield"(%11) : (tensor<2xf32>) -> ()
  }) : (tensor<i1>) -> tensor<2xf32>
  %12 = "demo.map"(%2) <{function = "log"}> : (tensor<2xf32>) -> tensor<2xf32>
  %13 = "demo.map"(%6, %12) <{function = "add"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %14 = "demo.repeat"(%13) <{times = 2}> ({
  ^bb0(%15: tensor<2xf32>):
    %16 = "demo.load"() <{slot = 0}> : () -> tensor<2xf32>
    %17 = "demo.map"(%15) <{function = "exp"}> : (tensor<2xf32>) -> tensor<2xf32>
    "demo.yield"(%17) : (tensor<2xf32>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  "demo.return"(%14, %5) : (tensor<2xf32>, tensor<2xf32>) -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "demo.func"() <{sym_name = "main", arg_names = ["x", "c"], result_names = ["y", "z"]}> ({
  ^bb0(%0: tensor<2xf32>, %1: tensor<i1>):
    %2 = "demo.map"(%0) <{function = "exp"}> : (tensor<2xf32>) -> tensor<2xf32>
    %4 = "demo.map"(%2) <{function = "neg"}> : (tensor<2xf32>) -> tensor<2xf32>
    %6 = "demo.if"(%1) ({
      %8 = "demo.map"(%2) <{function = "log"}> : (tensor<2xf32>) -> tensor<2xf32>
      "demo.yield"(%8) : (tensor<2xf32>) -> ()
    }, {
      %9 = "demo.map"(%4) <{function = "log"}> : (tensor<2xf32>) -> tensor<2xf32>
      %11 = "demo.map"(%9, %9) <{function = "add"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      "demo.yield"(%11) : (tensor<2xf32>) -> ()
    }) : (tensor<i1>) -> tensor<2xf32>
    %12 = "demo.map"(%2) <{function = "log"}> : (tensor<2xf32>) -> tensor<2xf32>
    %13 = "demo.map"(%6, %12) <{function = "add"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %14 = "demo.repeat"(%13) <{times = 2}> ({
    ^bb0(%15: tensor<2xf32>):
      %16 = "demo.load"() <{slot = 0}> : () -> tensor<2xf32>
      %17 = "demo.map"(%15) <{function = "exp"}> : (tensor<2xf32>) -> tensor<2xf32>
      "demo.yield"(%17) : (tensor<2xf32>) -> ()
    }) : (tensor<2xf32>) -> tensor<2xf32>
    "demo.return"(%14, %4) : (tensor<2xf32>, tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
