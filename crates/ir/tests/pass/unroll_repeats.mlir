// pass: unroll_repeats
// Copies within a function, nested regions included, then the region itself.
"demo.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
^bb0(%0: tensor<2xf32>):
  %1 = "demo.repeat"(%0) <{times = 3}> ({
  ^bb0(%2: tensor<2xf32>):
    %3 = "demo.load"() <{slot = 0}> : () -> tensor<i1>
    %4 = "demo.if"(%3) ({
      %5 = "demo.map"(%2) <{function = "exp"}> : (tensor<2xf32>) -> tensor<2xf32> loc("loop/exp")
      "demo.yield"(%5) : (tensor<2xf32>) -> ()
    }, {
      "demo.yield"(%2) : (tensor<2xf32>) -> ()
    }) : (tensor<i1>) -> tensor<2xf32>
    "demo.yield"(%4) : (tensor<2xf32>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32> loc("loop")
  "demo.return"(%1) : (tensor<2xf32>) -> ()
}) : () -> ()
// -----
// remark: runs 3 times
// unrolled: 1
"builtin.module"() ({
  "demo.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<2xf32>):
    %6 = "demo.load"() <{slot = 0}> : () -> tensor<i1>
    %7 = "demo.if"(%6) ({
      %8 = "demo.map"(%0) <{function = "exp"}> : (tensor<2xf32>) -> tensor<2xf32> loc("loop/exp")
      "demo.yield"(%8) : (tensor<2xf32>) -> ()
    }, {
      "demo.yield"(%0) : (tensor<2xf32>) -> ()
    }) : (tensor<i1>) -> tensor<2xf32>
    %9 = "demo.load"() <{slot = 0}> : () -> tensor<i1>
    %10 = "demo.if"(%9) ({
      %11 = "demo.map"(%7) <{function = "exp"}> : (tensor<2xf32>) -> tensor<2xf32> loc("loop/exp")
      "demo.yield"(%11) : (tensor<2xf32>) -> ()
    }, {
      "demo.yield"(%7) : (tensor<2xf32>) -> ()
    }) : (tensor<i1>) -> tensor<2xf32>
    %3 = "demo.load"() <{slot = 0}> : () -> tensor<i1>
    %4 = "demo.if"(%3) ({
      %5 = "demo.map"(%10) <{function = "exp"}> : (tensor<2xf32>) -> tensor<2xf32> loc("loop/exp")
      "demo.yield"(%5) : (tensor<2xf32>) -> ()
    }, {
      "demo.yield"(%10) : (tensor<2xf32>) -> ()
    }) : (tensor<i1>) -> tensor<2xf32>
    "demo.return"(%4) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
