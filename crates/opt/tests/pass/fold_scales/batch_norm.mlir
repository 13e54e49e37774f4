// A batch normalisation vanishes in the weights and one bias.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["e"]}> ({
  ^bb0(%x: tensor<1x1x3x3xf32>):
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<2x1x3x3xf32>, dtype = "f32", shape = [2, 1, 3, 3]}> : () -> tensor<2x1x3x3xf32>
    %m = "tgn.constant"() <{id = dense_resource<const1> : tensor<1x2x1x1xf32>, dtype = "f32", shape = [1, 2, 1, 1]}> : () -> tensor<1x2x1x1xf32>
    %s = "tgn.constant"() <{id = dense_resource<const2> : tensor<1x2x1x1xf32>, dtype = "f32", shape = [1, 2, 1, 1]}> : () -> tensor<1x2x1x1xf32>
    %b = "tgn.constant"() <{id = dense_resource<const3> : tensor<1x2x1x1xf32>, dtype = "f32", shape = [1, 2, 1, 1]}> : () -> tensor<1x2x1x1xf32>
    %y = "tgn.conv"(%x, %w) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 1, out = "f32"}> : (tensor<1x1x3x3xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x3x3xf32> loc("y")
    %c = "tgn.elementwise"(%y, %m) <{f = "sub"}> : (tensor<1x2x3x3xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x3x3xf32> loc("c")
    %d = "tgn.elementwise"(%c, %s) <{f = "mul"}> : (tensor<1x2x3x3xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x3x3xf32> loc("d")
    %e = "tgn.elementwise"(%d, %b) <{f = "add"}> : (tensor<1x2x3x3xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x3x3xf32> loc("e")
    "tgn.return"(%e) : (tensor<1x2x3x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x400000000000803F0000004000004040000080400000A0400000C0400000E040000000410000104100001041000000410000E0400000C0400000A0400000804000004040000000400000803F", const1: "0x400000000000003F000080BF", const2: "0x400000000000004000004040", const3: "0x400000000000803F0000E040" } }
#-}
// -----
// c: y - b => y + -b after a contraction
// d: (y + b) * c => y * c + b * c
// d: conv(x, w) * c => conv(x, w * c)
// e: (y + a) + b => y + (a + b) after a contraction
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["e"]}> ({
  ^bb0(%0: tensor<1x1x3x3xf32>):
    %1 = "tgn.constant"() <{id = dense_resource<const0> : tensor<2x1x3x3xf32>, dtype = "f32", shape = [2, 1, 3, 3]}> : () -> tensor<2x1x3x3xf32>
    %2 = "tgn.constant"() <{id = dense_resource<const1> : tensor<1x2x1x1xf32>, dtype = "f32", shape = [1, 2, 1, 1]}> : () -> tensor<1x2x1x1xf32>
    %3 = "tgn.constant"() <{id = dense_resource<const2> : tensor<1x2x1x1xf32>, dtype = "f32", shape = [1, 2, 1, 1]}> : () -> tensor<1x2x1x1xf32>
    %4 = "tgn.constant"() <{id = dense_resource<const3> : tensor<1x2x1x1xf32>, dtype = "f32", shape = [1, 2, 1, 1]}> : () -> tensor<1x2x1x1xf32>
    %9 = "tgn.elementwise"(%2) <{f = "neg"}> : (tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32> loc("c")
    %14 = "tgn.reshape"(%3) <{shape = [2, 1, 1, 1]}> : (tensor<1x2x1x1xf32>) -> tensor<2x1x1x1xf32> loc("d")
    %15 = "tgn.elementwise"(%1, %14) <{f = "mul"}> : (tensor<2x1x3x3xf32>, tensor<2x1x1x1xf32>) -> tensor<2x1x3x3xf32> loc("d")
    %16 = "tgn.conv"(%0, %15) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 1, out = "f32"}> : (tensor<1x1x3x3xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x3x3xf32> loc(fused["y", "d"])
    %12 = "tgn.elementwise"(%9, %3) <{f = "mul"}> : (tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32> loc("d")
    %17 = "tgn.elementwise"(%12, %4) <{f = "add"}> : (tensor<1x2x1x1xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32> loc("e")
    %18 = "tgn.elementwise"(%16, %17) <{f = "add"}> : (tensor<1x2x3x3xf32>, tensor<1x2x1x1xf32>) -> tensor<1x2x3x3xf32> loc(fused["c", "e"])
    "tgn.return"(%18) : (tensor<1x2x3x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x400000000000803F0000004000004040000080400000A0400000C0400000E040000000410000104100001041000000410000E0400000C0400000A0400000804000004040000000400000803F",
      const1: "0x400000000000003F000080BF",
      const2: "0x400000000000004000004040",
      const3: "0x400000000000803F0000E040"
    }
  }
#-}
