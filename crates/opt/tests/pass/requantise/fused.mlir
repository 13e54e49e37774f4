// Scaled, shifted by channel and divided between two bytes; and a product of integers, rounded with its zero point.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["r0", "r1"]}> ({
  ^bb0(%x: tensor<2x3x4xui8>):
    %v1 = "tgn.elementwise"(%x) <{f = "cast:f32"}> : (tensor<2x3x4xui8>) -> tensor<2x3x4xf32>
    %c2 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1094713344}> : () -> tensor<1x1x1xf32>
    %v3 = "tgn.elementwise"(%v1, %c2) <{f = "sub"}> : (tensor<2x3x4xf32>, tensor<1x1x1xf32>) -> tensor<2x3x4xf32>
    %c4 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1015920827}> : () -> tensor<1x1x1xf32>
    %v5 = "tgn.elementwise"(%v3, %c4) <{f = "mul"}> : (tensor<2x3x4xf32>, tensor<1x1x1xf32>) -> tensor<2x3x4xf32>
    %k6 = "tgn.constant"() <{id = dense_resource<const0> : tensor<1x3x1xf32>, dtype = "f32", shape = [1, 3, 1]}> : () -> tensor<1x3x1xf32>
    %v7 = "tgn.elementwise"(%v5, %k6) <{f = "sub"}> : (tensor<2x3x4xf32>, tensor<1x3x1xf32>) -> tensor<2x3x4xf32>
    %c8 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1017960936}> : () -> tensor<1x1x1xf32>
    %v9 = "tgn.elementwise"(%v7, %c8) <{f = "div"}> : (tensor<2x3x4xf32>, tensor<1x1x1xf32>) -> tensor<2x3x4xf32>
    %v10 = "tgn.elementwise"(%v9) <{f = "round"}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %c11 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1124139008}> : () -> tensor<1x1x1xf32>
    %v12 = "tgn.elementwise"(%v10, %c11) <{f = "add"}> : (tensor<2x3x4xf32>, tensor<1x1x1xf32>) -> tensor<2x3x4xf32>
    %v13 = "tgn.elementwise"(%v12) <{f = "cast:u8"}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xui8> loc("normalised")
    %v14 = "tgn.elementwise"(%x) <{f = "cast:i32"}> : (tensor<2x3x4xui8>) -> tensor<2x3x4xi32>
    %c15 = "tgn.splat"() <{dtype = "i32", shape = [1, 1, 1], bits = 132}> : () -> tensor<1x1x1xi32>
    %v16 = "tgn.elementwise"(%v14, %c15) <{f = "sub"}> : (tensor<2x3x4xi32>, tensor<1x1x1xi32>) -> tensor<2x3x4xi32>
    %c17 = "tgn.splat"() <{dtype = "i32", shape = [1, 1, 1], bits = -77}> : () -> tensor<1x1x1xi32>
    %v18 = "tgn.elementwise"(%c17, %v16) <{f = "mul"}> : (tensor<1x1x1xi32>, tensor<2x3x4xi32>) -> tensor<2x3x4xi32>
    %v19 = "tgn.elementwise"(%v18) <{f = "cast:f32"}> : (tensor<2x3x4xi32>) -> tensor<2x3x4xf32>
    %c20 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 998660427}> : () -> tensor<1x1x1xf32>
    %c21 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1122893824}> : () -> tensor<1x1x1xf32>
    %v22 = "tgn.elementwise"(%v19, %c20, %c21) <{f = "fma"}> : (tensor<2x3x4xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<2x3x4xf32>
    %v23 = "tgn.elementwise"(%v22) <{f = "round"}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %v24 = "tgn.elementwise"(%v23) <{f = "cast:i8"}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xi8> loc("of_integers")
    "tgn.return"(%v13, %v24) : (tensor<2x3x4xui8>, tensor<2x3x4xi8>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x040000000000803E0000C0BF0000403F"
    }
  }
