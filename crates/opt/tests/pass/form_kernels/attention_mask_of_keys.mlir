// A mask that looks up rows of the keys reads them as a buffer, and so do the keys.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x0", "x1", "x2"], result_names = ["y0"]}> ({
  ^bb0(%a0: tensor<1x100x6x100xf32>, %a1: tensor<100xi32>, %a2: tensor<1x2x100x100xf32>):
    %v0 = "tgn.slice"(%a0) <{starts = [0, 0, 2, 0], sizes = [1, 100, 2, 100], steps = [1, 1, 1, 1]}> : (tensor<1x100x6x100xf32>) -> tensor<1x100x2x100xf32> loc("slice0")
    %v1 = "tgn.transpose"(%v0) <{perm = [0, 2, 1, 3]}> : (tensor<1x100x2x100xf32>) -> tensor<1x2x100x100xf32> loc("transpose1")
    %v2 = "tgn.gather"(%v0, %a1) <{axis = 1}> : (tensor<1x100x2x100xf32>, tensor<100xi32>) -> tensor<1x100x2x100xf32> loc("gather2")
    %v3 = "tgn.transpose"(%v2) <{perm = [0, 2, 1, 3]}> : (tensor<1x100x2x100xf32>) -> tensor<1x2x100x100xf32> loc("transpose3")
    %v4 = "tgn.attention"(%a2, %v1, %v1, %v3) <{scale = 0.25 : f64, causal = false, window = 0, softcap = 0.0 : f64}> : (tensor<1x2x100x100xf32>, tensor<1x2x100x100xf32>, tensor<1x2x100x100xf32>, tensor<1x2x100x100xf32>) -> tensor<1x2x100x100xf32> loc("attention4")
    "tgn.return"(%v4) : (tensor<1x2x100x100xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// transpose3: fused transpose into attention "attention4"
// gather2: fused gather into attention "attention4"
// transpose1: fused transpose into attention "attention4"
// slice0: not fused into attention "attention4": a gather reads a buffer
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x0", "x1", "x2"], result_names = ["y0"]}> ({
  ^bb0(%0: tensor<1x100x6x100xf32>, %1: tensor<100xi32>, %2: tensor<1x2x100x100xf32>):
    %8 = "tgn.kernel"(%0) <{class = "map"}> ({
    ^bb0(%9: tensor<1x100x6x100xf32>):
      %3 = "tgn.slice"(%9) <{starts = [0, 0, 2, 0], sizes = [1, 100, 2, 100], steps = [1, 1, 1, 1]}> : (tensor<1x100x6x100xf32>) -> tensor<1x100x2x100xf32> loc("slice0")
      "tgn.yield"(%3) : (tensor<1x100x2x100xf32>) -> ()
    }) : (tensor<1x100x6x100xf32>) -> tensor<1x100x2x100xf32> loc("slice0")
    %10 = "tgn.kernel"(%8, %1, %2) <{class = "attention"}> ({
    ^bb0(%11: tensor<1x100x2x100xf32>, %12: tensor<100xi32>, %13: tensor<1x2x100x100xf32>):
      %4 = "tgn.transpose"(%11) <{perm = [0, 2, 1, 3]}> : (tensor<1x100x2x100xf32>) -> tensor<1x2x100x100xf32> loc("transpose1")
      %5 = "tgn.gather"(%11, %12) <{axis = 1}> : (tensor<1x100x2x100xf32>, tensor<100xi32>) -> tensor<1x100x2x100xf32> loc("gather2")
      %6 = "tgn.transpose"(%5) <{perm = [0, 2, 1, 3]}> : (tensor<1x100x2x100xf32>) -> tensor<1x2x100x100xf32> loc("transpose3")
      %7 = "tgn.attention"(%13, %4, %4, %6) <{scale = 2.5e-1 : f64, causal = false, window = 0, softcap = 0.0e0 : f64}> : (tensor<1x2x100x100xf32>, tensor<1x2x100x100xf32>, tensor<1x2x100x100xf32>, tensor<1x2x100x100xf32>) -> tensor<1x2x100x100xf32> loc("attention4")
      "tgn.yield"(%7) : (tensor<1x2x100x100xf32>) -> ()
    }) : (tensor<1x100x2x100xf32>, tensor<100xi32>, tensor<1x2x100x100xf32>) -> tensor<1x2x100x100xf32> loc(fused["attention4", "transpose1", "gather2", "transpose3"])
    "tgn.return"(%10) : (tensor<1x2x100x100xf32>) -> ()
  }) : () -> ()
}) : () -> ()
