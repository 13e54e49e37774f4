// pass: expand_sub
// New ops come out where the old one stood, also in regions.
"demo.func"() <{sym_name = "main", arg_names = ["x", "y"], result_names = ["z"]}> ({
^bb0(%0: tensor<2xf32>, %1: tensor<2xf32>):
  %2 = "demo.map"(%0, %1) <{function = "sub"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("a")
  %3 = "demo.map"(%2) <{function = "exp"}> : (tensor<2xf32>) -> tensor<2xf32>
  %4 = "demo.repeat"(%3) <{times = 2}> ({
  ^bb0(%5: tensor<2xf32>):
    %6 = "demo.map"(%5, %5) <{function = "sub"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("b")
    "demo.yield"(%6) : (tensor<2xf32>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  "demo.return"(%4) : (tensor<2xf32>) -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "demo.func"() <{sym_name = "main", arg_names = ["x", "y"], result_names = ["z"]}> ({
  ^bb0(%0: tensor<2xf32>, %1: tensor<2xf32>):
    %7 = "demo.map"(%1) <{function = "neg"}> : (tensor<2xf32>) -> tensor<2xf32> loc("a")
    %8 = "demo.map"(%0, %7) <{function = "add"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("a")
    %3 = "demo.map"(%8) <{function = "exp"}> : (tensor<2xf32>) -> tensor<2xf32>
    %4 = "demo.repeat"(%3) <{times = 2}> ({
    ^bb0(%5: tensor<2xf32>):
      %9 = "demo.map"(%5) <{function = "neg"}> : (tensor<2xf32>) -> tensor<2xf32> loc("b")
      %10 = "demo.map"(%5, %9) <{function = "add"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("b")
      "demo.yield"(%10) : (tensor<2xf32>) -> ()
    }) : (tensor<2xf32>) -> tensor<2xf32>
    "demo.return"(%4) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
