// The bytes are moved as the numbers were; two products share them, and a reshape costs nothing.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y", "z"]}> ({
  ^bb0(%x: tensor<1x2x4xui8>):
    %sx = "tgn.splat"() <{dtype = "f32", shape = [], bits = 1056964608}> : () -> tensor<f32>
    %zx = "tgn.splat"() <{dtype = "u8", shape = [], bits = 3}> : () -> tensor<ui8>
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x2xi8>, dtype = "i8", shape = [4, 2]}> : () -> tensor<4x2xi8>
    %sw = "tgn.constant"() <{id = dense_resource<const1> : tensor<2xf32>, dtype = "f32", shape = [2]}> : () -> tensor<2xf32>
    %a = "tgn.dequantize"(%x, %sx, %zx) <{scheme = {storage = "u8", zero_point = true}}> : (tensor<1x2x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4xf32> loc("a")
    %b = "tgn.dequantize"(%w, %sw) <{scheme = {axis = 1, storage = "i8", zero_point = false}}> : (tensor<4x2xi8>, tensor<2xf32>) -> tensor<4x2xf32> loc("b")
    %c = "tgn.reshape"(%a) <{shape = [2, 4]}> : (tensor<1x2x4xf32>) -> tensor<2x4xf32> loc("c")
    %y = "tgn.dot"(%c, %b) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32> loc("y")
    %z = "tgn.dot"(%c, %b) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32> loc("z")
    "tgn.return"(%y, %z) : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x40000000F8FD0207FB0005F9", const1: "0x400000000000803E0000003E" } }
#-}
// -----
// y: dot(dequantize(x), dequantize(w)) => dot(x, w) * scales
// z: dot(dequantize(x), dequantize(w)) => dot(x, w) * scales
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y", "z"]}> ({
  ^bb0(%0: tensor<1x2x4xui8>):
    %1 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 1056964608}> : () -> tensor<f32>
    %3 = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x2xi8>, dtype = "i8", shape = [4, 2]}> : () -> tensor<4x2xi8>
    %4 = "tgn.constant"() <{id = dense_resource<const1> : tensor<2xf32>, dtype = "f32", shape = [2]}> : () -> tensor<2xf32>
    %10 = "tgn.reshape"(%0) <{shape = [2, 4]}> : (tensor<1x2x4xui8>) -> tensor<2x4xui8> loc("c")
    %11 = "tgn.dot"(%10, %3) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "i32"}> : (tensor<2x4xui8>, tensor<4x2xi8>) -> tensor<2x2xi32> loc(fused["y", "a"])
    %12 = "tgn.constant"() <{id = dense_resource<const2> : tensor<1x2xi32>, dtype = "i32", shape = [1, 2]}> : () -> tensor<1x2xi32> loc("y")
    %13 = "tgn.splat"() <{dtype = "i32", shape = [1, 1], bits = 4294967293}> : () -> tensor<1x1xi32> loc("y")
    %14 = "tgn.elementwise"(%12, %13) <{f = "mul"}> : (tensor<1x2xi32>, tensor<1x1xi32>) -> tensor<1x2xi32> loc("y")
    %15 = "tgn.elementwise"(%11, %14) <{f = "add"}> : (tensor<2x2xi32>, tensor<1x2xi32>) -> tensor<2x2xi32> loc("y")
    %16 = "tgn.reshape"(%1) <{shape = [1]}> : (tensor<f32>) -> tensor<1xf32> loc("y")
    %17 = "tgn.elementwise"(%16, %4) <{f = "mul"}> : (tensor<1xf32>, tensor<2xf32>) -> tensor<2xf32> loc("y")
    %18 = "tgn.reshape"(%17) <{shape = [1, 2]}> : (tensor<2xf32>) -> tensor<1x2xf32> loc("y")
    %19 = "tgn.elementwise"(%15) <{f = "cast:f32"}> : (tensor<2x2xi32>) -> tensor<2x2xf32> loc("y")
    %20 = "tgn.elementwise"(%19, %18) <{f = "mul"}> : (tensor<2x2xf32>, tensor<1x2xf32>) -> tensor<2x2xf32> loc("y")
    %21 = "tgn.reshape"(%0) <{shape = [2, 4]}> : (tensor<1x2x4xui8>) -> tensor<2x4xui8> loc("c")
    %22 = "tgn.dot"(%21, %3) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "i32"}> : (tensor<2x4xui8>, tensor<4x2xi8>) -> tensor<2x2xi32> loc(fused["z", "a"])
    %23 = "tgn.constant"() <{id = dense_resource<const3> : tensor<1x2xi32>, dtype = "i32", shape = [1, 2]}> : () -> tensor<1x2xi32> loc("z")
    %24 = "tgn.splat"() <{dtype = "i32", shape = [1, 1], bits = 4294967293}> : () -> tensor<1x1xi32> loc("z")
    %25 = "tgn.elementwise"(%23, %24) <{f = "mul"}> : (tensor<1x2xi32>, tensor<1x1xi32>) -> tensor<1x2xi32> loc("z")
    %26 = "tgn.elementwise"(%22, %25) <{f = "add"}> : (tensor<2x2xi32>, tensor<1x2xi32>) -> tensor<2x2xi32> loc("z")
    %27 = "tgn.reshape"(%1) <{shape = [1]}> : (tensor<f32>) -> tensor<1xf32> loc("z")
    %28 = "tgn.elementwise"(%27, %4) <{f = "mul"}> : (tensor<1xf32>, tensor<2xf32>) -> tensor<2xf32> loc("z")
    %29 = "tgn.reshape"(%28) <{shape = [1, 2]}> : (tensor<2xf32>) -> tensor<1x2xf32> loc("z")
    %30 = "tgn.elementwise"(%26) <{f = "cast:f32"}> : (tensor<2x2xi32>) -> tensor<2x2xf32> loc("z")
    %31 = "tgn.elementwise"(%30, %29) <{f = "mul"}> : (tensor<2x2xf32>, tensor<1x2xf32>) -> tensor<2x2xf32> loc("z")
    "tgn.return"(%20, %31) : (tensor<2x2xf32>, tensor<2x2xf32>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x40000000F8FD0207FB0005F9",
      const1: "0x400000000000803E0000003E",
      const2: "0x40000000FAFFFFFFFDFFFFFF",
      const3: "0x40000000FAFFFFFFFDFFFFFF"
    }
  }
#-}
