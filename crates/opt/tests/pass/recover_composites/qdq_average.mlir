// Near: an average is computed.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["QuantizeLinear_7"]}> ({
  ^bb0(%0: tensor<?x2x4x4xui8, {dims = ["n"]}>):
    %1 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 1028443341}> : () -> tensor<f32> loc("c1")
    %2 = "tgn.splat"() <{dtype = "u8", shape = [], bits = 3}> : () -> tensor<ui8> loc("c2")
    %3 = "tgn.dequantize"(%0, %1, %2) <{scheme = {axis, block, storage = "u8", zero_point = true}}> : (tensor<?x2x4x4xui8, {dims = ["n"]}>, tensor<f32>, tensor<ui8>) -> tensor<?x2x4x4xf32, {dims = ["n"]}> loc("DequantizeLinear_3")
    %4 = "tgn.pool"(%3) <{kind = "average_inside", window = {size = [2, 2], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}}> : (tensor<?x2x4x4xf32, {dims = ["n"]}>) -> tensor<?x2x3x3xf32, {dims = ["n"]}> loc("AveragePool_4")
    %5 = "tgn.quantize"(%4, %1, %2) <{scheme = {axis, block, storage = "u8", zero_point = true}}> : (tensor<?x2x3x3xf32, {dims = ["n"]}>, tensor<f32>, tensor<ui8>) -> tensor<?x2x3x3xui8, {dims = ["n"]}> loc("QuantizeLinear_7")
    "tgn.return"(%5) : (tensor<?x2x3x3xui8, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
// -----
// unchanged
