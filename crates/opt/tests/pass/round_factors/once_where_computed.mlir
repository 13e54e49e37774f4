// A factor is rounded where it is computed, moved as bf16, and read in f32 by what adds to it.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y", "z"]}> ({
  ^bb0(%x: tensor<5x96xf32>, %w: tensor<5x96xf32>):
    %e = "tgn.elementwise"(%x) <{f = "exp"}> : (tensor<5x96xf32>) -> tensor<5x96xf32> loc("e")
    %t = "tgn.transpose"(%e) <{perm = [1, 0]}> : (tensor<5x96xf32>) -> tensor<96x5xf32> loc("t")
    %y = "tgn.dot"(%w, %t) <{dims = {lhs_batch = [], lhs_contract = [1], rhs_batch = [], rhs_contract = [0]}, out = "f32"}> : (tensor<5x96xf32>, tensor<96x5xf32>) -> tensor<5x5xf32> loc("y")
    %z = "tgn.elementwise"(%e, %x) <{f = "add"}> : (tensor<5x96xf32>, tensor<5x96xf32>) -> tensor<5x96xf32> loc("z")
    "tgn.return"(%y, %z) : (tensor<5x5xf32>, tensor<5x96xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// e: rounded to bf16, as a contraction reads it
// y: its factors are rounded to bf16, sums are f32
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y", "z"]}> ({
  ^bb0(%0: tensor<5x96xf32>, %1: tensor<5x96xf32>):
    %6 = "tgn.elementwise"(%0) <{f = "exp"}> : (tensor<5x96xf32>) -> tensor<5x96xf32> loc("e")
    %7 = "tgn.elementwise"(%6) <{f = "cast:bf16"}> : (tensor<5x96xf32>) -> tensor<5x96xbf16> loc("e")
    %8 = "tgn.transpose"(%6) <{perm = [1, 0]}> : (tensor<5x96xf32>) -> tensor<96x5xf32> loc("t")
    %9 = "tgn.transpose"(%7) <{perm = [1, 0]}> : (tensor<5x96xbf16>) -> tensor<96x5xbf16> loc("t")
    %10 = "tgn.elementwise"(%1) <{f = "cast:bf16"}> : (tensor<5x96xf32>) -> tensor<5x96xbf16> loc("y")
    %11 = "tgn.dot"(%10, %9) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<5x96xbf16>, tensor<96x5xbf16>) -> tensor<5x5xf32> loc("y")
    %5 = "tgn.elementwise"(%6, %0) <{f = "add"}> : (tensor<5x96xf32>, tensor<5x96xf32>) -> tensor<5x96xf32> loc("z")
    "tgn.return"(%11, %5) : (tensor<5x5xf32>, tensor<5x96xf32>) -> ()
  }) : () -> ()
}) : () -> ()
