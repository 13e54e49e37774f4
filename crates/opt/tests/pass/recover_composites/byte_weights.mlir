// Weights alone are bytes: they stay bytes, transposed or not; scales of one a column too.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y", "z"]}> ({
  ^bb0(%x: tensor<2x4xf32>):
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<3x4xi8>, dtype = "i8", shape = [3, 4]}> : () -> tensor<3x4xi8> loc("w")
    %v = "tgn.constant"() <{id = dense_resource<const1> : tensor<4x3xui8>, dtype = "u8", shape = [4, 3]}> : () -> tensor<4x3xui8> loc("v")
    %one = "tgn.splat"() <{dtype = "f32", shape = [], bits = 1056964608}> : () -> tensor<f32>
    %each = "tgn.constant"() <{id = dense_resource<const2> : tensor<3xf32>, dtype = "f32", shape = [3]}> : () -> tensor<3xf32>
    %middle = "tgn.splat"() <{dtype = "u8", shape = [], bits = 128}> : () -> tensor<ui8>
    %a = "tgn.dequantize"(%w, %each) <{scheme = {axis = 0, storage = "i8", zero_point = false}}> : (tensor<3x4xi8>, tensor<3xf32>) -> tensor<3x4xf32> loc("a")
    %t = "tgn.transpose"(%a) <{perm = [1, 0]}> : (tensor<3x4xf32>) -> tensor<4x3xf32> loc("t")
    %y = "tgn.dot"(%x, %t) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32> loc("y")
    %b = "tgn.dequantize"(%v, %one, %middle) <{scheme = {storage = "u8", zero_point = true}}> : (tensor<4x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<4x3xf32> loc("b")
    %z = "tgn.dot"(%x, %b) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32> loc("z")
    "tgn.return"(%y, %z) : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x40000000F8FD0207FB0005F9FE0308FC", const1: "0x40000000F8FD0207FB0005F9FE0308FC", const2: "0x400000000000803E0000003E0000803F" } }
#-}
// -----
// y: dot(x, dequantize(constant)) => dot(x, constant) * scales
// z: dot(x, dequantize(constant)) => dot(x, constant) * scales
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y", "z"]}> ({
  ^bb0(%0: tensor<2x4xf32>):
    %1 = "tgn.constant"() <{id = dense_resource<const0> : tensor<3x4xi8>, dtype = "i8", shape = [3, 4]}> : () -> tensor<3x4xi8> loc("w")
    %2 = "tgn.constant"() <{id = dense_resource<const1> : tensor<4x3xui8>, dtype = "u8", shape = [4, 3]}> : () -> tensor<4x3xui8> loc("v")
    %3 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 1056964608}> : () -> tensor<f32>
    %4 = "tgn.constant"() <{id = dense_resource<const2> : tensor<3xf32>, dtype = "f32", shape = [3]}> : () -> tensor<3xf32>
    %11 = "tgn.transpose"(%1) <{perm = [1, 0]}> : (tensor<3x4xi8>) -> tensor<4x3xi8> loc("y")
    %12 = "tgn.dot"(%0, %11) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x4xf32>, tensor<4x3xi8>) -> tensor<2x3xf32> loc("y")
    %13 = "tgn.reshape"(%4) <{shape = [1, 3]}> : (tensor<3xf32>) -> tensor<1x3xf32> loc("y")
    %14 = "tgn.elementwise"(%12, %13) <{f = "mul"}> : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32> loc("y")
    %15 = "tgn.elementwise"(%2) <{f = "bitcast:u8"}> : (tensor<4x3xui8>) -> tensor<4x3xui8> loc("z")
    %16 = "tgn.splat"() <{dtype = "u8", shape = [1, 1], bits = 128}> : () -> tensor<1x1xui8> loc("z")
    %17 = "tgn.elementwise"(%15, %16) <{f = "xor"}> : (tensor<4x3xui8>, tensor<1x1xui8>) -> tensor<4x3xui8> loc("z")
    %18 = "tgn.elementwise"(%17) <{f = "bitcast:i8"}> : (tensor<4x3xui8>) -> tensor<4x3xi8> loc("z")
    %19 = "tgn.dot"(%0, %18) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x4xf32>, tensor<4x3xi8>) -> tensor<2x3xf32> loc("z")
    %20 = "tgn.reshape"(%3) <{shape = [1, 1]}> : (tensor<f32>) -> tensor<1x1xf32> loc("z")
    %21 = "tgn.elementwise"(%19, %20) <{f = "mul"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32> loc("z")
    "tgn.return"(%14, %21) : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x40000000F8FD0207FB0005F9FE0308FC",
      const1: "0x40000000F8FD0207FB0005F9FE0308FC",
      const2: "0x400000000000803E0000003E0000803F"
    }
  }
#-}
