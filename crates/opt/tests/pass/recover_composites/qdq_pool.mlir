// A window's maximum and a concatenation of bytes.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "z"], result_names = ["QuantizeLinear_11"]}> ({
  ^bb0(%0: tensor<?x2x4x4xui8, {dims = ["n"]}>, %1: tensor<?x2x4x4xui8, {dims = ["n"]}>):
    %2 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 1028443341}> : () -> tensor<f32> loc("c1")
    %3 = "tgn.splat"() <{dtype = "u8", shape = [], bits = 3}> : () -> tensor<ui8> loc("c2")
    %4 = "tgn.dequantize"(%0, %2, %3) <{scheme = {axis, block, storage = "u8", zero_point = true}}> : (tensor<?x2x4x4xui8, {dims = ["n"]}>, tensor<f32>, tensor<ui8>) -> tensor<?x2x4x4xf32, {dims = ["n"]}> loc("DequantizeLinear_3")
    %5 = "tgn.pool"(%4) <{kind = "max", window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}}> : (tensor<?x2x4x4xf32, {dims = ["n"]}>) -> tensor<?x2x4x4xf32, {dims = ["n"]}> loc("MaxPool_4")
    %6 = "tgn.dequantize"(%1, %2, %3) <{scheme = {axis, block, storage = "u8", zero_point = true}}> : (tensor<?x2x4x4xui8, {dims = ["n"]}>, tensor<f32>, tensor<ui8>) -> tensor<?x2x4x4xf32, {dims = ["n"]}> loc("DequantizeLinear_7")
    %7 = "tgn.concat"(%5, %6) <{axis = 1}> : (tensor<?x2x4x4xf32, {dims = ["n"]}>, tensor<?x2x4x4xf32, {dims = ["n"]}>) -> tensor<?x4x4x4xf32, {dims = ["n"]}> loc("Concat_8")
    %8 = "tgn.quantize"(%7, %2, %3) <{scheme = {axis, block, storage = "u8", zero_point = true}}> : (tensor<?x4x4x4xf32, {dims = ["n"]}>, tensor<f32>, tensor<ui8>) -> tensor<?x4x4x4xui8, {dims = ["n"]}> loc("QuantizeLinear_11")
    "tgn.return"(%8) : (tensor<?x4x4x4xui8, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
// -----
// QuantizeLinear_11: quantize(moved(dequantize(x))) => moved(x)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "z"], result_names = ["QuantizeLinear_11"]}> ({
  ^bb0(%0: tensor<?x2x4x4xui8, {dims = ["n"]}>, %1: tensor<?x2x4x4xui8, {dims = ["n"]}>):
    %9 = "tgn.pool"(%0) <{kind = "max", window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}}> : (tensor<?x2x4x4xui8, {dims = ["n"]}>) -> tensor<?x2x4x4xui8, {dims = ["n"]}> loc(fused["MaxPool_4", "DequantizeLinear_3", "DequantizeLinear_7", "QuantizeLinear_11"])
    %10 = "tgn.concat"(%9, %1) <{axis = 1}> : (tensor<?x2x4x4xui8, {dims = ["n"]}>, tensor<?x2x4x4xui8, {dims = ["n"]}>) -> tensor<?x4x4x4xui8, {dims = ["n"]}> loc("Concat_8")
    "tgn.return"(%10) : (tensor<?x4x4x4xui8, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
