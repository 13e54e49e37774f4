// A scatter stands alone, between what computes its operands.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["d", "i", "u"], result_names = ["y"]}> ({
  ^bb0(%d: tensor<5x4xf32>, %i: tensor<2x1xi64>, %u: tensor<2x4xf32>):
    %v = "tgn.elementwise"(%u) <{f = "exp"}> : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("v")
    %s = "tgn.scatter_nd"(%d, %i, %v) <{kind = "add"}> : (tensor<5x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<5x4xf32> loc("s")
    %y = "tgn.elementwise"(%s) <{f = "neg"}> : (tensor<5x4xf32>) -> tensor<5x4xf32> loc("y")
    "tgn.return"(%y) : (tensor<5x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// y: not fused into scatter_nd "s": `scatter_nd` has no epilogue
// v: not fused into scatter_nd "s": `scatter_nd` reads buffers
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["d", "i", "u"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<5x4xf32>, %1: tensor<2x1xi64>, %2: tensor<2x4xf32>):
    %6 = "tgn.kernel"(%2) <{class = "map"}> ({
    ^bb0(%7: tensor<2x4xf32>):
      %3 = "tgn.elementwise"(%7) <{f = "exp"}> : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("v")
      "tgn.yield"(%3) : (tensor<2x4xf32>) -> ()
    }) : (tensor<2x4xf32>) -> tensor<2x4xf32> loc("v")
    %8 = "tgn.kernel"(%0, %1, %6) <{class = "scatter"}> ({
    ^bb0(%9: tensor<5x4xf32>, %10: tensor<2x1xi64>, %11: tensor<2x4xf32>):
      %4 = "tgn.scatter_nd"(%9, %10, %11) <{kind = "add"}> : (tensor<5x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<5x4xf32> loc("s")
      "tgn.yield"(%4) : (tensor<5x4xf32>) -> ()
    }) : (tensor<5x4xf32>, tensor<2x1xi64>, tensor<2x4xf32>) -> tensor<5x4xf32> loc("s")
    %12 = "tgn.kernel"(%8) <{class = "map"}> ({
    ^bb0(%13: tensor<5x4xf32>):
      %5 = "tgn.elementwise"(%13) <{f = "neg"}> : (tensor<5x4xf32>) -> tensor<5x4xf32> loc("y")
      "tgn.yield"(%5) : (tensor<5x4xf32>) -> ()
    }) : (tensor<5x4xf32>) -> tensor<5x4xf32> loc("y")
    "tgn.return"(%12) : (tensor<5x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
