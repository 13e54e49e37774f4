// What orders rows anew is read through; what computes keys is computed once.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<1x64x2x16xf32>, %1: tensor<1x64x2x16xf32>, %2: tensor<1x64x2x16xf32>):
    %3 = "tgn.transpose"(%0) <{perm = [0, 2, 1, 3]}> : (tensor<1x64x2x16xf32>) -> tensor<1x2x64x16xf32> loc("q")
    %4 = "tgn.elementwise"(%1) <{f = "exp"}> : (tensor<1x64x2x16xf32>) -> tensor<1x64x2x16xf32> loc("exp")
    %5 = "tgn.transpose"(%4) <{perm = [0, 2, 1, 3]}> : (tensor<1x64x2x16xf32>) -> tensor<1x2x64x16xf32> loc("k")
    %6 = "tgn.transpose"(%2) <{perm = [0, 2, 1, 3]}> : (tensor<1x64x2x16xf32>) -> tensor<1x2x64x16xf32> loc("v")
    %7 = "tgn.attention"(%3, %5, %6) <{scale = 2.5e-1 : f64, causal = false, window = 0, softcap = 0.0e0 : f64}> : (tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>) -> tensor<1x2x64x16xf32> loc("attention")
    "tgn.return"(%7) : (tensor<1x2x64x16xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// v: fused transpose into attention "attention"
// k: fused transpose into attention "attention"
// exp: not fused into attention "attention": attention reads buffers
// q: fused transpose into attention "attention"
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<1x64x2x16xf32>, %1: tensor<1x64x2x16xf32>, %2: tensor<1x64x2x16xf32>):
    %8 = "tgn.kernel"(%1) <{class = "map"}> ({
    ^bb0(%9: tensor<1x64x2x16xf32>):
      %4 = "tgn.elementwise"(%9) <{f = "exp"}> : (tensor<1x64x2x16xf32>) -> tensor<1x64x2x16xf32> loc("exp")
      "tgn.yield"(%4) : (tensor<1x64x2x16xf32>) -> ()
    }) : (tensor<1x64x2x16xf32>) -> tensor<1x64x2x16xf32> loc("exp")
    %10 = "tgn.kernel"(%0, %8, %2) <{class = "attention"}> ({
    ^bb0(%11: tensor<1x64x2x16xf32>, %12: tensor<1x64x2x16xf32>, %13: tensor<1x64x2x16xf32>):
      %3 = "tgn.transpose"(%11) <{perm = [0, 2, 1, 3]}> : (tensor<1x64x2x16xf32>) -> tensor<1x2x64x16xf32> loc("q")
      %5 = "tgn.transpose"(%12) <{perm = [0, 2, 1, 3]}> : (tensor<1x64x2x16xf32>) -> tensor<1x2x64x16xf32> loc("k")
      %6 = "tgn.transpose"(%13) <{perm = [0, 2, 1, 3]}> : (tensor<1x64x2x16xf32>) -> tensor<1x2x64x16xf32> loc("v")
      %7 = "tgn.attention"(%3, %5, %6) <{scale = 2.5e-1 : f64, causal = false, window = 0, softcap = 0.0e0 : f64}> : (tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>) -> tensor<1x2x64x16xf32> loc("attention")
      "tgn.yield"(%7) : (tensor<1x2x64x16xf32>) -> ()
    }) : (tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>, tensor<1x64x2x16xf32>) -> tensor<1x2x64x16xf32> loc(fused["attention", "q", "k", "v"])
    "tgn.return"(%10) : (tensor<1x2x64x16xf32>) -> ()
  }) : () -> ()
}) : () -> ()