#-}
// -----
// normalised: from a byte to a byte: one fused multiply-add
// of_integers: from a byte to a byte: one fused multiply-add
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["r0", "r1"]}> ({
  ^bb0(%0: tensor<2x3x4xui8>):
    %1 = "tgn.elementwise"(%0) <{f = "cast:f32"}> : (tensor<2x3x4xui8>) -> tensor<2x3x4xf32>
    %2 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1094713344}> : () -> tensor<1x1x1xf32>
    %3 = "tgn.elementwise"(%1, %2) <{f = "sub"}> : (tensor<2x3x4xf32>, tensor<1x1x1xf32>) -> tensor<2x3x4xf32>
    %4 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1015920827}> : () -> tensor<1x1x1xf32>
    %5 = "tgn.elementwise"(%3, %4) <{f = "mul"}> : (tensor<2x3x4xf32>, tensor<1x1x1xf32>) -> tensor<2x3x4xf32>
    %6 = "tgn.constant"() <{id = dense_resource<const0> : tensor<1x3x1xf32>, dtype = "f32", shape = [1, 3, 1]}> : () -> tensor<1x3x1xf32>
    %7 = "tgn.elementwise"(%5, %6) <{f = "sub"}> : (tensor<2x3x4xf32>, tensor<1x3x1xf32>) -> tensor<2x3x4xf32>
    %8 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1017960936}> : () -> tensor<1x1x1xf32>
    %9 = "tgn.elementwise"(%7, %8) <{f = "div"}> : (tensor<2x3x4xf32>, tensor<1x1x1xf32>) -> tensor<2x3x4xf32>
    %10 = "tgn.elementwise"(%9) <{f = "round"}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %11 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1124139008}> : () -> tensor<1x1x1xf32>
    %12 = "tgn.elementwise"(%10, %11) <{f = "add"}> : (tensor<2x3x4xf32>, tensor<1x1x1xf32>) -> tensor<2x3x4xf32>
    %25 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1062331727}> : () -> tensor<1x1x1xf32> loc("normalised")
    %26 = "tgn.constant"() <{id = dense_resource<const1> : tensor<1x3x1xf32>, dtype = "f32", shape = [1, 3, 1]}> : () -> tensor<1x3x1xf32> loc("normalised")
    %27 = "tgn.elementwise"(%0) <{f = "cast:f32"}> : (tensor<2x3x4xui8>) -> tensor<2x3x4xf32> loc("normalised")
    %28 = "tgn.elementwise"(%27, %25, %26) <{f = "fma"}> : (tensor<2x3x4xf32>, tensor<1x1x1xf32>, tensor<1x3x1xf32>) -> tensor<2x3x4xf32> loc("normalised")
    %29 = "tgn.elementwise"(%28) <{f = "round"}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32> loc("normalised")
    %30 = "tgn.elementwise"(%29, %11) <{f = "add"}> : (tensor<2x3x4xf32>, tensor<1x1x1xf32>) -> tensor<2x3x4xf32> loc("normalised")
    %31 = "tgn.elementwise"(%30) <{f = "cast:u8"}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xui8> loc("normalised")
    %14 = "tgn.elementwise"(%0) <{f = "cast:i32"}> : (tensor<2x3x4xui8>) -> tensor<2x3x4xi32>
    %15 = "tgn.splat"() <{dtype = "i32", shape = [1, 1, 1], bits = 132}> : () -> tensor<1x1x1xi32>
    %16 = "tgn.elementwise"(%14, %15) <{f = "sub"}> : (tensor<2x3x4xi32>, tensor<1x1x1xi32>) -> tensor<2x3x4xi32>
    %17 = "tgn.splat"() <{dtype = "i32", shape = [1, 1, 1], bits = -77}> : () -> tensor<1x1x1xi32>
    %18 = "tgn.elementwise"(%17, %16) <{f = "mul"}> : (tensor<1x1x1xi32>, tensor<2x3x4xi32>) -> tensor<2x3x4xi32>
    %19 = "tgn.elementwise"(%18) <{f = "cast:f32"}> : (tensor<2x3x4xi32>) -> tensor<2x3x4xf32>
    %20 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 998660427}> : () -> tensor<1x1x1xf32>
    %21 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1122893824}> : () -> tensor<1x1x1xf32>
    %22 = "tgn.elementwise"(%19, %20, %21) <{f = "fma"}> : (tensor<2x3x4xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<2x3x4xf32>
    %23 = "tgn.elementwise"(%22) <{f = "round"}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %32 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 3198264174}> : () -> tensor<1x1x1xf32> loc("of_integers")
    %33 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1126214690}> : () -> tensor<1x1x1xf32> loc("of_integers")
    %34 = "tgn.elementwise"(%0) <{f = "cast:f32"}> : (tensor<2x3x4xui8>) -> tensor<2x3x4xf32> loc("of_integers")
    %35 = "tgn.elementwise"(%34, %32, %33) <{f = "fma"}> : (tensor<2x3x4xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<2x3x4xf32> loc("of_integers")
    %36 = "tgn.elementwise"(%35) <{f = "round"}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32> loc("of_integers")
    %37 = "tgn.elementwise"(%36) <{f = "cast:i8"}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xi8> loc("of_integers")
    "tgn.return"(%31, %37) : (tensor<2x3x4xui8>, tensor<2x3x4xi8>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x400000000000803E0000C0BF0000403F",
      const1: "0x40000000657FADC1370175421A8935C2"
    }
  }
#-}
