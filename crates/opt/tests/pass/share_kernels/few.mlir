// Two kernels that differ in a scale stay two: a number in the code costs less.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["r"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %w: tensor<3x3xf32>):
    %one = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1065353216}> : () -> tensor<1x1xf32>
    %n1056964608 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1056964608}> : () -> tensor<1x1xf32>
    %n1048576000 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1048576000}> : () -> tensor<1x1xf32>
    %m0 = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
    %d0 = "tgn.elementwise"(%m0, %n1056964608) <{f = "mul"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("d0")
    %e0 = "tgn.elementwise"(%d0, %one) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("e0")
    %f0 = "tgn.elementwise"(%e0, %n1048576000) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("f0")
    %r0 = "tgn.elementwise"(%f0, %n1056964608) <{f = "div"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("r0")
    %m1 = "tgn.dot"(%r0, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
    %d1 = "tgn.elementwise"(%m1, %n1048576000) <{f = "mul"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("d1")
    %e1 = "tgn.elementwise"(%d1, %one) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("e1")
    %f1 = "tgn.elementwise"(%e1, %n1048576000) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("f1")
    %r1 = "tgn.elementwise"(%f1, %n1048576000) <{f = "div"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("r1")
    %m2 = "tgn.dot"(%r1, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
    %d2 = "tgn.elementwise"(%m2, %n1056964608) <{f = "mul"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("d2")
    %e2 = "tgn.elementwise"(%d2, %one) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("e2")
    %f2 = "tgn.elementwise"(%e2, %n1048576000) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("f2")
    %r2 = "tgn.elementwise"(%f2, %n1056964608) <{f = "div"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("r2")
    "tgn.return"(%r2) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// d0: fused mul into dot
// e0: fused add into dot
// f0: fused add into dot
// r0: fused div into dot
// d1: fused mul into dot
// e1: fused add into dot
// f1: fused add into dot
// r1: fused div into dot
// d2: fused mul into dot
// e2: fused add into dot
// f2: fused add into dot
// r2: fused div into dot
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["r"]}> ({
  ^bb0(%0: tensor<2x3xf32>, %1: tensor<3x3xf32>):
    %20 = "tgn.kernel"(%0, %1) <{class = "dot"}> ({
    ^bb0(%21: tensor<2x3xf32>, %22: tensor<3x3xf32>):
      %23 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1065353216}> : () -> tensor<1x1xf32>
      %24 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1056964608}> : () -> tensor<1x1xf32>
      %25 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1048576000}> : () -> tensor<1x1xf32>
      %5 = "tgn.dot"(%21, %22) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
      %6 = "tgn.elementwise"(%5, %24) <{f = "mul"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("d0")
      %7 = "tgn.elementwise"(%6, %23) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("e0")
      %8 = "tgn.elementwise"(%7, %25) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("f0")
      %9 = "tgn.elementwise"(%8, %24) <{f = "div"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("r0")
      "tgn.yield"(%9) : (tensor<2x3xf32>) -> ()
    }) : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32> loc(fused["d0", "e0", "f0", "r0"])
    %26 = "tgn.kernel"(%20, %1) <{class = "dot"}> ({
    ^bb0(%27: tensor<2x3xf32>, %28: tensor<3x3xf32>):
      %29 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1065353216}> : () -> tensor<1x1xf32>
      %30 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1048576000}> : () -> tensor<1x1xf32>
      %10 = "tgn.dot"(%27, %28) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
      %11 = "tgn.elementwise"(%10, %30) <{f = "mul"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("d1")
      %12 = "tgn.elementwise"(%11, %29) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("e1")
      %13 = "tgn.elementwise"(%12, %30) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("f1")
      %14 = "tgn.elementwise"(%13, %30) <{f = "div"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("r1")
      "tgn.yield"(%14) : (tensor<2x3xf32>) -> ()
    }) : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32> loc(fused["d1", "e1", "f1", "r1"])
    %31 = "tgn.kernel"(%26, %1) <{class = "dot"}> ({
    ^bb0(%32: tensor<2x3xf32>, %33: tensor<3x3xf32>):
      %34 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1065353216}> : () -> tensor<1x1xf32>
      %35 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1056964608}> : () -> tensor<1x1xf32>
      %36 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1048576000}> : () -> tensor<1x1xf32>
      %15 = "tgn.dot"(%32, %33) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
      %16 = "tgn.elementwise"(%15, %35) <{f = "mul"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("d2")
      %17 = "tgn.elementwise"(%16, %34) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("e2")
      %18 = "tgn.elementwise"(%17, %36) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("f2")
      %19 = "tgn.elementwise"(%18, %35) <{f = "div"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("r2")
      "tgn.yield"(%19) : (tensor<2x3xf32>) -> ()
    }) : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32> loc(fused["d2", "e2", "f2", "r2"])
    "tgn.return"(%31) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
