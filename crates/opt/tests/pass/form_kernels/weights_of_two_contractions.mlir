// Contractions that share weights in few bits unpack them each; nobody else does.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "z", "w", "s"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<3x64xbf16>, %z: tensor<3x64xbf16>, %w: tensor<8x64xi8>, %s: tensor<8x2xbf16>):
    %apart = "tgn.reshape"(%w) <{shape = [8, 2, 32]}> : (tensor<8x64xi8>) -> tensor<8x2x32xi8> loc("apart")
    %wide = "tgn.elementwise"(%apart) <{f = "cast:bf16"}> : (tensor<8x2x32xi8>) -> tensor<8x2x32xbf16> loc("wide")
    %scales = "tgn.reshape"(%s) <{shape = [8, 2, 1]}> : (tensor<8x2xbf16>) -> tensor<8x2x1xbf16> loc("scales")
    %scaled = "tgn.elementwise"(%wide, %scales) <{f = "mul"}> : (tensor<8x2x32xbf16>, tensor<8x2x1xbf16>) -> tensor<8x2x32xbf16> loc("scaled")
    %factor = "tgn.reshape"(%scaled) <{shape = [8, 64]}> : (tensor<8x2x32xbf16>) -> tensor<8x64xbf16> loc("factor")
    %one = "tgn.dot"(%x, %factor) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [1]}, out = "f32"}> : (tensor<3x64xbf16>, tensor<8x64xbf16>) -> tensor<3x8xf32> loc("one")
    %two = "tgn.dot"(%z, %factor) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [1]}, out = "f32"}> : (tensor<3x64xbf16>, tensor<8x64xbf16>) -> tensor<3x8xf32> loc("two")
    %y = "tgn.elementwise"(%one, %two) <{f = "add"}> : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32> loc("y")
    "tgn.return"(%y) : (tensor<3x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// scaled: fused mul into cast:bf16 "wide"
// y: fused add into dot "two"
// apart: fused reshape into dot "one"
// wide: fused cast:bf16 into dot "one"
// scales: fused reshape into dot "one"
// scaled: fused mul into dot "one"
// factor: fused reshape into dot "one"
// apart: fused reshape into dot "two"
// wide: fused cast:bf16 into dot "two"
// scales: fused reshape into dot "two"
// scaled: fused mul into dot "two"
// factor: fused reshape into dot "two"
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "z", "w", "s"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<3x64xbf16>, %1: tensor<3x64xbf16>, %2: tensor<8x64xi8>, %3: tensor<8x2xbf16>):
    %12 = "tgn.kernel"(%2, %3, %0) <{class = "dot"}> ({
    ^bb0(%13: tensor<8x64xi8>, %14: tensor<8x2xbf16>, %15: tensor<3x64xbf16>):
      %16 = "tgn.reshape"(%13) <{shape = [8, 2, 32]}> : (tensor<8x64xi8>) -> tensor<8x2x32xi8> loc("apart")
      %17 = "tgn.elementwise"(%16) <{f = "cast:bf16"}> : (tensor<8x2x32xi8>) -> tensor<8x2x32xbf16> loc("wide")
      %18 = "tgn.reshape"(%14) <{shape = [8, 2, 1]}> : (tensor<8x2xbf16>) -> tensor<8x2x1xbf16> loc("scales")
      %19 = "tgn.elementwise"(%17, %18) <{f = "mul"}> : (tensor<8x2x32xbf16>, tensor<8x2x1xbf16>) -> tensor<8x2x32xbf16> loc("scaled")
      %20 = "tgn.reshape"(%19) <{shape = [8, 64]}> : (tensor<8x2x32xbf16>) -> tensor<8x64xbf16> loc("factor")
      %9 = "tgn.dot"(%15, %20) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [1]}, out = "f32"}> : (tensor<3x64xbf16>, tensor<8x64xbf16>) -> tensor<3x8xf32> loc("one")
      "tgn.yield"(%9) : (tensor<3x8xf32>) -> ()
    }) : (tensor<8x64xi8>, tensor<8x2xbf16>, tensor<3x64xbf16>) -> tensor<3x8xf32> loc(fused["one", "apart", "wide", "scales", "scaled", "factor"])
    %21 = "tgn.kernel"(%2, %3, %1, %12) <{class = "dot"}> ({
    ^bb0(%22: tensor<8x64xi8>, %23: tensor<8x2xbf16>, %24: tensor<3x64xbf16>, %25: tensor<3x8xf32>):
      %26 = "tgn.reshape"(%22) <{shape = [8, 2, 32]}> : (tensor<8x64xi8>) -> tensor<8x2x32xi8> loc("apart")
      %27 = "tgn.elementwise"(%26) <{f = "cast:bf16"}> : (tensor<8x2x32xi8>) -> tensor<8x2x32xbf16> loc("wide")
      %28 = "tgn.reshape"(%23) <{shape = [8, 2, 1]}> : (tensor<8x2xbf16>) -> tensor<8x2x1xbf16> loc("scales")
      %29 = "tgn.elementwise"(%27, %28) <{f = "mul"}> : (tensor<8x2x32xbf16>, tensor<8x2x1xbf16>) -> tensor<8x2x32xbf16> loc("scaled")
      %30 = "tgn.reshape"(%29) <{shape = [8, 64]}> : (tensor<8x2x32xbf16>) -> tensor<8x64xbf16> loc("factor")
      %10 = "tgn.dot"(%24, %30) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [1]}, out = "f32"}> : (tensor<3x64xbf16>, tensor<8x64xbf16>) -> tensor<3x8xf32> loc("two")
      %11 = "tgn.elementwise"(%25, %10) <{f = "add"}> : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32> loc("y")
      "tgn.yield"(%11) : (tensor<3x8xf32>) -> ()
    }) : (tensor<8x64xi8>, tensor<8x2xbf16>, tensor<3x64xbf16>, tensor<3x8xf32>) -> tensor<3x8xf32> loc(fused["two", "apart", "wide", "scales", "scaled", "factor", "y"])
    "tgn.return"(%21) : (tensor<3x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
