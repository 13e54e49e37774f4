// A contraction unpacks its weights itself, a scale a group of k.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w", "s"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<3x96xbf16>, %w: tensor<8x96xi8>, %s: tensor<8x3xbf16>):
    %apart = "tgn.reshape"(%w) <{shape = [8, 3, 32]}> : (tensor<8x96xi8>) -> tensor<8x3x32xi8> loc("apart")
    %wide = "tgn.elementwise"(%apart) <{f = "cast:bf16"}> : (tensor<8x3x32xi8>) -> tensor<8x3x32xbf16> loc("wide")
    %scales = "tgn.reshape"(%s) <{shape = [8, 3, 1]}> : (tensor<8x3xbf16>) -> tensor<8x3x1xbf16> loc("scales")
    %scaled = "tgn.elementwise"(%wide, %scales) <{f = "mul"}> : (tensor<8x3x32xbf16>, tensor<8x3x1xbf16>) -> tensor<8x3x32xbf16> loc("scaled")
    %factor = "tgn.reshape"(%scaled) <{shape = [8, 96]}> : (tensor<8x3x32xbf16>) -> tensor<8x96xbf16> loc("factor")
    %product = "tgn.dot"(%x, %factor) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [1]}, out = "f32"}> : (tensor<3x96xbf16>, tensor<8x96xbf16>) -> tensor<3x8xf32> loc("product")
    %out = "tgn.elementwise"(%product) <{f = "cast:bf16"}> : (tensor<3x8xf32>) -> tensor<3x8xbf16> loc("out")
    "tgn.return"(%out) : (tensor<3x8xbf16>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// scaled: fused mul into cast:bf16 "wide"
// out: fused cast:bf16 into dot "product"
// apart: fused reshape into dot "product"
// wide: fused cast:bf16 into dot "product"
// scales: fused reshape into dot "product"
// scaled: fused mul into dot "product"
// factor: fused reshape into dot "product"
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w", "s"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<3x96xbf16>, %1: tensor<8x96xi8>, %2: tensor<8x3xbf16>):
    %10 = "tgn.kernel"(%1, %2, %0) <{class = "dot"}> ({
    ^bb0(%11: tensor<8x96xi8>, %12: tensor<8x3xbf16>, %13: tensor<3x96xbf16>):
      %14 = "tgn.reshape"(%11) <{shape = [8, 3, 32]}> : (tensor<8x96xi8>) -> tensor<8x3x32xi8> loc("apart")
      %15 = "tgn.elementwise"(%14) <{f = "cast:bf16"}> : (tensor<8x3x32xi8>) -> tensor<8x3x32xbf16> loc("wide")
      %16 = "tgn.reshape"(%12) <{shape = [8, 3, 1]}> : (tensor<8x3xbf16>) -> tensor<8x3x1xbf16> loc("scales")
      %17 = "tgn.elementwise"(%15, %16) <{f = "mul"}> : (tensor<8x3x32xbf16>, tensor<8x3x1xbf16>) -> tensor<8x3x32xbf16> loc("scaled")
      %18 = "tgn.reshape"(%17) <{shape = [8, 96]}> : (tensor<8x3x32xbf16>) -> tensor<8x96xbf16> loc("factor")
      %8 = "tgn.dot"(%13, %18) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [1]}, out = "f32"}> : (tensor<3x96xbf16>, tensor<8x96xbf16>) -> tensor<3x8xf32> loc("product")
      %9 = "tgn.elementwise"(%8) <{f = "cast:bf16"}> : (tensor<3x8xf32>) -> tensor<3x8xbf16> loc("out")
      "tgn.yield"(%9) : (tensor<3x8xbf16>) -> ()
    }) : (tensor<8x96xi8>, tensor<8x3xbf16>, tensor<3x96xbf16>) -> tensor<3x8xbf16> loc(fused["product", "apart", "wide", "scales", "scaled", "factor", "out"])
    "tgn.return"(%10) : (tensor<3x8xbf16>) -> ()
  }) : () -> ()
}) : () -> ()
