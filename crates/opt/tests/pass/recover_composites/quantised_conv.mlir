// A convolution of dequantised bytes contracts the bytes; the zero point is padded in and subtracted.
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
  dialect_resources: { builtin: { const0: "0x40000000F8FD0207FB0005F9FE0308FC0106FAFF04F8FD0207FB0005F9FE0308FC0106FAFF04F8FD", const1: "0x400000000000803E0000003E", const2: "0x400000000000" } }
#-}
// -----
// y: conv(dequantize(x), dequantize(w)) => conv(x, w) * scales
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<1x2x3x3xui8>):
    %1 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 1056964608}> : () -> tensor<f32>
    %3 = "tgn.constant"() <{id = dense_resource<const0> : tensor<2x2x3x3xi8>, dtype = "i8", shape = [2, 2, 3, 3]}> : () -> tensor<2x2x3x3xi8>
    %4 = "tgn.constant"() <{id = dense_resource<const1> : tensor<2xf32>, dtype = "f32", shape = [2]}> : () -> tensor<2xf32>
    %9 = "tgn.splat"() <{dtype = "i8", shape = [], bits = 0}> : () -> tensor<i8> loc("y")
    %10 = "tgn.pad"(%3, %9) <{low = [0, 0, 0, 0], high = [0, 2, 0, 0], mode = "constant"}> : (tensor<2x2x3x3xi8>, tensor<i8>) -> tensor<2x4x3x3xi8> loc("y")
    %11 = "tgn.splat"() <{dtype = "u8", shape = [], bits = 3}> : () -> tensor<ui8> loc("y")
    %12 = "tgn.pad"(%0, %11) <{low = [0, 0, 1, 1], high = [0, 2, 1, 1], mode = "constant"}> : (tensor<1x2x3x3xui8>, tensor<ui8>) -> tensor<1x4x5x5xui8> loc("y")
    %13 = "tgn.conv"(%12, %10) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "i32"}> : (tensor<1x4x5x5xui8>, tensor<2x4x3x3xi8>) -> tensor<1x2x3x3xi32> loc(fused["y", "a"])
    %14 = "tgn.constant"() <{id = dense_resource<const3> : tensor<2x1x1x1xi32>, dtype = "i32", shape = [2, 1, 1, 1]}> : () -> tensor<2x1x1x1xi32> loc("y")
    %15 = "tgn.reshape"(%14) <{shape = [2]}> : (tensor<2x1x1x1xi32>) -> tensor<2xi32> loc("y")
    %16 = "tgn.reshape"(%15) <{shape = [1, 2, 1, 1]}> : (tensor<2xi32>) -> tensor<1x2x1x1xi32> loc("y")
    %17 = "tgn.splat"() <{dtype = "i32", shape = [1, 1, 1, 1], bits = 4294967293}> : () -> tensor<1x1x1x1xi32> loc("y")
    %18 = "tgn.elementwise"(%16, %17) <{f = "mul"}> : (tensor<1x2x1x1xi32>, tensor<1x1x1x1xi32>) -> tensor<1x2x1x1xi32> loc("y")
    %19 = "tgn.elementwise"(%13, %18) <{f = "add"}> : (tensor<1x2x3x3xi32>, tensor<1x2x1x1xi32>) -> tensor<1x2x3x3xi32> loc("y")
    %20 = "tgn.reshape"(%1) <{shape = [1]}> : (tensor<f32>) -> tensor<1xf32> loc("y")
    %21 = "tgn.elementwise"(%20, %4) <{f = "mul"}> : (tensor<1xf32>, tensor<2xf32>) -> tensor<2xf32> loc("y")
    %22 = "tgn.reshape"(%21) <{shape = [1, 2, 1, 1]}> : (tensor<2xf32>) -> tensor<1x2x1x1xf32> loc("y")
    %23 = "tgn.elementwise"(%19) <{f = "cast:f32"}> : (tensor<1x2x3x3xi32>) -> tensor<1x2x3x3xf32> loc("y")
    %24 = "tgn.elementwise"(%23, %22) <{f = "mul"}> : (tensor<1x2x3x3xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x3x3xf32> loc("y")
    "tgn.return"(%24) : (tensor<1x2x3x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x40000000F8FD0207FB0005F9FE0308FC0106FAFF04F8FD0207FB0005F9FE0308FC0106FAFF04F8FD",
      const1: "0x400000000000803E0000003E",
      const3: "0x40000000F8FFFFFFFDFFFFFF"
    }
  }
#-}
