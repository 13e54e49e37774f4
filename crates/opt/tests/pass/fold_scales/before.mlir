// A normalisation before a convolution without padding.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Conv_7"]}> ({
  ^bb0(%0: tensor<?x4x?x?xf32, {dims = ["n", "h", "w"]}>):
    %5 = "tgn.constant"() <{id = dense_resource<const4> : tensor<6x2x1x1xf32>, dtype = "f32", shape = [6, 2, 1, 1]}> : () -> tensor<6x2x1x1xf32> loc("c6")
    %7 = "tgn.constant"() <{id = dense_resource<const6> : tensor<1x4x1x1xf32>, dtype = "f32", shape = [1, 4, 1, 1]}> : () -> tensor<1x4x1x1xf32> loc("BatchNormalization_5")
    %8 = "tgn.constant"() <{id = dense_resource<const7> : tensor<1x4x1x1xf32>, dtype = "f32", shape = [1, 4, 1, 1]}> : () -> tensor<1x4x1x1xf32> loc("BatchNormalization_5")
    %10 = "tgn.elementwise"(%0, %8) <{f = "sub"}> : (tensor<?x4x?x?xf32, {dims = ["n", "h", "w"]}>, tensor<1x4x1x1xf32>) -> tensor<?x4x?x?xf32, {dims = ["n", "h", "w"]}> loc("BatchNormalization_5")
    %14 = "tgn.constant"() <{id = dense_resource<const11> : tensor<1x4x1x1xf32>, dtype = "f32", shape = [1, 4, 1, 1]}> : () -> tensor<1x4x1x1xf32> loc("BatchNormalization_5")
    %15 = "tgn.elementwise"(%10, %14) <{f = "mul"}> : (tensor<?x4x?x?xf32, {dims = ["n", "h", "w"]}>, tensor<1x4x1x1xf32>) -> tensor<?x4x?x?xf32, {dims = ["n", "h", "w"]}> loc("BatchNormalization_5")
    %16 = "tgn.elementwise"(%15, %7) <{f = "add"}> : (tensor<?x4x?x?xf32, {dims = ["n", "h", "w"]}>, tensor<1x4x1x1xf32>) -> tensor<?x4x?x?xf32, {dims = ["n", "h", "w"]}> loc("BatchNormalization_5")
    %17 = "tgn.conv"(%16, %5) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 2, out = "f32"}> : (tensor<?x4x?x?xf32, {dims = ["n", "h", "w"]}>, tensor<6x2x1x1xf32>) -> tensor<?x6x?x?xf32, {dims = ["n", "h", "w"]}> loc("Conv_7")
    "tgn.return"(%17) : (tensor<?x6x?x?xf32, {dims = ["n", "h", "w"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {h = {input = 0, axis = 2}, n = {input = 0, axis = 0}, w = {input = 0, axis = 3}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const4: "0x40000000D7A370BFF6285CBF000000BFE17A943E3D0A57BE3D0A573E9A99993E9A9999BE0AD723BD3D0A573E0AD7A3BD0000003F",
      const6: "0x40000000C3F568BF713D8A3F5C8FC23FB81E853E",
      const7: "0x40000000CDCC0C3F9A99F93FCDCC4CBE3D0A17BF",
      const11: "0x400000001BEA703EFCBAD9BF76F149BF2F98873F"
    }
  }
#-}
// -----
// Conv_7: conv(x + b, w) => conv(x, w) + sum(w * b) without padding
// Conv_7: conv(x * c, w) => conv(x, w * c)
// Conv_7: conv(x + b, w) => conv(x, w) + sum(w * b) without padding
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Conv_7"]}> ({
  ^bb0(%0: tensor<?x4x?x?xf32, {dims = ["n", "h", "w"]}>):
    %1 = "tgn.constant"() <{id = dense_resource<const0> : tensor<6x2x1x1xf32>, dtype = "f32", shape = [6, 2, 1, 1]}> : () -> tensor<6x2x1x1xf32> loc("c6")
    %2 = "tgn.constant"() <{id = dense_resource<const1> : tensor<1x4x1x1xf32>, dtype = "f32", shape = [1, 4, 1, 1]}> : () -> tensor<1x4x1x1xf32> loc("BatchNormalization_5")
    %3 = "tgn.constant"() <{id = dense_resource<const2> : tensor<1x4x1x1xf32>, dtype = "f32", shape = [1, 4, 1, 1]}> : () -> tensor<1x4x1x1xf32> loc("BatchNormalization_5")
    %5 = "tgn.constant"() <{id = dense_resource<const3> : tensor<1x4x1x1xf32>, dtype = "f32", shape = [1, 4, 1, 1]}> : () -> tensor<1x4x1x1xf32> loc("BatchNormalization_5")
    %17 = "tgn.reshape"(%1) <{shape = [2, 3, 2, 1, 1]}> : (tensor<6x2x1x1xf32>) -> tensor<2x3x2x1x1xf32> loc("Conv_7")
    %18 = "tgn.reshape"(%5) <{shape = [2, 1, 2, 1, 1]}> : (tensor<1x4x1x1xf32>) -> tensor<2x1x2x1x1xf32> loc("Conv_7")
    %19 = "tgn.elementwise"(%17, %18) <{f = "mul"}> : (tensor<2x3x2x1x1xf32>, tensor<2x1x2x1x1xf32>) -> tensor<2x3x2x1x1xf32> loc("Conv_7")
    %20 = "tgn.reshape"(%19) <{shape = [6, 2, 1, 1]}> : (tensor<2x3x2x1x1xf32>) -> tensor<6x2x1x1xf32> loc("Conv_7")
    %22 = "tgn.elementwise"(%3) <{f = "neg"}> : (tensor<1x4x1x1xf32>) -> tensor<1x4x1x1xf32> loc("Conv_7")
    %23 = "tgn.conv"(%0, %20) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 2, out = "f32"}> : (tensor<?x4x?x?xf32, {dims = ["n", "h", "w"]}>, tensor<6x2x1x1xf32>) -> tensor<?x6x?x?xf32, {dims = ["n", "h", "w"]}> loc(fused["Conv_7", "BatchNormalization_5"])
    %24 = "tgn.reshape"(%20) <{shape = [2, 3, 2, 1, 1]}> : (tensor<6x2x1x1xf32>) -> tensor<2x3x2x1x1xf32> loc("Conv_7")
    %25 = "tgn.reshape"(%22) <{shape = [2, 1, 2, 1, 1]}> : (tensor<1x4x1x1xf32>) -> tensor<2x1x2x1x1xf32> loc("Conv_7")
    %26 = "tgn.elementwise"(%24, %25) <{f = "mul"}> : (tensor<2x3x2x1x1xf32>, tensor<2x1x2x1x1xf32>) -> tensor<2x3x2x1x1xf32> loc("Conv_7")
    %27 = "tgn.reshape"(%26) <{shape = [6, 2, 1, 1]}> : (tensor<2x3x2x1x1xf32>) -> tensor<6x2x1x1xf32> loc("Conv_7")
    %28 = "tgn.reduce"(%27) <{f = "add", axes = [1, 2, 3]}> : (tensor<6x2x1x1xf32>) -> tensor<6x1x1x1xf32> loc("Conv_7")
    %29 = "tgn.reshape"(%28) <{shape = [1, 6, 1, 1]}> : (tensor<6x1x1x1xf32>) -> tensor<1x6x1x1xf32> loc("Conv_7")
    %30 = "tgn.elementwise"(%23, %29) <{f = "add"}> : (tensor<?x6x?x?xf32, {dims = ["n", "h", "w"]}>, tensor<1x6x1x1xf32>) -> tensor<?x6x?x?xf32, {dims = ["n", "h", "w"]}> loc("Conv_7")
    %10 = "tgn.reshape"(%1) <{shape = [2, 3, 2, 1, 1]}> : (tensor<6x2x1x1xf32>) -> tensor<2x3x2x1x1xf32> loc("Conv_7")
    %11 = "tgn.reshape"(%2) <{shape = [2, 1, 2, 1, 1]}> : (tensor<1x4x1x1xf32>) -> tensor<2x1x2x1x1xf32> loc("Conv_7")
    %12 = "tgn.elementwise"(%10, %11) <{f = "mul"}> : (tensor<2x3x2x1x1xf32>, tensor<2x1x2x1x1xf32>) -> tensor<2x3x2x1x1xf32> loc("Conv_7")
    %13 = "tgn.reshape"(%12) <{shape = [6, 2, 1, 1]}> : (tensor<2x3x2x1x1xf32>) -> tensor<6x2x1x1xf32> loc("Conv_7")
    %14 = "tgn.reduce"(%13) <{f = "add", axes = [1, 2, 3]}> : (tensor<6x2x1x1xf32>) -> tensor<6x1x1x1xf32> loc("Conv_7")
    %15 = "tgn.reshape"(%14) <{shape = [1, 6, 1, 1]}> : (tensor<6x1x1x1xf32>) -> tensor<1x6x1x1xf32> loc("Conv_7")
    %16 = "tgn.elementwise"(%30, %15) <{f = "add"}> : (tensor<?x6x?x?xf32, {dims = ["n", "h", "w"]}>, tensor<1x6x1x1xf32>) -> tensor<?x6x?x?xf32, {dims = ["n", "h", "w"]}> loc("BatchNormalization_5")
    "tgn.return"(%16) : (tensor<?x6x?x?xf32, {dims = ["n", "h", "w"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {h = {input = 0, axis = 2}, n = {input = 0, axis = 0}, w = {input = 0, axis = 3}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x40000000D7A370BFF6285CBF000000BFE17A943E3D0A57BE3D0A573E9A99993E9A9999BE0AD723BD3D0A573E0AD7A3BD0000003F",
      const1: "0x40000000C3F568BF713D8A3F5C8FC23FB81E853E",
      const2: "0x40000000CDCC0C3F9A99F93FCDCC4CBE3D0A17BF",
      const3: "0x400000001BEA703EFCBAD9BF76F149BF2F98873F"
    }
  }
#-}
