// Padding with 0 is padding of bytes with their zero point; with the tensor's own elements it moves them. Another number
// has no byte for sure: that padding stays.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["a", "b", "c"]}> ({
  ^bb0(%x: tensor<2x3xui8>):
    %s = "tgn.splat"() <{dtype = "f32", shape = [], bits = 1028443341}> : () -> tensor<f32>
    %z = "tgn.splat"() <{dtype = "u8", shape = [], bits = 3}> : () -> tensor<ui8>
    %none = "tgn.splat"() <{dtype = "f32", shape = [], bits = 0}> : () -> tensor<f32>
    %one = "tgn.splat"() <{dtype = "f32", shape = [], bits = 1065353216}> : () -> tensor<f32>
    %r = "tgn.dequantize"(%x, %s, %z) <{scheme = {storage = "u8", zero_point = true}}> : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xf32>
    %p = "tgn.pad"(%r, %none) <{low = [0, 1], high = [1, 0], mode = "constant"}> : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x4xf32>
    %a = "tgn.quantize"(%p, %s, %z) <{scheme = {storage = "u8", zero_point = true}}> : (tensor<3x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<3x4xui8> loc("a")
    %q = "tgn.pad"(%r) <{low = [1, 0], high = [0, 2], mode = "reflect"}> : (tensor<2x3xf32>) -> tensor<3x5xf32>
    %b = "tgn.quantize"(%q, %s, %z) <{scheme = {storage = "u8", zero_point = true}}> : (tensor<3x5xf32>, tensor<f32>, tensor<ui8>) -> tensor<3x5xui8> loc("b")
    %o = "tgn.pad"(%r, %one) <{low = [0, 1], high = [1, 0], mode = "constant"}> : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x4xf32>
    %c = "tgn.quantize"(%o, %s, %z) <{scheme = {storage = "u8", zero_point = true}}> : (tensor<3x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<3x4xui8> loc("c")
    "tgn.return"(%a, %b, %c) : (tensor<3x4xui8>, tensor<3x5xui8>, tensor<3x4xui8>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// a: quantize(moved(dequantize(x))) => moved(x)
// b: quantize(moved(dequantize(x))) => moved(x)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["a", "b", "c"]}> ({
  ^bb0(%0: tensor<2x3xui8>):
    %1 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 1028443341}> : () -> tensor<f32>
    %2 = "tgn.splat"() <{dtype = "u8", shape = [], bits = 3}> : () -> tensor<ui8>
    %4 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 1065353216}> : () -> tensor<f32>
    %5 = "tgn.dequantize"(%0, %1, %2) <{scheme = {axis, block, storage = "u8", zero_point = true}}> : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xf32>
    %12 = "tgn.pad"(%0, %2) <{low = [0, 1], high = [1, 0], mode = "constant"}> : (tensor<2x3xui8>, tensor<ui8>) -> tensor<3x4xui8> loc("a")
    %13 = "tgn.pad"(%0) <{low = [1, 0], high = [0, 2], mode = "reflect"}> : (tensor<2x3xui8>) -> tensor<3x5xui8> loc("b")
    %10 = "tgn.pad"(%5, %4) <{low = [0, 1], high = [1, 0], mode = "constant"}> : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x4xf32>
    %11 = "tgn.quantize"(%10, %1, %2) <{scheme = {axis, block, storage = "u8", zero_point = true}}> : (tensor<3x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<3x4xui8> loc("c")
    "tgn.return"(%12, %13, %11) : (tensor<3x4xui8>, tensor<3x5xui8>, tensor<3x4xui8>) -> ()
  }) : () -> ()
}) : () -> ()
