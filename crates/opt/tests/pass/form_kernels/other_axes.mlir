// Reductions over other axes are another kernel.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<3x5xf32>):
    %a = "tgn.reduce"(%x) <{f = "add", axes = [1]}> : (tensor<3x5xf32>) -> tensor<3x1xf32> loc("a")
    %b = "tgn.reduce"(%x) <{f = "add", axes = [0]}> : (tensor<3x5xf32>) -> tensor<1x5xf32> loc("b")
    %y = "tgn.elementwise"(%a, %b) <{f = "mul"}> : (tensor<3x1xf32>, tensor<1x5xf32>) -> tensor<3x5xf32> loc("y")
    "tgn.return"(%y) : (tensor<3x5xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// y: fused mul into reduce add "b"
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<3x5xf32>):
    %4 = "tgn.kernel"(%0) <{class = "reduce"}> ({
    ^bb0(%5: tensor<3x5xf32>):
      %1 = "tgn.reduce"(%5) <{f = "add", axes = [1]}> : (tensor<3x5xf32>) -> tensor<3x1xf32> loc("a")
      "tgn.yield"(%1) : (tensor<3x1xf32>) -> ()
    }) : (tensor<3x5xf32>) -> tensor<3x1xf32> loc("a")
    %6 = "tgn.kernel"(%0, %4) <{class = "reduce"}> ({
    ^bb0(%7: tensor<3x5xf32>, %8: tensor<3x1xf32>):
      %2 = "tgn.reduce"(%7) <{f = "add", axes = [0]}> : (tensor<3x5xf32>) -> tensor<1x5xf32> loc("b")
      %3 = "tgn.elementwise"(%8, %2) <{f = "mul"}> : (tensor<3x1xf32>, tensor<1x5xf32>) -> tensor<3x5xf32> loc("y")
      "tgn.yield"(%3) : (tensor<3x5xf32>) -> ()
    }) : (tensor<3x5xf32>, tensor<3x1xf32>) -> tensor<3x5xf32> loc(fused["b", "y"])
    "tgn.return"(%6) : (tensor<3x5xf32>) -> ()
  }) : () -> ()
}) : () -> ()
