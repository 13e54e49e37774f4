// Weights with a zero point of their own are contracted as floats.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<1x2x3x3xui8>):
    %sx = "tgn.splat"() <{dtype = "f32", shape = [], bits = 1056964608}> : () -> tensor<f32>
    %zx = "tgn.splat"() <{dtype = "u8", shape = [], bits = 3}> : () -> tensor<ui8>
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<2x2x3x3xi8>, dtype = "i8", shape = [2, 2, 3, 3]}> : () -> tensor<2x2x3x3xi8>
    %sw = "tgn.constant"() <{id = dense_resource<const1> : tensor<2xf32>, dtype = "f32", shape = [2]}> : () -> tensor<2xf32>
    %zw = "tgn.constant"() <{id = dense_resource<const2> : tensor<2xi8>, dtype = "i8", shape = [2]}> : () -> tensor<2xi8>
    %a = "tgn.dequantize"(%x, %sx, %zx) <{scheme = {storage = "u8", zero_point = true}}> : (tensor<1x2x3x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x3x3xf32> loc("a")
    %b = "tgn.dequantize"(%w, %sw, %zw) <{scheme = {axis = 0, storage = "i8", zero_point = true}}> : (tensor<2x2x3x3xi8>, tensor<2xf32>, tensor<2xi8>) -> tensor<2x2x3x3xf32> loc("b")
    %y = "tgn.conv"(%a, %b) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 1, out = "f32"}> : (tensor<1x2x3x3xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x3x3xf32> loc("y")
    "tgn.return"(%y) : (tensor<1x2x3x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x40000000F8FD0207FB0005F9FE0308FC0106FAFF04F8FD0207FB0005F9FE0308FC0106FAFF04F8FD", const1: "0x400000000000803E0000003E", const2: "0x400000000001" } }
#-}
// -----
// unchanged
