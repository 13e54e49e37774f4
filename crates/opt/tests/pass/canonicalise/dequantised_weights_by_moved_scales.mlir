// Scales of dequantised weights are known where they are a constant of one axis that is reshaped (a), of halves that become floats (b), or both (c); not where the run knows them (d).
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "s"], result_names = ["p", "q", "r", "t"]}> ({
  ^bb0(%x: tensor<2x4xf32>, %s: tensor<3xf32>):
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x3xi8>, dtype = "i8", shape = [4, 3]}> : () -> tensor<4x3xi8>
    %floats = "tgn.constant"() <{id = dense_resource<const1> : tensor<3xf32>, dtype = "f32", shape = [3]}> : () -> tensor<3xf32>
    %row = "tgn.constant"() <{id = dense_resource<const2> : tensor<1x3xf16>, dtype = "f16", shape = [1, 3]}> : () -> tensor<1x3xf16>
    %halves = "tgn.constant"() <{id = dense_resource<const2> : tensor<3xf16>, dtype = "f16", shape = [3]}> : () -> tensor<3xf16>
    %wf = "tgn.elementwise"(%w) <{f = "cast:f32"}> : (tensor<4x3xi8>) -> tensor<4x3xf32>
    %sa = "tgn.reshape"(%floats) <{shape = [1, 3]}> : (tensor<3xf32>) -> tensor<1x3xf32>
    %a = "tgn.elementwise"(%wf, %sa) <{f = "mul"}> : (tensor<4x3xf32>, tensor<1x3xf32>) -> tensor<4x3xf32> loc("a")
    %p = "tgn.dot"(%x, %a) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32> loc("p")
    %sb = "tgn.elementwise"(%row) <{f = "cast:f32"}> : (tensor<1x3xf16>) -> tensor<1x3xf32>
    %b = "tgn.elementwise"(%wf, %sb) <{f = "mul"}> : (tensor<4x3xf32>, tensor<1x3xf32>) -> tensor<4x3xf32> loc("b")
    %q = "tgn.dot"(%x, %b) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32> loc("q")
    %hf = "tgn.elementwise"(%halves) <{f = "cast:f32"}> : (tensor<3xf16>) -> tensor<3xf32>
    %sc = "tgn.reshape"(%hf) <{shape = [1, 3]}> : (tensor<3xf32>) -> tensor<1x3xf32>
    %c = "tgn.elementwise"(%wf, %sc) <{f = "mul"}> : (tensor<4x3xf32>, tensor<1x3xf32>) -> tensor<4x3xf32> loc("c")
    %r = "tgn.dot"(%x, %c) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32> loc("r")
    %sd = "tgn.reshape"(%s) <{shape = [1, 3]}> : (tensor<3xf32>) -> tensor<1x3xf32>
    %d = "tgn.elementwise"(%wf, %sd) <{f = "mul"}> : (tensor<4x3xf32>, tensor<1x3xf32>) -> tensor<4x3xf32> loc("d")
    %t = "tgn.dot"(%x, %d) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32> loc("t")
    "tgn.return"(%p, %q, %r, %t) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x4000000000254A6F94B9DE082D52779C", const1: "0x400000000000003F0000803E0000803F", const2: "0x40000000003800340038" } }
#-}
// -----
// a: cast(constant bytes) * scale => dequantize(constant bytes) where a dot reads it
// b: cast(constant bytes) * scale => dequantize(constant bytes) where a dot reads it
// c: cast(constant bytes) * scale => dequantize(constant bytes) where a dot reads it
// a: reshape(reshape(x)) => reshape(x)
// c: reshape(reshape(x)) => reshape(x)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "s"], result_names = ["p", "q", "r", "t"]}> ({
  ^bb0(%0: tensor<2x4xf32>, %1: tensor<3xf32>):
    %2 = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x3xi8>, dtype = "i8", shape = [4, 3]}> : () -> tensor<4x3xi8>
    %3 = "tgn.constant"() <{id = dense_resource<const1> : tensor<3xf32>, dtype = "f32", shape = [3]}> : () -> tensor<3xf32>
    %4 = "tgn.constant"() <{id = dense_resource<const2> : tensor<1x3xf16>, dtype = "f16", shape = [1, 3]}> : () -> tensor<1x3xf16>
    %5 = "tgn.constant"() <{id = dense_resource<const2> : tensor<1x3xf16>, dtype = "f16", shape = [3]}> : () -> tensor<3xf16>
    %6 = "tgn.elementwise"(%2) <{f = "cast:f32"}> : (tensor<4x3xi8>) -> tensor<4x3xf32>
    %21 = "tgn.dequantize"(%2, %3) <{scheme = {axis = 1, block, storage = "i8", zero_point = false}}> : (tensor<4x3xi8>, tensor<3xf32>) -> tensor<4x3xf32> loc("a")
    %9 = "tgn.dot"(%0, %21) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32> loc("p")
    %10 = "tgn.elementwise"(%4) <{f = "cast:f32"}> : (tensor<1x3xf16>) -> tensor<1x3xf32>
    %22 = "tgn.reshape"(%10) <{shape = [3]}> : (tensor<1x3xf32>) -> tensor<3xf32> loc("b")
    %23 = "tgn.dequantize"(%2, %22) <{scheme = {axis = 1, block, storage = "i8", zero_point = false}}> : (tensor<4x3xi8>, tensor<3xf32>) -> tensor<4x3xf32> loc("b")
    %12 = "tgn.dot"(%0, %23) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32> loc("q")
    %13 = "tgn.elementwise"(%5) <{f = "cast:f32"}> : (tensor<3xf16>) -> tensor<3xf32>
    %25 = "tgn.dequantize"(%2, %13) <{scheme = {axis = 1, block, storage = "i8", zero_point = false}}> : (tensor<4x3xi8>, tensor<3xf32>) -> tensor<4x3xf32> loc("c")
    %16 = "tgn.dot"(%0, %25) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32> loc("r")
    %17 = "tgn.reshape"(%1) <{shape = [1, 3]}> : (tensor<3xf32>) -> tensor<1x3xf32>
    %18 = "tgn.elementwise"(%6, %17) <{f = "mul"}> : (tensor<4x3xf32>, tensor<1x3xf32>) -> tensor<4x3xf32> loc("d")
    %19 = "tgn.dot"(%0, %18) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32> loc("t")
    "tgn.return"(%9, %12, %16, %19) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x4000000000254A6F94B9DE082D52779C",
      const1: "0x400000000000003F0000803E0000803F",
      const2: "0x40000000003800340038"
    }
  }
#-}
