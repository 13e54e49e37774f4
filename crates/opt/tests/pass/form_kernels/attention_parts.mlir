// Attention reads its parts of one buffer where they lie; keys that are some rows of more are copied.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "cache"], result_names = ["y", "late"]}> ({
  ^bb0(%x: tensor<?x?x3x2x16xf32, {dims = ["b", "n"]}>, %cache: tensor<?x9x2x16xf32, {dims = ["b"]}>):
    %v = "tgn.transpose"(%x) <{perm = [2, 0, 3, 1, 4]}> : (tensor<?x?x3x2x16xf32, {dims = ["b", "n"]}>) -> tensor<3x?x2x?x16xf32, {dims = ["b", "n"]}> loc("parts")
    %s0 = "tgn.slice"(%v) <{starts = [0, 0, 0, 0, 0], sizes = [1, "b", 2, "n", 16], steps = [1, 1, 1, 1, 1]}> : (tensor<3x?x2x?x16xf32, {dims = ["b", "n"]}>) -> tensor<1x?x2x?x16xf32, {dims = ["b", "n"]}> loc("slice0")
    %t0 = "tgn.reshape"(%s0) <{shape = ["b", 2, "n", 16]}> : (tensor<1x?x2x?x16xf32, {dims = ["b", "n"]}>) -> tensor<?x2x?x16xf32, {dims = ["b", "n"]}> loc("part0")
    %s1 = "tgn.slice"(%v) <{starts = [1, 0, 0, 0, 0], sizes = [1, "b", 2, "n", 16], steps = [1, 1, 1, 1, 1]}> : (tensor<3x?x2x?x16xf32, {dims = ["b", "n"]}>) -> tensor<1x?x2x?x16xf32, {dims = ["b", "n"]}> loc("slice1")
    %t1 = "tgn.reshape"(%s1) <{shape = ["b", 2, "n", 16]}> : (tensor<1x?x2x?x16xf32, {dims = ["b", "n"]}>) -> tensor<?x2x?x16xf32, {dims = ["b", "n"]}> loc("part1")
    %s2 = "tgn.slice"(%v) <{starts = [2, 0, 0, 0, 0], sizes = [1, "b", 2, "n", 16], steps = [1, 1, 1, 1, 1]}> : (tensor<3x?x2x?x16xf32, {dims = ["b", "n"]}>) -> tensor<1x?x2x?x16xf32, {dims = ["b", "n"]}> loc("slice2")
    %t2 = "tgn.reshape"(%s2) <{shape = ["b", 2, "n", 16]}> : (tensor<1x?x2x?x16xf32, {dims = ["b", "n"]}>) -> tensor<?x2x?x16xf32, {dims = ["b", "n"]}> loc("part2")
    %a = "tgn.attention"(%t0, %t1, %t2) <{scale = 2.5e-1 : f64, causal = false, window = 0, softcap = 0.0e0 : f64}> : (tensor<?x2x?x16xf32, {dims = ["b", "n"]}>, tensor<?x2x?x16xf32, {dims = ["b", "n"]}>, tensor<?x2x?x16xf32, {dims = ["b", "n"]}>) -> tensor<?x2x?x16xf32, {dims = ["b", "n"]}> loc("attention")
    %k = "tgn.slice"(%cache) <{starts = [0, 0, 0, 0], sizes = ["b", 5, 2, 16], steps = [1, 1, 1, 1]}> : (tensor<?x9x2x16xf32, {dims = ["b"]}>) -> tensor<?x5x2x16xf32, {dims = ["b"]}> loc("some")
    %kt = "tgn.transpose"(%k) <{perm = [0, 2, 1, 3]}> : (tensor<?x5x2x16xf32, {dims = ["b"]}>) -> tensor<?x2x5x16xf32, {dims = ["b"]}> loc("keys")
    %l = "tgn.attention"(%a, %kt, %kt) <{scale = 2.5e-1 : f64, causal = false, window = 0, softcap = 0.0e0 : f64}> : (tensor<?x2x?x16xf32, {dims = ["b", "n"]}>, tensor<?x2x5x16xf32, {dims = ["b"]}>, tensor<?x2x5x16xf32, {dims = ["b"]}>) -> tensor<?x2x?x16xf32, {dims = ["b", "n"]}> loc("late")
    "tgn.return"(%a, %l) : (tensor<?x2x?x16xf32, {dims = ["b", "n"]}>, tensor<?x2x?x16xf32, {dims = ["b", "n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {axis = 0, input = 0}, n = {axis = 1, input = 0}}} : () -> ()
// -----
// keys: fused transpose into attention "late"
// some: not fused into attention "late": attention reads buffers
// part2: fused reshape into attention "attention"
// slice2: fused slice into attention "attention"
// part1: fused reshape into attention "attention"
// slice1: fused slice into attention "attention"
// part0: fused reshape into attention "attention"
// slice0: fused slice into attention "attention"
// parts: fused transpose into attention "attention"
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "cache"], result_names = ["y", "late"]}> ({
  ^bb0(%0: tensor<?x?x3x2x16xf32, {dims = ["b", "n"]}>, %1: tensor<?x9x2x16xf32, {dims = ["b"]}>):
    %13 = "tgn.kernel"(%0) <{class = "attention"}> ({
    ^bb0(%14: tensor<?x?x3x2x16xf32, {dims = ["b", "n"]}>):
      %2 = "tgn.transpose"(%14) <{perm = [2, 0, 3, 1, 4]}> : (tensor<?x?x3x2x16xf32, {dims = ["b", "n"]}>) -> tensor<3x?x2x?x16xf32, {dims = ["b", "n"]}> loc("parts")
      %3 = "tgn.slice"(%2) <{starts = [0, 0, 0, 0, 0], sizes = [1, "b", 2, "n", 16], steps = [1, 1, 1, 1, 1]}> : (tensor<3x?x2x?x16xf32, {dims = ["b", "n"]}>) -> tensor<1x?x2x?x16xf32, {dims = ["b", "n"]}> loc("slice0")
      %4 = "tgn.reshape"(%3) <{shape = ["b", 2, "n", 16]}> : (tensor<1x?x2x?x16xf32, {dims = ["b", "n"]}>) -> tensor<?x2x?x16xf32, {dims = ["b", "n"]}> loc("part0")
      %5 = "tgn.slice"(%2) <{starts = [1, 0, 0, 0, 0], sizes = [1, "b", 2, "n", 16], steps = [1, 1, 1, 1, 1]}> : (tensor<3x?x2x?x16xf32, {dims = ["b", "n"]}>) -> tensor<1x?x2x?x16xf32, {dims = ["b", "n"]}> loc("slice1")
      %6 = "tgn.reshape"(%5) <{shape = ["b", 2, "n", 16]}> : (tensor<1x?x2x?x16xf32, {dims = ["b", "n"]}>) -> tensor<?x2x?x16xf32, {dims = ["b", "n"]}> loc("part1")
      %7 = "tgn.slice"(%2) <{starts = [2, 0, 0, 0, 0], sizes = [1, "b", 2, "n", 16], steps = [1, 1, 1, 1, 1]}> : (tensor<3x?x2x?x16xf32, {dims = ["b", "n"]}>) -> tensor<1x?x2x?x16xf32, {dims = ["b", "n"]}> loc("slice2")
      %8 = "tgn.reshape"(%7) <{shape = ["b", 2, "n", 16]}> : (tensor<1x?x2x?x16xf32, {dims = ["b", "n"]}>) -> tensor<?x2x?x16xf32, {dims = ["b", "n"]}> loc("part2")
      %9 = "tgn.attention"(%4, %6, %8) <{scale = 2.5e-1 : f64, causal = false, window = 0, softcap = 0.0e0 : f64}> : (tensor<?x2x?x16xf32, {dims = ["b", "n"]}>, tensor<?x2x?x16xf32, {dims = ["b", "n"]}>, tensor<?x2x?x16xf32, {dims = ["b", "n"]}>) -> tensor<?x2x?x16xf32, {dims = ["b", "n"]}> loc("attention")
      "tgn.yield"(%9) : (tensor<?x2x?x16xf32, {dims = ["b", "n"]}>) -> ()
    }) : (tensor<?x?x3x2x16xf32, {dims = ["b", "n"]}>) -> tensor<?x2x?x16xf32, {dims = ["b", "n"]}> loc(fused["attention", "parts", "slice0", "part0", "slice1", "part1", "slice2", "part2"])
    %15 = "tgn.kernel"(%1) <{class = "map"}> ({
    ^bb0(%16: tensor<?x9x2x16xf32, {dims = ["b"]}>):
      %10 = "tgn.slice"(%16) <{starts = [0, 0, 0, 0], sizes = ["b", 5, 2, 16], steps = [1, 1, 1, 1]}> : (tensor<?x9x2x16xf32, {dims = ["b"]}>) -> tensor<?x5x2x16xf32, {dims = ["b"]}> loc("some")
      "tgn.yield"(%10) : (tensor<?x5x2x16xf32, {dims = ["b"]}>) -> ()
    }) : (tensor<?x9x2x16xf32, {dims = ["b"]}>) -> tensor<?x5x2x16xf32, {dims = ["b"]}> loc("some")
    %17 = "tgn.kernel"(%15, %13) <{class = "attention"}> ({
    ^bb0(%18: tensor<?x5x2x16xf32, {dims = ["b"]}>, %19: tensor<?x2x?x16xf32, {dims = ["b", "n"]}>):
      %11 = "tgn.transpose"(%18) <{perm = [0, 2, 1, 3]}> : (tensor<?x5x2x16xf32, {dims = ["b"]}>) -> tensor<?x2x5x16xf32, {dims = ["b"]}> loc("keys")
      %12 = "tgn.attention"(%19, %11, %11) <{scale = 2.5e-1 : f64, causal = false, window = 0, softcap = 0.0e0 : f64}> : (tensor<?x2x?x16xf32, {dims = ["b", "n"]}>, tensor<?x2x5x16xf32, {dims = ["b"]}>, tensor<?x2x5x16xf32, {dims = ["b"]}>) -> tensor<?x2x?x16xf32, {dims = ["b", "n"]}> loc("late")
      "tgn.yield"(%12) : (tensor<?x2x?x16xf32, {dims = ["b", "n"]}>) -> ()
    }) : (tensor<?x5x2x16xf32, {dims = ["b"]}>, tensor<?x2x?x16xf32, {dims = ["b", "n"]}>) -> tensor<?x2x?x16xf32, {dims = ["b", "n"]}> loc(fused["late", "keys"])
    "tgn.return"(%13, %17) : (tensor<?x2x?x16xf32, {dims = ["b", "n"]}>, tensor<?x2x?x16xf32, {dims = ["b", "n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, n = {input = 0, axis = 1}}} : () -> ()
