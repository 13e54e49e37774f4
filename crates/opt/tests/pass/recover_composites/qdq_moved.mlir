// Bytes are reshaped and transposed between a pair of the same scale.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["QuantizeLinear_9"]}> ({
  ^bb0(%0: tensor<?x4x4xui8, {dims = ["n"]}>):
    %1 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 1028443341}> : () -> tensor<f32> loc("c1")
    %2 = "tgn.splat"() <{dtype = "u8", shape = [], bits = 3}> : () -> tensor<ui8> loc("c2")
    %3 = "tgn.dequantize"(%0, %1, %2) <{scheme = {axis, block, storage = "u8", zero_point = true}}> : (tensor<?x4x4xui8, {dims = ["n"]}>, tensor<f32>, tensor<ui8>) -> tensor<?x4x4xf32, {dims = ["n"]}> loc("DequantizeLinear_3")
    %4 = "tgn.reshape"(%3) <{shape = ["n", 2, 8]}> : (tensor<?x4x4xf32, {dims = ["n"]}>) -> tensor<?x2x8xf32, {dims = ["n"]}> loc("Reshape_5")
    %5 = "tgn.transpose"(%4) <{perm = [0, 2, 1]}> : (tensor<?x2x8xf32, {dims = ["n"]}>) -> tensor<?x8x2xf32, {dims = ["n"]}> loc("Transpose_6")
    %6 = "tgn.quantize"(%5, %1, %2) <{scheme = {axis, block, storage = "u8", zero_point = true}}> : (tensor<?x8x2xf32, {dims = ["n"]}>, tensor<f32>, tensor<ui8>) -> tensor<?x8x2xui8, {dims = ["n"]}> loc("QuantizeLinear_9")
    "tgn.return"(%6) : (tensor<?x8x2xui8, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
// -----
// QuantizeLinear_9: quantize(moved(dequantize(x))) => moved(x)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["QuantizeLinear_9"]}> ({
  ^bb0(%0: tensor<?x4x4xui8, {dims = ["n"]}>):
    %7 = "tgn.reshape"(%0) <{shape = ["n", 2, 8]}> : (tensor<?x4x4xui8, {dims = ["n"]}>) -> tensor<?x2x8xui8, {dims = ["n"]}> loc("Reshape_5")
    %8 = "tgn.transpose"(%7) <{perm = [0, 2, 1]}> : (tensor<?x2x8xui8, {dims = ["n"]}>) -> tensor<?x8x2xui8, {dims = ["n"]}> loc(fused["Transpose_6", "DequantizeLinear_3", "QuantizeLinear_9"])
    "tgn.return"(%8) : (tensor<?x8x2xui8, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
