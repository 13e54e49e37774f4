// paddle2onnx: a transposed convolution, its bias as a sum, then a normalisation.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["BatchNormalization_9"]}> ({
  ^bb0(%0: tensor<?x4x3x5xf32, {dims = ["n"]}>):
    %1 = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x3x2x2xf32>, dtype = "f32", shape = [4, 3, 2, 2]}> : () -> tensor<4x3x2x2xf32> loc("c1")
    %2 = "tgn.constant"() <{id = dense_resource<const1> : tensor<1x3x1x1xf32>, dtype = "f32", shape = [1, 3, 1, 1]}> : () -> tensor<1x3x1x1xf32> loc("c3")
    %7 = "tgn.conv_transpose"(%0, %1) <{window = {size = [2, 2], strides = [2, 2], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, output = [6, 10]}> : (tensor<?x4x3x5xf32, {dims = ["n"]}>, tensor<4x3x2x2xf32>) -> tensor<?x3x6x10xf32, {dims = ["n"]}> loc("ConvTranspose_2")
    %8 = "tgn.elementwise"(%7, %2) <{f = "add"}> : (tensor<?x3x6x10xf32, {dims = ["n"]}>, tensor<1x3x1x1xf32>) -> tensor<?x3x6x10xf32, {dims = ["n"]}> loc("Add_4")
    %10 = "tgn.constant"() <{id = dense_resource<const7> : tensor<1x3x1x1xf32>, dtype = "f32", shape = [1, 3, 1, 1]}> : () -> tensor<1x3x1x1xf32> loc("BatchNormalization_9")
    %11 = "tgn.constant"() <{id = dense_resource<const8> : tensor<1x3x1x1xf32>, dtype = "f32", shape = [1, 3, 1, 1]}> : () -> tensor<1x3x1x1xf32> loc("BatchNormalization_9")
    %13 = "tgn.elementwise"(%8, %11) <{f = "sub"}> : (tensor<?x3x6x10xf32, {dims = ["n"]}>, tensor<1x3x1x1xf32>) -> tensor<?x3x6x10xf32, {dims = ["n"]}> loc("BatchNormalization_9")
    %17 = "tgn.constant"() <{id = dense_resource<const12> : tensor<1x3x1x1xf32>, dtype = "f32", shape = [1, 3, 1, 1]}> : () -> tensor<1x3x1x1xf32> loc("BatchNormalization_9")
    %18 = "tgn.elementwise"(%13, %17) <{f = "mul"}> : (tensor<?x3x6x10xf32, {dims = ["n"]}>, tensor<1x3x1x1xf32>) -> tensor<?x3x6x10xf32, {dims = ["n"]}> loc("BatchNormalization_9")
    %19 = "tgn.elementwise"(%18, %10) <{f = "add"}> : (tensor<?x3x6x10xf32, {dims = ["n"]}>, tensor<1x3x1x1xf32>) -> tensor<?x3x6x10xf32, {dims = ["n"]}> loc("BatchNormalization_9")
    "tgn.return"(%19) : (tensor<?x3x6x10xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x400000000AD723BE48E17ABFCDCC8C3F713D0ABFCDCC4CBD713D4ABFAE4721BF0AD7A3BFAE47A13F9A9919BEEC51783F0AD7233CD7A330BFC3F5A8BE295C0FBF0AD7233C5C8FC2BE9A9999BED7A3B0BF295C4FBF3333D33F1F852BBF666686BF7B14AE3EE17AB43F9A99B9BF3D0A57BEAE4721BFAE47E1BF48E13A3F0AD7A3BC295C8F3D000040BF6666E63E713D0ABF295C0FBE7B148EBFF6289CBF1F85AB3F5C8F02BFE17A943E8FC2F5BCAE47E1BE5C8F02BFAE47213F9A9999BE9A9919BE0AD7A33C",
      const1: "0x400000003D0A973F7B142E3F5C8FC23E",
      const7: "0x40000000EC51783F295C0FBE713D0A3F",
      const8: "0x4000000014AE473FE17A543F1F856B3F",
      const12: "0x40000000C05012BF132F79BF65D7373F"
    }
  }
