// A function of one byte is computed where the target reads no tables.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "u"], result_names = ["y", "sum", "cheap"]}> ({
  ^bb0(%x: tensor<2x3xi8>, %u: tensor<2x3xi8>):
    %s = "tgn.splat"() <{dtype = "f32", shape = [], bits = 1028443341}> : () -> tensor<f32>
    %z = "tgn.splat"() <{dtype = "i8", shape = [], bits = 3}> : () -> tensor<i8>
    %half = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1056964608}> : () -> tensor<1x1xf32>
    %r = "tgn.dequantize"(%x, %s, %z) <{scheme = {storage = "i8", zero_point = true}}> : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
    %e = "tgn.elementwise"(%r) <{f = "erf"}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %q = "tgn.quantize"(%e, %s, %z) <{scheme = {storage = "i8", zero_point = true}}> : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8> loc("erf")
    %d = "tgn.dequantize"(%q, %s, %z) <{scheme = {storage = "i8", zero_point = true}}> : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
    %h = "tgn.elementwise"(%r, %half) <{f = "mul"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
    %p = "tgn.elementwise"(%h, %d) <{f = "mul"}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %y = "tgn.quantize"(%p, %s, %z) <{scheme = {storage = "i8", zero_point = true}}> : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8> loc("y")
    %v = "tgn.dequantize"(%u, %s, %z) <{scheme = {storage = "i8", zero_point = true}}> : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
    %w = "tgn.elementwise"(%v, %e) <{f = "add"}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %sum = "tgn.quantize"(%w, %s, %z) <{scheme = {storage = "i8", zero_point = true}}> : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8> loc("sum")
    %cheap = "tgn.quantize"(%h, %s, %z) <{scheme = {storage = "i8", zero_point = true}}> : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8> loc("cheap")
    "tgn.return"(%y, %sum, %cheap) : (tensor<2x3xi8>, tensor<2x3xi8>, tensor<2x3xi8>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// unchanged
