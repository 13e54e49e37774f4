// Heads that are brought next to each other afterwards are written there: nothing is transposed.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v"], result_names = ["z"]}> ({
  ^bb0(%q: tensor<1x2x64x16xf32>, %k: tensor<1x2x64x16xf32>, %v: tensor<1x2x64x16xf32>):
    %y = "tgn.attention"(%q, %k, %v) <{scale = 2.5e-1 : f64, causal = false, window = 0, softcap = 0.0e0 : f64}> : (tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>) -> tensor<1x2x64x16xf32> loc("attention")
    %t = "tgn.transpose"(%y) <{perm = [0, 2, 1, 3]}> : (tensor<1x2x64x16xf32>) -> tensor<1x64x2x16xf32> loc("t")
    %z = "tgn.reshape"(%t) <{shape = [64, 32]}> : (tensor<1x64x2x16xf32>) -> tensor<64x32xf32> loc("z")
    "tgn.return"(%z) : (tensor<64x32xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// attention: its heads are written where their reader wants them
// t: its axes are named anew, and nothing moves
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v"], result_names = ["z"]}> ({
  ^bb0(%0: tensor<1x2x64x16xf32>, %1: tensor<1x2x64x16xf32>, %2: tensor<1x2x64x16xf32>):
    %6 = "tgn.kernel"(%0, %1, %2) <{class = "attention"}> ({
    ^bb0(%7: tensor<1x2x64x16xf32>, %8: tensor<1x2x64x16xf32>, %9: tensor<1x2x64x16xf32>):
      %3 = "tgn.attention"(%7, %8, %9) <{scale = 2.5e-1 : f64, causal = false, window = 0, softcap = 0.0e0 : f64}> : (tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>) -> tensor<1x2x64x16xf32> loc("attention")
      "tgn.yield"(%3) : (tensor<1x2x64x16xf32>) -> ()
    }) : (tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>, tensor<1x2x64x16xf32>) -> tensor<1x2x64x16xf32, {layout = ["0", "2", "1", "3"]}> loc("attention")
    %12 = "tgn.transpose"(%6) <{perm = [0, 2, 1, 3]}> : (tensor<1x2x64x16xf32, {layout = ["0", "2", "1", "3"]}>) -> tensor<1x64x2x16xf32> loc("t")
    %5 = "tgn.reshape"(%12) <{shape = [64, 32]}> : (tensor<1x64x2x16xf32>) -> tensor<64x32xf32> loc("z")
    "tgn.return"(%5) : (tensor<64x32xf32>) -> ()
  }) : () -> ()
}) : () -> ()
