// Sums of bytes that are 0 would be so, or infinite, where a scale that is no finite number makes NaN: products by such scales on either side (a, b), and far from 1 (c), stay products of floats, convolutions (d, e) too; a scale that the run computes leaves its factor (f), but not for one that is tiny (g); a scale of 0 does too (h).
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "i", "s"], result_names = ["a", "b", "c", "d", "e", "f", "g", "h"]}> ({
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
    %wh = "tgn.dequantize"(%w, %half) <{scheme = {storage = "i8", zero_point = false}}> : (tensor<3x2xi8>, tensor<f32>) -> tensor<3x2xf32>
    %we = "tgn.dequantize"(%w, %each) <{scheme = {axis = 1, storage = "i8", zero_point = false}}> : (tensor<3x2xi8>, tensor<2xf32>) -> tensor<3x2xf32>
    %dead = "tgn.constant"() <{id = dense_resource<const3> : tensor<2xf32>, dtype = "f32", shape = [2]}> : () -> tensor<2xf32>
    %wd = "tgn.dequantize"(%w, %dead) <{scheme = {axis = 1, storage = "i8", zero_point = false}}> : (tensor<3x2xi8>, tensor<2xf32>) -> tensor<3x2xf32>
    %ih = "tgn.dequantize"(%i, %half) <{scheme = {storage = "u8", zero_point = false}}> : (tensor<1x2x3x3xui8>, tensor<f32>) -> tensor<1x2x3x3xf32>
    %in = "tgn.dequantize"(%i, %nan) <{scheme = {storage = "u8", zero_point = false}}> : (tensor<1x2x3x3xui8>, tensor<f32>) -> tensor<1x2x3x3xf32>
    %vh = "tgn.dequantize"(%v, %half) <{scheme = {storage = "i8", zero_point = false}}> : (tensor<2x2x3x3xi8>, tensor<f32>) -> tensor<2x2x3x3xf32>
    %ve = "tgn.dequantize"(%v, %each) <{scheme = {axis = 0, storage = "i8", zero_point = false}}> : (tensor<2x2x3x3xi8>, tensor<2xf32>) -> tensor<2x2x3x3xf32>
    %a = "tgn.dot"(%xi, %wt) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32> loc("a")
    %b = "tgn.dot"(%xh, %we) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32> loc("b")
    %c = "tgn.dot"(%xt, %wt) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32> loc("c")
    %d = "tgn.conv"(%ih, %ve) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 1, out = "f32"}> : (tensor<1x2x3x3xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x3x3xf32> loc("d")
    %e = "tgn.conv"(%in, %vh) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 1, out = "f32"}> : (tensor<1x2x3x3xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x3x3xf32> loc("e")
    %f = "tgn.dot"(%xs, %wh) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32> loc("f")
    %g = "tgn.dot"(%xs, %wt) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32> loc("g")
    %h = "tgn.dot"(%xh, %wd) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32> loc("h")
    "tgn.return"(%a, %b, %c, %d, %e, %f, %g, %h) : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x40000000F8FD0007FB00", const1: "0x400000000000807F0000003F", const2: "0x40000000F8FD0207FB0005F9FE0308FC0106FAFF04F8FD0207FB0005F9FE0308FC0106FAFF04F8FD", const3: "0x40000000000000000000003F" } }
#-}
// -----
// f: dot(dequantize(x), dequantize(w)) => dot(x, w) * scales
// h: dot(dequantize(x), dequantize(w)) => dot(x, w) * scales
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "i", "s"], result_names = ["a", "b", "c", "d", "e", "f", "g", "h"]}> ({
  ^bb0(%0: tensor<2x3xui8>, %1: tensor<1x2x3x3xui8>, %2: tensor<f32>):
    %3 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 1056964608}> : () -> tensor<f32>
    %4 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 2139095040}> : () -> tensor<f32>
    %5 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 2143289344}> : () -> tensor<f32>
    %6 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 8388608}> : () -> tensor<f32>
    %7 = "tgn.constant"() <{id = dense_resource<const0> : tensor<2xf32>, dtype = "f32", shape = [2]}> : () -> tensor<2xf32>
    %8 = "tgn.constant"() <{id = dense_resource<const1> : tensor<3x2xi8>, dtype = "i8", shape = [3, 2]}> : () -> tensor<3x2xi8>
    %9 = "tgn.constant"() <{id = dense_resource<const2> : tensor<2x2x3x3xi8>, dtype = "i8", shape = [2, 2, 3, 3]}> : () -> tensor<2x2x3x3xi8>
    %10 = "tgn.dequantize"(%0, %3) <{scheme = {axis, block, storage = "u8", zero_point = false}}> : (tensor<2x3xui8>, tensor<f32>) -> tensor<2x3xf32>
    %11 = "tgn.dequantize"(%0, %4) <{scheme = {axis, block, storage = "u8", zero_point = false}}> : (tensor<2x3xui8>, tensor<f32>) -> tensor<2x3xf32>
    %12 = "tgn.dequantize"(%0, %6) <{scheme = {axis, block, storage = "u8", zero_point = false}}> : (tensor<2x3xui8>, tensor<f32>) -> tensor<2x3xf32>
    %13 = "tgn.dequantize"(%0, %2) <{scheme = {axis, block, storage = "u8", zero_point = false}}> : (tensor<2x3xui8>, tensor<f32>) -> tensor<2x3xf32>
    %14 = "tgn.dequantize"(%8, %6) <{scheme = {axis, block, storage = "i8", zero_point = false}}> : (tensor<3x2xi8>, tensor<f32>) -> tensor<3x2xf32>
    %16 = "tgn.dequantize"(%8, %7) <{scheme = {axis = 1, block, storage = "i8", zero_point = false}}> : (tensor<3x2xi8>, tensor<2xf32>) -> tensor<3x2xf32>
    %17 = "tgn.constant"() <{id = dense_resource<const3> : tensor<2xf32>, dtype = "f32", shape = [2]}> : () -> tensor<2xf32>
    %19 = "tgn.dequantize"(%1, %3) <{scheme = {axis, block, storage = "u8", zero_point = false}}> : (tensor<1x2x3x3xui8>, tensor<f32>) -> tensor<1x2x3x3xf32>
    %20 = "tgn.dequantize"(%1, %5) <{scheme = {axis, block, storage = "u8", zero_point = false}}> : (tensor<1x2x3x3xui8>, tensor<f32>) -> tensor<1x2x3x3xf32>
    %21 = "tgn.dequantize"(%9, %3) <{scheme = {axis, block, storage = "i8", zero_point = false}}> : (tensor<2x2x3x3xi8>, tensor<f32>) -> tensor<2x2x3x3xf32>
    %22 = "tgn.dequantize"(%9, %7) <{scheme = {axis = 0, block, storage = "i8", zero_point = false}}> : (tensor<2x2x3x3xi8>, tensor<2xf32>) -> tensor<2x2x3x3xf32>
    %23 = "tgn.dot"(%11, %14) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32> loc("a")
    %24 = "tgn.dot"(%10, %16) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32> loc("b")
    %25 = "tgn.dot"(%12, %14) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32> loc("c")
    %26 = "tgn.conv"(%19, %22) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 1, out = "f32"}> : (tensor<1x2x3x3xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x3x3xf32> loc("d")
    %27 = "tgn.conv"(%20, %21) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 1, out = "f32"}> : (tensor<1x2x3x3xf32>, tensor<2x2x3x3xf32>) -> tensor<1x2x3x3xf32> loc("e")
    %31 = "tgn.dot"(%0, %8) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "i32"}> : (tensor<2x3xui8>, tensor<3x2xi8>) -> tensor<2x2xi32> loc("f")
    %32 = "tgn.elementwise"(%2, %3) <{f = "mul"}> : (tensor<f32>, tensor<f32>) -> tensor<f32> loc("f")
    %33 = "tgn.reshape"(%32) <{shape = [1, 1]}> : (tensor<f32>) -> tensor<1x1xf32> loc("f")
    %34 = "tgn.elementwise"(%31) <{f = "cast:f32"}> : (tensor<2x2xi32>) -> tensor<2x2xf32> loc("f")
    %35 = "tgn.elementwise"(%34, %33) <{f = "mul"}> : (tensor<2x2xf32>, tensor<1x1xf32>) -> tensor<2x2xf32> loc("f")
    %29 = "tgn.dot"(%13, %14) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32> loc("g")
    %36 = "tgn.dot"(%0, %8) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "i32"}> : (tensor<2x3xui8>, tensor<3x2xi8>) -> tensor<2x2xi32> loc("h")
    %37 = "tgn.reshape"(%3) <{shape = [1]}> : (tensor<f32>) -> tensor<1xf32> loc("h")
    %38 = "tgn.elementwise"(%37, %17) <{f = "mul"}> : (tensor<1xf32>, tensor<2xf32>) -> tensor<2xf32> loc("h")
    %39 = "tgn.reshape"(%38) <{shape = [1, 2]}> : (tensor<2xf32>) -> tensor<1x2xf32> loc("h")
    %40 = "tgn.elementwise"(%36) <{f = "cast:f32"}> : (tensor<2x2xi32>) -> tensor<2x2xf32> loc("h")
    %41 = "tgn.elementwise"(%40, %39) <{f = "mul"}> : (tensor<2x2xf32>, tensor<1x2xf32>) -> tensor<2x2xf32> loc("h")
    "tgn.return"(%23, %24, %25, %26, %27, %35, %29, %41) : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<1x2x3x3xf32>, tensor<1x2x3x3xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x400000000000807F0000003F",
      const1: "0x40000000F8FD0007FB00",
      const2: "0x40000000F8FD0207FB0005F9FE0308FC0106FAFF04F8FD0207FB0005F9FE0308FC0106FAFF04F8FD",
      const3: "0x40000000000000000000003F"
    }
  }
#-}
