// Elements of a head that lie apart would be written one by one: they are transposed afterwards.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v"], result_names = ["t"]}> ({
  ^bb0(%q: tensor<1x2x64x16xf32>, %k: tensor<1x2x64x16xf32>, %v: tensor<1x2x64x16xf32>):
    %y = "tgn.attention"(%q, %k, %v) <{scale = 2.5e-1 : f64, causal = false, window = 0, softcap = 0.0e0 : f64}> : (tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>) -> tensor<1x2x64x16xf32> loc("attention")
    %t = "tgn.transpose"(%y) <{perm = [0, 1, 3, 2]}> : (tensor<1x2x64x16xf32>) -> tensor<1x2x16x64xf32> loc("t")
    "tgn.return"(%t) : (tensor<1x2x16x64xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v"], result_names = ["t"]}> ({
  ^bb0(%0: tensor<1x2x64x16xf32>, %1: tensor<1x2x64x16xf32>, %2: tensor<1x2x64x16xf32>):
    %5 = "tgn.kernel"(%0, %1, %2) <{class = "attention"}> ({
    ^bb0(%6: tensor<1x2x64x16xf32>, %7: tensor<1x2x64x16xf32>, %8: tensor<1x2x64x16xf32>):
      %3 = "tgn.attention"(%6, %7, %8) <{scale = 2.5e-1 : f64, causal = false, window = 0, softcap = 0.0e0 : f64}> : (tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>) -> tensor<1x2x64x16xf32> loc("attention")
      "tgn.yield"(%3) : (tensor<1x2x64x16xf32>) -> ()
    }) : (tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>) -> tensor<1x2x64x16xf32> loc("attention")
    %9 = "tgn.kernel"(%5) <{class = "map"}> ({
    ^bb0(%10: tensor<1x2x64x16xf32>):
      %4 = "tgn.transpose"(%10) <{perm = [0, 1, 3, 2]}> : (tensor<1x2x64x16xf32>) -> tensor<1x2x16x64xf32> loc("t")
      "tgn.yield"(%4) : (tensor<1x2x16x64xf32>) -> ()
    }) : (tensor<1x2x64x16xf32>) -> tensor<1x2x16x64xf32> loc("t")
    "tgn.return"(%9) : (tensor<1x2x16x64xf32>) -> ()
  }) : () -> ()
}) : () -> ()