#-}
// -----
// BatchNormalization_9: y - b => y + -b after a contraction
// BatchNormalization_9: (y + b) * c => y * c + b * c
// BatchNormalization_9: (y + b) * c => y * c + b * c
// BatchNormalization_9: conv(x, w) * c => conv(x, w * c)
// BatchNormalization_9: (y + a) + b => y + (a + b) after a contraction
// BatchNormalization_9: (y + a) + b => y + (a + b) after a contraction
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["BatchNormalization_9"]}> ({
  ^bb0(%0: tensor<?x4x3x5xf32, {dims = ["n"]}>):
    %1 = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x3x2x2xf32>, dtype = "f32", shape = [4, 3, 2, 2]}> : () -> tensor<4x3x2x2xf32> loc("c1")
    %2 = "tgn.constant"() <{id = dense_resource<const1> : tensor<1x3x1x1xf32>, dtype = "f32", shape = [1, 3, 1, 1]}> : () -> tensor<1x3x1x1xf32> loc("c3")
    %5 = "tgn.constant"() <{id = dense_resource<const2> : tensor<1x3x1x1xf32>, dtype = "f32", shape = [1, 3, 1, 1]}> : () -> tensor<1x3x1x1xf32> loc("BatchNormalization_9")
    %6 = "tgn.constant"() <{id = dense_resource<const3> : tensor<1x3x1x1xf32>, dtype = "f32", shape = [1, 3, 1, 1]}> : () -> tensor<1x3x1x1xf32> loc("BatchNormalization_9")
    %11 = "tgn.elementwise"(%6) <{f = "neg"}> : (tensor<1x3x1x1xf32>) -> tensor<1x3x1x1xf32> loc("BatchNormalization_9")
    %8 = "tgn.constant"() <{id = dense_resource<const4> : tensor<1x3x1x1xf32>, dtype = "f32", shape = [1, 3, 1, 1]}> : () -> tensor<1x3x1x1xf32> loc("BatchNormalization_9")
    %19 = "tgn.elementwise"(%1, %8) <{f = "mul"}> : (tensor<4x3x2x2xf32>, tensor<1x3x1x1xf32>) -> tensor<4x3x2x2xf32> loc("BatchNormalization_9")
    %20 = "tgn.conv_transpose"(%0, %19) <{window = {size = [2, 2], strides = [2, 2], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, output = [6, 10]}> : (tensor<?x4x3x5xf32, {dims = ["n"]}>, tensor<4x3x2x2xf32>) -> tensor<?x3x6x10xf32, {dims = ["n"]}> loc(fused["ConvTranspose_2", "BatchNormalization_9"])
    %17 = "tgn.elementwise"(%2, %8) <{f = "mul"}> : (tensor<1x3x1x1xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x1x1xf32> loc("BatchNormalization_9")
    %14 = "tgn.elementwise"(%11, %8) <{f = "mul"}> : (tensor<1x3x1x1xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x1x1xf32> loc("BatchNormalization_9")
    %21 = "tgn.elementwise"(%17, %14) <{f = "add"}> : (tensor<1x3x1x1xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x1x1xf32> loc("BatchNormalization_9")
    %23 = "tgn.elementwise"(%21, %5) <{f = "add"}> : (tensor<1x3x1x1xf32>, tensor<1x3x1x1xf32>) -> tensor<1x3x1x1xf32> loc("BatchNormalization_9")
    %24 = "tgn.elementwise"(%20, %23) <{f = "add"}> : (tensor<?x3x6x10xf32, {dims = ["n"]}>, tensor<1x3x1x1xf32>) -> tensor<?x3x6x10xf32, {dims = ["n"]}> loc(fused["Add_4", "BatchNormalization_9"])
    "tgn.return"(%24) : (tensor<?x3x6x10xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x400000000AD723BE48E17ABFCDCC8C3F713D0ABFCDCC4CBD713D4ABFAE4721BF0AD7A3BFAE47A13F9A9919BEEC51783F0AD7233CD7A330BFC3F5A8BE295C0FBF0AD7233C5C8FC2BE9A9999BED7A3B0BF295C4FBF3333D33F1F852BBF666686BF7B14AE3EE17AB43F9A99B9BF3D0A57BEAE4721BFAE47E1BF48E13A3F0AD7A3BC295C8F3D000040BF6666E63E713D0ABF295C0FBE7B148EBFF6289CBF1F85AB3F5C8F02BFE17A943E8FC2F5BCAE47E1BE5C8F02BFAE47213F9A9999BE9A9919BE0AD7A33C",
      const1: "0x400000003D0A973F7B142E3F5C8FC23E",
      const2: "0x40000000EC51783F295C0FBE713D0A3F",
      const3: "0x4000000014AE473FE17A543F1F856B3F",
      const4: "0x40000000C05012BF132F79BF65D7373F"
    }
  }
#-}
