// Kernels of two shapes, fewer of each than are worth it, stay as they are.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "y", "w"], result_names = ["a", "b"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %y: tensor<5x3xf32>, %w: tensor<3x3xf32>):
    %n1056964608 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1056964608}> : () -> tensor<1x1xf32>
    %n1048576000 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1048576000}> : () -> tensor<1x1xf32>
    %n1040187392 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1040187392}> : () -> tensor<1x1xf32>
    %n1031798784 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1031798784}> : () -> tensor<1x1xf32>
    %ma0 = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
    %a0 = "tgn.elementwise"(%ma0, %n1056964608) <{f = "mul"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("a0")
    %ma1 = "tgn.dot"(%a0, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
    %a1 = "tgn.elementwise"(%ma1, %n1048576000) <{f = "mul"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("a1")
    %mb0 = "tgn.dot"(%y, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<5x3xf32>, tensor<3x3xf32>) -> tensor<5x3xf32>
    %b0 = "tgn.elementwise"(%mb0, %n1040187392) <{f = "mul"}> : (tensor<5x3xf32>, tensor<1x1xf32>) -> tensor<5x3xf32> loc("b0")
    %mb1 = "tgn.dot"(%b0, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<5x3xf32>, tensor<3x3xf32>) -> tensor<5x3xf32>
    %b1 = "tgn.elementwise"(%mb1, %n1031798784) <{f = "mul"}> : (tensor<5x3xf32>, tensor<1x1xf32>) -> tensor<5x3xf32> loc("b1")
    "tgn.return"(%a1, %b1) : (tensor<2x3xf32>, tensor<5x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// a0: fused mul into dot
// b0: fused mul into dot
// a1: fused mul into dot
// b1: fused mul into dot
// fused splat into dot
// fused splat into dot
// fused splat into dot
// fused splat into dot
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "y", "w"], result_names = ["a", "b"]}> ({
  ^bb0(%0: tensor<2x3xf32>, %1: tensor<5x3xf32>, %2: tensor<3x3xf32>):
    %15 = "tgn.kernel"(%0, %2) <{class = "dot"}> ({
    ^bb0(%16: tensor<2x3xf32>, %17: tensor<3x3xf32>):
      %3 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1056964608}> : () -> tensor<1x1xf32>
      %7 = "tgn.dot"(%16, %17) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
      %8 = "tgn.elementwise"(%7, %3) <{f = "mul"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("a0")
      "tgn.yield"(%8) : (tensor<2x3xf32>) -> ()
    }) : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32> loc("a0")
    %18 = "tgn.kernel"(%15, %2) <{class = "dot"}> ({
    ^bb0(%19: tensor<2x3xf32>, %20: tensor<3x3xf32>):
      %4 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1048576000}> : () -> tensor<1x1xf32>
      %9 = "tgn.dot"(%19, %20) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
      %10 = "tgn.elementwise"(%9, %4) <{f = "mul"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("a1")
      "tgn.yield"(%10) : (tensor<2x3xf32>) -> ()
    }) : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32> loc("a1")
    %21 = "tgn.kernel"(%1, %2) <{class = "dot"}> ({
    ^bb0(%22: tensor<5x3xf32>, %23: tensor<3x3xf32>):
      %5 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1040187392}> : () -> tensor<1x1xf32>
      %11 = "tgn.dot"(%22, %23) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<5x3xf32>, tensor<3x3xf32>) -> tensor<5x3xf32>
      %12 = "tgn.elementwise"(%11, %5) <{f = "mul"}> : (tensor<5x3xf32>, tensor<1x1xf32>) -> tensor<5x3xf32> loc("b0")
      "tgn.yield"(%12) : (tensor<5x3xf32>) -> ()
    }) : (tensor<5x3xf32>, tensor<3x3xf32>) -> tensor<5x3xf32> loc("b0")
    %24 = "tgn.kernel"(%21, %2) <{class = "dot"}> ({
    ^bb0(%25: tensor<5x3xf32>, %26: tensor<3x3xf32>):
      %6 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1031798784}> : () -> tensor<1x1xf32>
      %13 = "tgn.dot"(%25, %26) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<5x3xf32>, tensor<3x3xf32>) -> tensor<5x3xf32>
      %14 = "tgn.elementwise"(%13, %6) <{f = "mul"}> : (tensor<5x3xf32>, tensor<1x1xf32>) -> tensor<5x3xf32> loc("b1")
      "tgn.yield"(%14) : (tensor<5x3xf32>) -> ()
    }) : (tensor<5x3xf32>, tensor<3x3xf32>) -> tensor<5x3xf32> loc("b1")
    "tgn.return"(%18, %24) : (tensor<2x3xf32>, tensor<5x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
