// Near: another scale.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["QuantizeLinear_7"]}> ({
  ^bb0(%0: tensor<?x4x4xui8, {dims = ["n"]}>):
    %1 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 1028443341}> : () -> tensor<f32> loc("c1")
    %2 = "tgn.splat"() <{dtype = "u8", shape = [], bits = 3}> : () -> tensor<ui8> loc("c2")
    %3 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 1031127695}> : () -> tensor<f32> loc("c5")
    %4 = "tgn.dequantize"(%0, %1, %2) <{scheme = {axis, block, storage = "u8", zero_point = true}}> : (tensor<?x4x4xui8, {dims = ["n"]}>, tensor<f32>, tensor<ui8>) -> tensor<?x4x4xf32, {dims = ["n"]}> loc("DequantizeLinear_3")
    %5 = "tgn.transpose"(%4) <{perm = [0, 2, 1]}> : (tensor<?x4x4xf32, {dims = ["n"]}>) -> tensor<?x4x4xf32, {dims = ["n"]}> loc("Transpose_4")
    %6 = "tgn.quantize"(%5, %3, %2) <{scheme = {axis, block, storage = "u8", zero_point = true}}> : (tensor<?x4x4xf32, {dims = ["n"]}>, tensor<f32>, tensor<ui8>) -> tensor<?x4x4xui8, {dims = ["n"]}> loc("QuantizeLinear_7")
    "tgn.return"(%6) : (tensor<?x4x4xui8, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
// -----
// unchanged
