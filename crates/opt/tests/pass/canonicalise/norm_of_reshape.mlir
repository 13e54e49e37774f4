// Splitting rows of a contraction moves below what acts on the last axes; not where it splits those.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w", "s"], result_names = ["a", "b", "c"]}> ({
  ^bb0(%x: tensor<6x5xf32>, %w: tensor<5x4xf32>, %s: tensor<4xf32>):
    %d = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32> loc("d")
    %r = "tgn.reshape"(%d) <{shape = [2, 3, 4]}> : (tensor<6x4xf32>) -> tensor<2x3x4xf32> loc("r")
    %n = "tgn.layer_norm"(%r, %s) <{axis = 2, eps = 1.0e-05}> : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32> loc("n")
    %g = "tgn.gelu"(%n) <{tanh = false}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32> loc("g")
    %a = "tgn.softmax"(%g) <{axis = 2, log = false}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32> loc("a")
    %b = "tgn.softmax"(%r) <{axis = 1, log = false}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32> loc("b")
    %q = "tgn.reshape"(%d) <{shape = [6, 2, 2]}> : (tensor<6x4xf32>) -> tensor<6x2x2xf32> loc("q")
    %c = "tgn.softmax"(%q) <{axis = 2, log = false}> : (tensor<6x2x2xf32>) -> tensor<6x2x2xf32> loc("c")
    "tgn.return"(%a, %b, %c) : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<6x2x2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// n: norm(reshape(x)) => reshape(norm(x))
// g: norm(reshape(x)) => reshape(norm(x))
// a: norm(reshape(x)) => reshape(norm(x))
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w", "s"], result_names = ["a", "b", "c"]}> ({
  ^bb0(%0: tensor<6x5xf32>, %1: tensor<5x4xf32>, %2: tensor<4xf32>):
    %3 = "tgn.dot"(%0, %1) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<6x5xf32>, tensor<5x4xf32>) -> tensor<6x4xf32> loc("d")
    %4 = "tgn.reshape"(%3) <{shape = [2, 3, 4]}> : (tensor<6x4xf32>) -> tensor<2x3x4xf32> loc("r")
    %11 = "tgn.layer_norm"(%3, %2) <{axis = 1, eps = 1.0e-5 : f64}> : (tensor<6x4xf32>, tensor<4xf32>) -> tensor<6x4xf32> loc("n")
    %13 = "tgn.gelu"(%11) <{tanh = false}> : (tensor<6x4xf32>) -> tensor<6x4xf32> loc("g")
    %15 = "tgn.softmax"(%13) <{axis = 1, log = false}> : (tensor<6x4xf32>) -> tensor<6x4xf32> loc("a")
    %16 = "tgn.reshape"(%15) <{shape = [2, 3, 4]}> : (tensor<6x4xf32>) -> tensor<2x3x4xf32> loc("r")
    %8 = "tgn.softmax"(%4) <{axis = 1, log = false}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32> loc("b")
    %9 = "tgn.reshape"(%3) <{shape = [6, 2, 2]}> : (tensor<6x4xf32>) -> tensor<6x2x2xf32> loc("q")
    %10 = "tgn.softmax"(%9) <{axis = 2, log = false}> : (tensor<6x2x2xf32>) -> tensor<6x2x2xf32> loc("c")
    "tgn.return"(%16, %8, %10) : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<6x2x2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
