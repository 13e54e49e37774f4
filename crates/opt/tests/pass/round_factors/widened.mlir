// What a model widens itself is a product of f32; one of 16-bit floats that was widened for the machine keeps its factors.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y", "z"]}> ({
  ^bb0(%x: tensor<9x80xf16>, %w: tensor<80x5xf32>):
    %wide = "tgn.elementwise"(%x) <{f = "cast:f32"}> : (tensor<9x80xf16>) -> tensor<9x80xf32> loc("wide")
    %y = "tgn.dot"(%wide, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<9x80xf32>, tensor<80x5xf32>) -> tensor<9x5xf32> loc("y")
    %sums = "tgn.dot"(%wide, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<9x80xf32>, tensor<80x5xf32>) -> tensor<9x5xf32> loc("sums")
    %z = "tgn.elementwise"(%sums) <{f = "cast:f16:wrap"}> : (tensor<9x5xf32>) -> tensor<9x5xf16> loc("z")
    "tgn.return"(%y, %z) : (tensor<9x5xf32>, tensor<9x5xf16>) -> ()
  }) : () -> ()
}) {tgn.symbols = {}} : () -> ()
// -----
// wide: rounded to bf16, as a contraction reads it
// y: its factors are rounded to bf16, sums are f32
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y", "z"]}> ({
  ^bb0(%0: tensor<9x80xf16>, %1: tensor<80x5xf32>):
    %6 = "tgn.elementwise"(%0) <{f = "cast:f32"}> : (tensor<9x80xf16>) -> tensor<9x80xf32> loc("wide")
    %7 = "tgn.elementwise"(%6) <{f = "cast:bf16"}> : (tensor<9x80xf32>) -> tensor<9x80xbf16> loc("wide")
    %8 = "tgn.elementwise"(%1) <{f = "cast:bf16"}> : (tensor<80x5xf32>) -> tensor<80x5xbf16> loc("y")
    %9 = "tgn.dot"(%7, %8) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<9x80xbf16>, tensor<80x5xbf16>) -> tensor<9x5xf32> loc("y")
    %4 = "tgn.dot"(%6, %1) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<9x80xf32>, tensor<80x5xf32>) -> tensor<9x5xf32> loc("sums")
    %5 = "tgn.elementwise"(%4) <{f = "cast:f16:wrap"}> : (tensor<9x5xf32>) -> tensor<9x5xf16> loc("z")
    "tgn.return"(%9, %5) : (tensor<9x5xf32>, tensor<9x5xf16>) -> ()
  }) : () -> ()
}) : () -> ()
