// Sums of bytes that are 0 would be so, or infinite, where a scale that is no finite number makes NaN: products by such scales on either side (a, b), and far from 1 (c), stay products of floats, convolutions (d, e) too; so do those by scales that the run computes (f).
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "i", "s"], result_names = ["a", "b", "c", "d", "e", "f"]}> ({
  ^bb0(%x: tensor<2x3xui8>, %i: tensor<1x2x3x3xui8>, %s: tensor<f32>):
    %half = "tgn.splat"() <{dtype = "f32", shape = [], bits = 1056964608}> : () -> tensor<f32>
    %infinite = "tgn.splat"() <{dtype = "f32", shape = [], bits = 2139095040}> : () -> tensor<f32>
    %nan = "tgn.splat"() <{dtype = "f32", shape = [], bits = 2143289344}> : () -> tensor<f32>
    %tiny = "tgn.splat"() <{dtype = "f32", shape = [], bits = 8388608}> : () -> tensor<f32>
    %each = "tgn.constant"() <{id = dense_resource<const1> : tensor<2xf32>, dtype = "f32", shape = [2]}> : () -> tensor<2xf32>
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<3x2xi8>, dtype = "i8", shape = [3, 2]}> : () -> tensor<3x2xi8>
    %v = "tgn.constant"() <{id = dense_resource<const2> : tensor<2x2x3x3xi8>, dtype = "i8", shape = [2, 2, 3, 3]}> : () -> tensor<2x2x3x3xi8>
    %xh = "tgn.dequantize"(%x, %half) <{scheme = {storage = "u8", zero_point = false}}> : (tensor<2x3xui8>, tensor<f32>) -> tensor<2x3xf32>
    %xi = "tgn.dequantize"(%x, %infinite) <{scheme = {storage = "u8", zero_point = false}}> : (tensor<2x3xui8>, tensor<f32>) -> tensor<2x3xf32>
    %xt = "tgn.dequantize"(%x, %tiny) <{scheme = {storage = "u8", zero_point = false}}> : (tensor<2x3xui8>, tensor<f32>) -> tensor<2x3xf32>
    %xs = "tgn.dequantize"(%x, %s) <{scheme = {storage = "u8", zero_point = false}}> : (tensor<2x3xui8>, tensor<f32>) -> tensor<2x3xf32>
    %wt = "tgn.dequantize"(%w, %tiny) <{scheme = {storage = "i8", zero_point = false}}> : (tensor<3x2xi8>, tensor<f32>) -> tensor<3x2xf32>
    %we = "tgn.dequantize"(%w, %each) <{scheme = {axis = 1, storage = "i8", zero_point = false}}> : (tensor<3x2xi8>, tensor<2xf32>) -> tensor<3x2xf32>
    %ih = "tgn.dequantize"(%i, %half) <{scheme = {storage = "u8", zero_point = false}}> : (tensor<1x2x3x3xui8>, tensor<f32>) -> tensor<1x2x3x3xf32>
    %in = "tgn.dequantize"(%i, %nan) <{scheme = {storage = "u8", zero_point = false}}> : (tensor<1x2x3x3xui8>, tensor<f32>) -> tensor<1x2x3x3xf32>
    %vh = "tgn.dequantize"(%v, %half) <{scheme = {storage = "i8", zero_point = false}}> : (tensor<2x2x3x3xi8>, tensor<f32>) -> tensor<2x2x3x3xf32>
    %ve = "tgn.dequantize"(%v, %each) <{scheme = {axis = 0, storage = "i8", zero_point = false}}> : (tensor<2x2x3x3xi8>, tensor<2xf32>) -> tensor<2x2x3x3xf32>
    %a = "tgn.dot"(%xi, %wt) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32> loc("a")
    %b = "tgn.dot"(%xh, %we) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32> loc("b")
    %c = "tgn.dot"(%xt, %wt) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32> loc("c")
    %d = "tgn.conv"(%ih, %ve) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 1, out = "f32"}> : (tensor<1x2x3x3xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x3x3xf32> loc("d")
    %e = "tgn.conv"(%in, %vh) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 1, out = "f32"}> : (tensor<1x2x3x3xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x3x3xf32> loc("e")
    %f = "tgn.dot"(%xs, %wt) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32> loc("f")
    "tgn.return"(%a, %b, %c, %d, %e, %f) : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<2x2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x40000000F8FD0007FB00", const1: "0x400000000000807F0000003F", const2: "0x40000000F8FD0207FB0005F9FE0308FC0106FAFF04F8FD0207FB0005F9FE0308FC0106FAFF04F8FD" } }
#-}
// -----
// unchanged
