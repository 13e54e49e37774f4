// A function of one byte, quantised on its way, is a table; a function of two is none, nor is one that is cheap.
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
// y: quantize(f(dequantize(x))) => gather(table, x)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "u"], result_names = ["y", "sum", "cheap"]}> ({
  ^bb0(%0: tensor<2x3xi8>, %1: tensor<2x3xi8>):
    %2 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 1028443341}> : () -> tensor<f32>
    %3 = "tgn.splat"() <{dtype = "i8", shape = [], bits = 3}> : () -> tensor<i8>
    %4 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1056964608}> : () -> tensor<1x1xf32>
    %5 = "tgn.dequantize"(%0, %2, %3) <{scheme = {axis, block, storage = "i8", zero_point = true}}> : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
    %6 = "tgn.elementwise"(%5) <{f = "erf"}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %9 = "tgn.elementwise"(%5, %4) <{f = "mul"}> : (tensor<2x3xf32>, tensor<1x1xf32>) -> tensor<2x3xf32>
    %16 = "tgn.constant"() <{id = dense_resource<const0> : tensor<260xi8>, dtype = "i8", shape = [260]}> : () -> tensor<260xi8> loc("y")
    %17 = "tgn.elementwise"(%0) <{f = "bitcast:u8"}> : (tensor<2x3xi8>) -> tensor<2x3xui8> loc("y")
    %18 = "tgn.elementwise"(%17) <{f = "cast:i32"}> : (tensor<2x3xui8>) -> tensor<2x3xi32> loc("y")
    %19 = "tgn.gather"(%16, %18) <{axis = 0}> : (tensor<260xi8>, tensor<2x3xi32>) -> tensor<2x3xi8> loc(fused["y", "erf"])
    %12 = "tgn.dequantize"(%1, %2, %3) <{scheme = {axis, block, storage = "i8", zero_point = true}}> : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
    %13 = "tgn.elementwise"(%12, %6) <{f = "add"}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %14 = "tgn.quantize"(%13, %2, %3) <{scheme = {axis, block, storage = "i8", zero_point = true}}> : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8> loc("sum")
    %15 = "tgn.quantize"(%9, %2, %3) <{scheme = {axis, block, storage = "i8", zero_point = true}}> : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8> loc("cheap")
    "tgn.return"(%19, %14, %15) : (tensor<2x3xi8>, tensor<2x3xi8>, tensor<2x3xi8>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x400000000303030303030303040404050505060707080809090A0B0B0C0D0D0E0E0F101011111213131415151516171717181919191A1B1B1B1C1D1D1D1E1F1F2020212121222323232425252526272727282929292A2B2B2B2C2D2D2D2E2F2F30303131313233333334353535363737373839393A3A3B3B3B3C3D3D3D3E3F3F3F404141454443434342414141403F3F3F3E3D3D3D3C3B3B3B3A3A39393837373736353535343333333231313130302F2F2E2D2D2D2C2B2B2B2A2929292827272726252525242323232221212120201F1F1E1D1D1D1C1B1B1B1A191919181717171615151514131312111110100F0E0E0D0D0C0B0B0A090908080707060505050404040300000000"
    }
  }
#-}
