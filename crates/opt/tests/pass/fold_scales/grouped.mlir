// A grouped convolution with a bias, then a normalisation.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["BatchNormalization_8"]}> ({
  ^bb0(%0: tensor<?x4x?x5xf32, {dims = ["n", "h"]}>):
    %1 = "tgn.constant"() <{id = dense_resource<const0> : tensor<6x2x3x3xf32>, dtype = "f32", shape = [6, 2, 3, 3]}> : () -> tensor<6x2x3x3xf32> loc("c1")
    %7 = "tgn.conv"(%0, %1) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 2, out = "f32"}> : (tensor<?x4x?x5xf32, {dims = ["n", "h"]}>, tensor<6x2x3x3xf32>) -> tensor<?x6x?x5xf32, {dims = ["n", "h"]}> loc("Conv_3")
    %8 = "tgn.constant"() <{id = dense_resource<const6> : tensor<1x6x1x1xf32>, dtype = "f32", shape = [1, 6, 1, 1]}> : () -> tensor<1x6x1x1xf32> loc("Conv_3")
    %9 = "tgn.elementwise"(%7, %8) <{f = "add"}> : (tensor<?x6x?x5xf32, {dims = ["n", "h"]}>, tensor<1x6x1x1xf32>) -> tensor<?x6x?x5xf32, {dims = ["n", "h"]}> loc("Conv_3")
    %11 = "tgn.constant"() <{id = dense_resource<const8> : tensor<1x6x1x1xf32>, dtype = "f32", shape = [1, 6, 1, 1]}> : () -> tensor<1x6x1x1xf32> loc("BatchNormalization_8")
    %12 = "tgn.constant"() <{id = dense_resource<const9> : tensor<1x6x1x1xf32>, dtype = "f32", shape = [1, 6, 1, 1]}> : () -> tensor<1x6x1x1xf32> loc("BatchNormalization_8")
    %14 = "tgn.elementwise"(%9, %12) <{f = "sub"}> : (tensor<?x6x?x5xf32, {dims = ["n", "h"]}>, tensor<1x6x1x1xf32>) -> tensor<?x6x?x5xf32, {dims = ["n", "h"]}> loc("BatchNormalization_8")
    %18 = "tgn.constant"() <{id = dense_resource<const13> : tensor<1x6x1x1xf32>, dtype = "f32", shape = [1, 6, 1, 1]}> : () -> tensor<1x6x1x1xf32> loc("BatchNormalization_8")
    %19 = "tgn.elementwise"(%14, %18) <{f = "mul"}> : (tensor<?x6x?x5xf32, {dims = ["n", "h"]}>, tensor<1x6x1x1xf32>) -> tensor<?x6x?x5xf32, {dims = ["n", "h"]}> loc("BatchNormalization_8")
    %20 = "tgn.elementwise"(%19, %11) <{f = "add"}> : (tensor<?x6x?x5xf32, {dims = ["n", "h"]}>, tensor<1x6x1x1xf32>) -> tensor<?x6x?x5xf32, {dims = ["n", "h"]}> loc("BatchNormalization_8")
    "tgn.return"(%20) : (tensor<?x6x?x5xf32, {dims = ["n", "h"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {h = {input = 0, axis = 2}, n = {input = 0, axis = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x40000000000000009A99993E713D8ABE0AD763BF6666E6BEA4707DBF8FC2753D1F85AB3F48E1FABE52B81EBF48E1FA3EEC51B83EAE47E13D7B146EBF8FC2F5BC3333333F1F85ABBF1F85EBBE3333F3BFB81EA5BF1F85EBBF8FC275BE5C8FA2BF713D8A3E0AD7233E5C8F42BEAE4721C0713D0ABFCDCC4CBDAE47E13D0AD7C3BF8FC2F5BE48E17ABF295C4FBF14AE873F295C4FBF8FC2F5BCAE47613FE17A14BFAE47E1BDAE47E13D8FC2753DA4709DBF0AD7A33D7B14AE3F6666C6BFF6285C3F8FC2F53D0AD723BF000000405C8F423F9A9999BF295C8F3DE17A143F5C8F42BE7B142E3F295C8FBD1F852B3FEC51B83F7B142EBFCDCC4C3E1F85EBBEB81E053EEC5198BFE17A14BFCDCC4CBE6666663F3333933FC3F5A8BF713D4ABF6666263F52B8FEBF1F85EBBECDCCCCBDAE47A13FD7A3303FC3F5A8BEA470BDBE000080BE5C8FC23FF628DCBE9A9999BE3333B33E8FC2F5BDCDCC4CBE7B148EBF0AD723BCAE47E1BE8FC2953F6666263F0AD7A3BC1F852B3F7B14AEBE6666863F0AD723BCE17A143FB81EA5BF3333B33EEC51D8BF5C8F02C09A9999BE666666BF0AD7233E295C0F40E17A54BF52B81EBF3D0A573E48E1FA3E",
      const6: "0x40000000EC5138BE3D0A57BE3333333FB81E053F0AD783BF0AD7A3BD",
      const8: "0x40000000EC51B83D3D0A17BF8FC2F5BD000000C0D7A390BFEC51B83E",
      const9: "0x40000000EC5108C09A99593F0000E0BF5C8F423F9A9959BF14AE473F",
      const13: "0x40000000D86A4E3D7A323CBF0842493EB5101EBFD773A43F63B85D3E"
    }
  }
#-}
// -----
// BatchNormalization_8: y - b => y + -b after a contraction
// BatchNormalization_8: (y + b) * c => y * c + b * c
// BatchNormalization_8: (y + b) * c => y * c + b * c
// BatchNormalization_8: conv(x, w) * c => conv(x, w * c)
// BatchNormalization_8: (y + a) + b => y + (a + b) after a contraction
// BatchNormalization_8: (y + a) + b => y + (a + b) after a contraction
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["BatchNormalization_8"]}> ({
  ^bb0(%0: tensor<?x4x?x5xf32, {dims = ["n", "h"]}>):
    %1 = "tgn.constant"() <{id = dense_resource<const0> : tensor<6x2x3x3xf32>, dtype = "f32", shape = [6, 2, 3, 3]}> : () -> tensor<6x2x3x3xf32> loc("c1")
    %3 = "tgn.constant"() <{id = dense_resource<const1> : tensor<1x6x1x1xf32>, dtype = "f32", shape = [1, 6, 1, 1]}> : () -> tensor<1x6x1x1xf32> loc("Conv_3")
    %5 = "tgn.constant"() <{id = dense_resource<const2> : tensor<1x6x1x1xf32>, dtype = "f32", shape = [1, 6, 1, 1]}> : () -> tensor<1x6x1x1xf32> loc("BatchNormalization_8")
    %6 = "tgn.constant"() <{id = dense_resource<const3> : tensor<1x6x1x1xf32>, dtype = "f32", shape = [1, 6, 1, 1]}> : () -> tensor<1x6x1x1xf32> loc("BatchNormalization_8")
    %11 = "tgn.elementwise"(%6) <{f = "neg"}> : (tensor<1x6x1x1xf32>) -> tensor<1x6x1x1xf32> loc("BatchNormalization_8")
    %8 = "tgn.constant"() <{id = dense_resource<const4> : tensor<1x6x1x1xf32>, dtype = "f32", shape = [1, 6, 1, 1]}> : () -> tensor<1x6x1x1xf32> loc("BatchNormalization_8")
    %19 = "tgn.reshape"(%8) <{shape = [6, 1, 1, 1]}> : (tensor<1x6x1x1xf32>) -> tensor<6x1x1x1xf32> loc("BatchNormalization_8")
    %20 = "tgn.elementwise"(%1, %19) <{f = "mul"}> : (tensor<6x2x3x3xf32>, tensor<6x1x1x1xf32>) -> tensor<6x2x3x3xf32> loc("BatchNormalization_8")
    %21 = "tgn.conv"(%0, %20) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}, groups = 2, out = "f32"}> : (tensor<?x4x?x5xf32, {dims = ["n", "h"]}>, tensor<6x2x3x3xf32>) -> tensor<?x6x?x5xf32, {dims = ["n", "h"]}> loc(fused["Conv_3", "BatchNormalization_8"])
    %17 = "tgn.elementwise"(%3, %8) <{f = "mul"}> : (tensor<1x6x1x1xf32>, tensor<1x6x1x1xf32>) -> tensor<1x6x1x1xf32> loc("BatchNormalization_8")
    %14 = "tgn.elementwise"(%11, %8) <{f = "mul"}> : (tensor<1x6x1x1xf32>, tensor<1x6x1x1xf32>) -> tensor<1x6x1x1xf32> loc("BatchNormalization_8")
    %22 = "tgn.elementwise"(%17, %14) <{f = "add"}> : (tensor<1x6x1x1xf32>, tensor<1x6x1x1xf32>) -> tensor<1x6x1x1xf32> loc("BatchNormalization_8")
    %24 = "tgn.elementwise"(%22, %5) <{f = "add"}> : (tensor<1x6x1x1xf32>, tensor<1x6x1x1xf32>) -> tensor<1x6x1x1xf32> loc("BatchNormalization_8")
    %25 = "tgn.elementwise"(%21, %24) <{f = "add"}> : (tensor<?x6x?x5xf32, {dims = ["n", "h"]}>, tensor<1x6x1x1xf32>) -> tensor<?x6x?x5xf32, {dims = ["n", "h"]}> loc(fused["Conv_3", "BatchNormalization_8"])
    "tgn.return"(%25) : (tensor<?x6x?x5xf32, {dims = ["n", "h"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {h = {input = 0, axis = 2}, n = {input = 0, axis = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x40000000000000009A99993E713D8ABE0AD763BF6666E6BEA4707DBF8FC2753D1F85AB3F48E1FABE52B81EBF48E1FA3EEC51B83EAE47E13D7B146EBF8FC2F5BC3333333F1F85ABBF1F85EBBE3333F3BFB81EA5BF1F85EBBF8FC275BE5C8FA2BF713D8A3E0AD7233E5C8F42BEAE4721C0713D0ABFCDCC4CBDAE47E13D0AD7C3BF8FC2F5BE48E17ABF295C4FBF14AE873F295C4FBF8FC2F5BCAE47613FE17A14BFAE47E1BDAE47E13D8FC2753DA4709DBF0AD7A33D7B14AE3F6666C6BFF6285C3F8FC2F53D0AD723BF000000405C8F423F9A9999BF295C8F3DE17A143F5C8F42BE7B142E3F295C8FBD1F852B3FEC51B83F7B142EBFCDCC4C3E1F85EBBEB81E053EEC5198BFE17A14BFCDCC4CBE6666663F3333933FC3F5A8BF713D4ABF6666263F52B8FEBF1F85EBBECDCCCCBDAE47A13FD7A3303FC3F5A8BEA470BDBE000080BE5C8FC23FF628DCBE9A9999BE3333B33E8FC2F5BDCDCC4CBE7B148EBF0AD723BCAE47E1BE8FC2953F6666263F0AD7A3BC1F852B3F7B14AEBE6666863F0AD723BCE17A143FB81EA5BF3333B33EEC51D8BF5C8F02C09A9999BE666666BF0AD7233E295C0F40E17A54BF52B81EBF3D0A573E48E1FA3E",
      const1: "0x40000000EC5138BE3D0A57BE3333333FB81E053F0AD783BF0AD7A3BD",
      const2: "0x40000000EC51B83D3D0A17BF8FC2F5BD000000C0D7A390BFEC51B83E",
      const3: "0x40000000EC5108C09A99593F0000E0BF5C8F423F9A9959BF14AE473F",
      const4: "0x40000000D86A4E3D7A323CBF0842493EB5101EBFD773A43F63B85D3E"
    }
  }
#-}
