// Groups that no tile of k divides are unpacked before.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w", "s"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<3x96xbf16>, %w: tensor<8x96xi8>, %s: tensor<8x4xbf16>):
    %apart = "tgn.reshape"(%w) <{shape = [8, 4, 24]}> : (tensor<8x96xi8>) -> tensor<8x4x24xi8> loc("apart")
    %wide = "tgn.elementwise"(%apart) <{f = "cast:bf16"}> : (tensor<8x4x24xi8>) -> tensor<8x4x24xbf16> loc("wide")
    %scales = "tgn.reshape"(%s) <{shape = [8, 4, 1]}> : (tensor<8x4xbf16>) -> tensor<8x4x1xbf16> loc("scales")
    %scaled = "tgn.elementwise"(%wide, %scales) <{f = "mul"}> : (tensor<8x4x24xbf16>, tensor<8x4x1xbf16>) -> tensor<8x4x24xbf16> loc("scaled")
    %factor = "tgn.reshape"(%scaled) <{shape = [8, 96]}> : (tensor<8x4x24xbf16>) -> tensor<8x96xbf16> loc("factor")
    %product = "tgn.dot"(%x, %factor) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [1]}, out = "f32"}> : (tensor<3x96xbf16>, tensor<8x96xbf16>) -> tensor<3x8xf32> loc("product")
    %out = "tgn.elementwise"(%product) <{f = "cast:bf16"}> : (tensor<3x8xf32>) -> tensor<3x8xbf16> loc("out")
    "tgn.return"(%out) : (tensor<3x8xbf16>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// scaled: fused mul into cast:bf16 "wide"
// out: fused cast:bf16 into dot "product"
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w", "s"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<3x96xbf16>, %1: tensor<8x96xi8>, %2: tensor<8x4xbf16>):
    %3 = "tgn.reshape"(%1) <{shape = [8, 4, 24]}> : (tensor<8x96xi8>) -> tensor<8x4x24xi8> loc("apart")
    %5 = "tgn.reshape"(%2) <{shape = [8, 4, 1]}> : (tensor<8x4xbf16>) -> tensor<8x4x1xbf16> loc("scales")
    %10 = "tgn.kernel"(%3, %5) <{class = "map"}> ({
    ^bb0(%11: tensor<8x4x24xi8>, %12: tensor<8x4x1xbf16>):
      %4 = "tgn.elementwise"(%11) <{f = "cast:bf16"}> : (tensor<8x4x24xi8>) -> tensor<8x4x24xbf16> loc("wide")
      %6 = "tgn.elementwise"(%4, %12) <{f = "mul"}> : (tensor<8x4x24xbf16>, tensor<8x4x1xbf16>) -> tensor<8x4x24xbf16> loc("scaled")
      "tgn.yield"(%6) : (tensor<8x4x24xbf16>) -> ()
    }) : (tensor<8x4x24xi8>, tensor<8x4x1xbf16>) -> tensor<8x4x24xbf16> loc(fused["scaled", "wide"])
    %7 = "tgn.reshape"(%10) <{shape = [8, 96]}> : (tensor<8x4x24xbf16>) -> tensor<8x96xbf16> loc("factor")
    %13 = "tgn.kernel"(%0, %7) <{class = "dot"}> ({
    ^bb0(%14: tensor<3x96xbf16>, %15: tensor<8x96xbf16>):
      %8 = "tgn.dot"(%14, %15) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [1]}, out = "f32"}> : (tensor<3x96xbf16>, tensor<8x96xbf16>) -> tensor<3x8xf32> loc("product")
      %9 = "tgn.elementwise"(%8) <{f = "cast:bf16"}> : (tensor<3x8xf32>) -> tensor<3x8xbf16> loc("out")
      "tgn.yield"(%9) : (tensor<3x8xbf16>) -> ()
    }) : (tensor<3x96xbf16>, tensor<8x96xbf16>) -> tensor<3x8xbf16> loc(fused["product", "out"])
    "tgn.return"(%13) : (tensor<3x8xbf16>) -> ()
  }) : () -> ()
}) : () -> ()
