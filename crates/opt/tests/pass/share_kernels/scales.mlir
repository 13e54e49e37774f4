// Four kernels that differ in two numbers are given them, also the one in which both are equal; the number that they have in common stays.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["r"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %w: tensor<3x3xf32>):
    %one = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1065353216}> : () -> tensor<1x1xf32>
    %n1056964608 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1056964608}> : () -> tensor<1x1xf32>
    %n1048576000 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1048576000}> : () -> tensor<1x1xf32>
    %n1040187392 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1040187392}> : () -> tensor<1x1xf32>
    %n1031798784 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1031798784}> : () -> tensor<1x1xf32>
    %m0 = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
    %d0 = "tgn.elementwise"(%m0, %n1056964608) <{f = "mul"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("d0")
    %e0 = "tgn.elementwise"(%d0, %one) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("e0")
    %f0 = "tgn.elementwise"(%e0, %n1048576000) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("f0")
    %r0 = "tgn.elementwise"(%f0, %n1056964608) <{f = "div"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("r0")
    %m1 = "tgn.dot"(%r0, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
    %d1 = "tgn.elementwise"(%m1, %n1048576000) <{f = "mul"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("d1")
    %e1 = "tgn.elementwise"(%d1, %one) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("e1")
    %f1 = "tgn.elementwise"(%e1, %n1040187392) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("f1")
    %r1 = "tgn.elementwise"(%f1, %n1048576000) <{f = "div"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("r1")
    %m2 = "tgn.dot"(%r1, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
    %d2 = "tgn.elementwise"(%m2, %n1040187392) <{f = "mul"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("d2")
    %e2 = "tgn.elementwise"(%d2, %one) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("e2")
    %f2 = "tgn.elementwise"(%e2, %n1040187392) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("f2")
    %r2 = "tgn.elementwise"(%f2, %n1040187392) <{f = "div"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("r2")
    %m3 = "tgn.dot"(%r2, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
    %d3 = "tgn.elementwise"(%m3, %n1031798784) <{f = "mul"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("d3")
    %e3 = "tgn.elementwise"(%d3, %one) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("e3")
    %f3 = "tgn.elementwise"(%e3, %n1056964608) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("f3")
    %r3 = "tgn.elementwise"(%f3, %n1031798784) <{f = "div"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("r3")
    "tgn.return"(%r3) : (tensor<2x3xf32>) -> ()
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
// d3: fused mul into dot
// e3: fused add into dot
// f3: fused add into dot
// r3: fused div into dot
// fused splat into dot
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["r"]}> ({
  ^bb0(%0: tensor<2x3xf32>, %1: tensor<3x3xf32>):
    %49 = "tgn.constant"() <{id = dense_resource<const0> : tensor<1x1xf32>, dtype = "f32", shape = [1, 1]}> : () -> tensor<1x1xf32> loc("d0")
    %51 = "tgn.constant"() <{id = dense_resource<const1> : tensor<1x1xf32>, dtype = "f32", shape = [1, 1]}> : () -> tensor<1x1xf32> loc("d1")
    %53 = "tgn.constant"() <{id = dense_resource<const2> : tensor<1x1xf32>, dtype = "f32", shape = [1, 1]}> : () -> tensor<1x1xf32> loc("d2")
    %55 = "tgn.constant"() <{id = dense_resource<const3> : tensor<1x1xf32>, dtype = "f32", shape = [1, 1]}> : () -> tensor<1x1xf32> loc("d3")
    %57 = "tgn.constant"() <{id = dense_resource<const4> : tensor<1x1xf32>, dtype = "f32", shape = [1, 1]}> : () -> tensor<1x1xf32> loc("d0")
    %59 = "tgn.constant"() <{id = dense_resource<const5> : tensor<1x1xf32>, dtype = "f32", shape = [1, 1]}> : () -> tensor<1x1xf32> loc("d1")
    %61 = "tgn.constant"() <{id = dense_resource<const6> : tensor<1x1xf32>, dtype = "f32", shape = [1, 1]}> : () -> tensor<1x1xf32> loc("d2")
    %63 = "tgn.constant"() <{id = dense_resource<const7> : tensor<1x1xf32>, dtype = "f32", shape = [1, 1]}> : () -> tensor<1x1xf32> loc("d3")
    %27 = "tgn.kernel"(%0, %1, %49, %57) <{class = "dot"}> ({
    ^bb0(%28: tensor<2x3xf32>, %29: tensor<3x3xf32>, %50: tensor<1x1xf32>, %58: tensor<1x1xf32>):
      %30 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1065353216}> : () -> tensor<1x1xf32>
      %7 = "tgn.dot"(%28, %29) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
      %8 = "tgn.elementwise"(%7, %58) <{f = "mul"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("d0")
      %9 = "tgn.elementwise"(%8, %30) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("e0")
      %10 = "tgn.elementwise"(%9, %50) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("f0")
      %11 = "tgn.elementwise"(%10, %58) <{f = "div"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("r0")
      "tgn.yield"(%11) : (tensor<2x3xf32>) -> ()
    }) : (tensor<2x3xf32>, tensor<3x3xf32>, tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc(fused["d0", "e0", "f0", "r0"])
    %33 = "tgn.kernel"(%27, %1, %51, %59) <{class = "dot"}> ({
    ^bb0(%34: tensor<2x3xf32>, %35: tensor<3x3xf32>, %52: tensor<1x1xf32>, %60: tensor<1x1xf32>):
      %36 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1065353216}> : () -> tensor<1x1xf32>
      %12 = "tgn.dot"(%34, %35) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
      %13 = "tgn.elementwise"(%12, %60) <{f = "mul"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("d1")
      %14 = "tgn.elementwise"(%13, %36) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("e1")
      %15 = "tgn.elementwise"(%14, %52) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("f1")
      %16 = "tgn.elementwise"(%15, %60) <{f = "div"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("r1")
      "tgn.yield"(%16) : (tensor<2x3xf32>) -> ()
    }) : (tensor<2x3xf32>, tensor<3x3xf32>, tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc(fused["d1", "e1", "f1", "r1"])
    %39 = "tgn.kernel"(%33, %1, %53, %61) <{class = "dot"}> ({
    ^bb0(%40: tensor<2x3xf32>, %41: tensor<3x3xf32>, %54: tensor<1x1xf32>, %62: tensor<1x1xf32>):
      %42 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1065353216}> : () -> tensor<1x1xf32>
      %17 = "tgn.dot"(%40, %41) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
      %18 = "tgn.elementwise"(%17, %62) <{f = "mul"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("d2")
      %19 = "tgn.elementwise"(%18, %42) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("e2")
      %20 = "tgn.elementwise"(%19, %54) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("f2")
      %21 = "tgn.elementwise"(%20, %62) <{f = "div"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("r2")
      "tgn.yield"(%21) : (tensor<2x3xf32>) -> ()
    }) : (tensor<2x3xf32>, tensor<3x3xf32>, tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc(fused["d2", "e2", "f2", "r2"])
    %44 = "tgn.kernel"(%39, %1, %55, %63) <{class = "dot"}> ({
    ^bb0(%45: tensor<2x3xf32>, %46: tensor<3x3xf32>, %56: tensor<1x1xf32>, %64: tensor<1x1xf32>):
      %47 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1065353216}> : () -> tensor<1x1xf32>
      %22 = "tgn.dot"(%45, %46) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
      %23 = "tgn.elementwise"(%22, %64) <{f = "mul"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("d3")
      %24 = "tgn.elementwise"(%23, %47) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("e3")
      %25 = "tgn.elementwise"(%24, %56) <{f = "add"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("f3")
      %26 = "tgn.elementwise"(%25, %64) <{f = "div"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("r3")
      "tgn.yield"(%26) : (tensor<2x3xf32>) -> ()
    }) : (tensor<2x3xf32>, tensor<3x3xf32>, tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc(fused["d3", "e3", "f3", "r3"])
    "tgn.return"(%44) : (tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x400000000000803E",
      const1: "0x400000000000003E",
      const2: "0x400000000000003E",
      const3: "0x400000000000003F",
      const4: "0x400000000000003F",
      const5: "0x400000000000803E",
      const6: "0x400000000000003E",
      const7: "0x400000000000803D"
    }
  }
#-}
