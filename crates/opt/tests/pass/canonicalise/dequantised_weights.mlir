// Bytes that are scaled by arithmetic and read as weights are dequantised by one op (a: one scale a column, b: a zero point and one scale, transposed before it is read); not where others read the floats (c), where the bytes are the left factor (d), or where scales differ along both axes (e).
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["p", "q", "r", "c", "s", "u"]}> ({
  ^bb0(%x: tensor<2x4xf32>):
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x3xi8>, dtype = "i8", shape = [4, 3]}> : () -> tensor<4x3xi8>
    %v = "tgn.constant"() <{id = dense_resource<const0> : tensor<3x4xui8>, dtype = "u8", shape = [3, 4]}> : () -> tensor<3x4xui8>
    %each = "tgn.constant"() <{id = dense_resource<const1> : tensor<1x3xf32>, dtype = "f32", shape = [1, 3]}> : () -> tensor<1x3xf32>
    %both = "tgn.constant"() <{id = dense_resource<const2> : tensor<4x3xf32>, dtype = "f32", shape = [4, 3]}> : () -> tensor<4x3xf32>
    %half = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1056964608}> : () -> tensor<1x1xf32>
    %middle = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1124073472}> : () -> tensor<1x1xf32>
    %wf = "tgn.elementwise"(%w) <{f = "cast:f32"}> : (tensor<4x3xi8>) -> tensor<4x3xf32>
    %vf = "tgn.elementwise"(%v) <{f = "cast:f32"}> : (tensor<3x4xui8>) -> tensor<3x4xf32>
    %vc = "tgn.elementwise"(%vf, %middle) <{f = "sub"}> : (tensor<3x4xf32>, tensor<1x1xf32>) -> tensor<3x4xf32>
    %a = "tgn.elementwise"(%wf, %each) <{f = "mul"}> : (tensor<4x3xf32>, tensor<1x3xf32>) -> tensor<4x3xf32> loc("a")
    %p = "tgn.dot"(%x, %a) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32> loc("p")
    %b = "tgn.elementwise"(%half, %vc) <{f = "mul"}> : (tensor<1x1xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> loc("b")
    %t = "tgn.transpose"(%b) <{perm = [1, 0]}> : (tensor<3x4xf32>) -> tensor<4x3xf32> loc("t")
    %q = "tgn.dot"(%x, %t) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32> loc("q")
    %c = "tgn.elementwise"(%wf, %half) <{f = "mul"}> : (tensor<4x3xf32>, tensor<1x1xf32>) -> tensor<4x3xf32> loc("c")
    %r = "tgn.dot"(%x, %c) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32> loc("r")
    %d = "tgn.elementwise"(%vf, %half) <{f = "mul"}> : (tensor<3x4xf32>, tensor<1x1xf32>) -> tensor<3x4xf32> loc("d")
    %s = "tgn.dot"(%d, %both) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32> loc("s")
    %e = "tgn.elementwise"(%wf, %both) <{f = "mul"}> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("e")
    %u = "tgn.dot"(%x, %e) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32> loc("u")
    "tgn.return"(%p, %q, %r, %c, %s, %u) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<4x3xf32>, tensor<3x3xf32>, tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x4000000000254A6F94B9DE082D52779C", const1: "0x400000000000003F0000803E0000803F", const2: "0x400000000000003F0000803E0000803F00000040000080400000003E0000003F0000803E0000803F00000040000080400000003E" } }
#-}
// -----
// a: cast(constant bytes) * scale => dequantize(constant bytes) where a dot reads it
// b: cast(constant bytes) * scale => dequantize(constant bytes) where a dot reads it
// b: reshape(splat) => splat
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["p", "q", "r", "c", "s", "u"]}> ({
  ^bb0(%0: tensor<2x4xf32>):
    %1 = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x3xi8>, dtype = "i8", shape = [4, 3]}> : () -> tensor<4x3xi8>
    %2 = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x3xi8>, dtype = "u8", shape = [3, 4]}> : () -> tensor<3x4xui8>
    %3 = "tgn.constant"() <{id = dense_resource<const1> : tensor<1x3xf32>, dtype = "f32", shape = [1, 3]}> : () -> tensor<1x3xf32>
    %4 = "tgn.constant"() <{id = dense_resource<const2> : tensor<4x3xf32>, dtype = "f32", shape = [4, 3]}> : () -> tensor<4x3xf32>
    %5 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1056964608}> : () -> tensor<1x1xf32>
    %7 = "tgn.elementwise"(%1) <{f = "cast:f32"}> : (tensor<4x3xi8>) -> tensor<4x3xf32>
    %8 = "tgn.elementwise"(%2) <{f = "cast:f32"}> : (tensor<3x4xui8>) -> tensor<3x4xf32>
    %21 = "tgn.reshape"(%3) <{shape = [3]}> : (tensor<1x3xf32>) -> tensor<3xf32> loc("a")
    %22 = "tgn.dequantize"(%1, %21) <{scheme = {axis = 1, block, storage = "i8", zero_point = false}}> : (tensor<4x3xi8>, tensor<3xf32>) -> tensor<4x3xf32> loc("a")
    %11 = "tgn.dot"(%0, %22) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32> loc("p")
    %26 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 1056964608}> : () -> tensor<f32> loc("b")
    %24 = "tgn.splat"() <{dtype = "u8", shape = [], bits = 128}> : () -> tensor<ui8> loc("b")
    %25 = "tgn.dequantize"(%2, %26, %24) <{scheme = {axis, block, storage = "u8", zero_point = true}}> : (tensor<3x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<3x4xf32> loc("b")
    %13 = "tgn.transpose"(%25) <{perm = [1, 0]}> : (tensor<3x4xf32>) -> tensor<4x3xf32> loc("t")
    %14 = "tgn.dot"(%0, %13) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32> loc("q")
    %15 = "tgn.elementwise"(%7, %5) <{f = "mul"}> : (tensor<4x3xf32>, tensor<1x1xf32>) -> tensor<4x3xf32> loc("c")
    %16 = "tgn.dot"(%0, %15) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32> loc("r")
    %17 = "tgn.elementwise"(%8, %5) <{f = "mul"}> : (tensor<3x4xf32>, tensor<1x1xf32>) -> tensor<3x4xf32> loc("d")
    %18 = "tgn.dot"(%17, %4) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x3xf32> loc("s")
    %19 = "tgn.elementwise"(%7, %4) <{f = "mul"}> : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32> loc("e")
    %20 = "tgn.dot"(%0, %19) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32> loc("u")
    "tgn.return"(%11, %14, %16, %15, %18, %20) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<4x3xf32>, tensor<3x3xf32>, tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x4000000000254A6F94B9DE082D52779C",
      const1: "0x400000000000003F0000803E0000803F",
      const2: "0x400000000000003F0000803E0000803F00000040000080400000003E0000003F0000803E0000803F00000040000080400000003E"
    }
  }
#-}
