// Left as floats: scales along k, scales far from 1, a zero point off the middle, weights that are computed.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "u"], result_names = ["a", "b", "c", "d"]}> ({
  ^bb0(%x: tensor<2x3xf32>, %u: tensor<3x4xi8>):
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<3x4xi8>, dtype = "i8", shape = [3, 4]}> : () -> tensor<3x4xi8> loc("w")
    %one = "tgn.splat"() <{dtype = "f32", shape = [], bits = 1056964608}> : () -> tensor<f32>
    %tiny = "tgn.splat"() <{dtype = "f32", shape = [], bits = 8388608}> : () -> tensor<f32>
    %three = "tgn.splat"() <{dtype = "i8", shape = [], bits = 3}> : () -> tensor<i8>
    %each = "tgn.constant"() <{id = dense_resource<const2> : tensor<3xf32>, dtype = "f32", shape = [3]}> : () -> tensor<3xf32>
    %wa = "tgn.dequantize"(%w, %each) <{scheme = {axis = 0, storage = "i8", zero_point = false}}> : (tensor<3x4xi8>, tensor<3xf32>) -> tensor<3x4xf32>
    %wb = "tgn.dequantize"(%w, %tiny) <{scheme = {storage = "i8", zero_point = false}}> : (tensor<3x4xi8>, tensor<f32>) -> tensor<3x4xf32>
    %wc = "tgn.dequantize"(%w, %one, %three) <{scheme = {storage = "i8", zero_point = true}}> : (tensor<3x4xi8>, tensor<f32>, tensor<i8>) -> tensor<3x4xf32>
    %wd = "tgn.dequantize"(%u, %one) <{scheme = {storage = "i8", zero_point = false}}> : (tensor<3x4xi8>, tensor<f32>) -> tensor<3x4xf32>
    %a = "tgn.dot"(%x, %wa) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> loc("a")
    %b = "tgn.dot"(%x, %wb) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> loc("b")
    %c = "tgn.dot"(%x, %wc) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> loc("c")
    %d = "tgn.dot"(%x, %wd) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> loc("d")
    "tgn.return"(%a, %b, %c, %d) : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x40000000F8FD0207FB0005F9FE0308FC", const2: "0x400000000000803E0000003E0000803F" } }
#-}
// -----
// unchanged
