// Groups of a transposed convolution: each has its own scales.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["BatchNormalization_7"]}> ({
  ^bb0(%0: tensor<?x4x3x5xf32, {dims = ["n"]}>):
    %1 = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x3x3x3xf32>, dtype = "f32", shape = [4, 3, 3, 3]}> : () -> tensor<4x3x3x3xf32> loc("c1")
    %6 = "tgn.conv_transpose"(%0, %1) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 2, output = [5, 7]}> : (tensor<?x4x3x5xf32, {dims = ["n"]}>, tensor<4x3x3x3xf32>) -> tensor<?x6x5x7xf32, {dims = ["n"]}> loc("ConvTranspose_2")
    %8 = "tgn.constant"() <{id = dense_resource<const6> : tensor<1x6x1x1xf32>, dtype = "f32", shape = [1, 6, 1, 1]}> : () -> tensor<1x6x1x1xf32> loc("BatchNormalization_7")
    %9 = "tgn.constant"() <{id = dense_resource<const7> : tensor<1x6x1x1xf32>, dtype = "f32", shape = [1, 6, 1, 1]}> : () -> tensor<1x6x1x1xf32> loc("BatchNormalization_7")
    %11 = "tgn.elementwise"(%6, %9) <{f = "sub"}> : (tensor<?x6x5x7xf32, {dims = ["n"]}>, tensor<1x6x1x1xf32>) -> tensor<?x6x5x7xf32, {dims = ["n"]}> loc("BatchNormalization_7")
    %15 = "tgn.constant"() <{id = dense_resource<const11> : tensor<1x6x1x1xf32>, dtype = "f32", shape = [1, 6, 1, 1]}> : () -> tensor<1x6x1x1xf32> loc("BatchNormalization_7")
    %16 = "tgn.elementwise"(%11, %15) <{f = "mul"}> : (tensor<?x6x5x7xf32, {dims = ["n"]}>, tensor<1x6x1x1xf32>) -> tensor<?x6x5x7xf32, {dims = ["n"]}> loc("BatchNormalization_7")
    %17 = "tgn.elementwise"(%16, %8) <{f = "add"}> : (tensor<?x6x5x7xf32, {dims = ["n"]}>, tensor<1x6x1x1xf32>) -> tensor<?x6x5x7xf32, {dims = ["n"]}> loc("BatchNormalization_7")
    "tgn.return"(%17) : (tensor<?x6x5x7xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x40000000F6285C3F48E1FA3E52B85E3FD7A3F03FA470BD3F333393BFEC51D8BF85EB513F5C8F82BF0AD723BC3D0A573F85EBD1BF3D0A07C0B81E853E0AD7233D000080BE0AD7233DF6285CBFAE47C1BF7B142EBEEC5178BF85EBD1BF5C8F023F8FC275BD85EBD13EA4707DBFC3F528BF000080BF0AD763BFCDCC4C3E14AE47BFEC51B83E7B14AE3E85EB014085EBB1BF0AD7633FEC51B8BD0AD723BC9A99B9BF1F85EBBEA4703D3F0AD7A3BD0AD7A33DE17A94BE3333933F0AD7A3BCCDCC0CC0D7A330BFF628FCBF000050C014AE07BF713DAA3FCDCC4C3D8FC295BFD7A370BFD7A3903F0AD7233ECDCC4C3DCDCC4CBD0AD7233D295C4F3FCDCC0C3FAE47613EB81E85BF5C8F023F7B142EBF1F858B3F5C8FA2BF295C0FBE0AD723BCC3F5A8BFF628DC3F48E1BA3F1F85EBBEB81E453F5C8FC23E3D0A27C00000803E8FC275BD0AD7A33D713D8ABF713D8ABEEC5138BEEC51983FC3F5A83E0AD723BC0AD7C33F295C0FBF14AEC7BEC3F5E8BFC3F5C83F8FC2753F1F856B3F1F852B3FAE47E13DAE47613E000080BECDCC4CBECDCC4C3DAE47C13F295C0F3F8FC275BDE17A14BFAE4721BFCDCCCC3F5C8F023F295C8F3D3333B3BE",
      const6: "0x40000000AE47E13D1F85CBBF8FC275BE9A9959BFAE47613FB81E45BF",
      const7: "0x40000000E17A143F5C8FC23F52B89EBE9A9919BF5C8F423E00000080",
      const11: "0x40000000CCCA68BFC05092BDD54C0C3F120CE5BEC6BF8CBE048935BE"
    }
  }
#-}
// -----
// BatchNormalization_7: y - b => y + -b after a contraction
// BatchNormalization_7: (y + b) * c => y * c + b * c
// BatchNormalization_7: conv(x, w) * c => conv(x, w * c)
// BatchNormalization_7: (y + a) + b => y + (a + b) after a contraction
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["BatchNormalization_7"]}> ({
  ^bb0(%0: tensor<?x4x3x5xf32, {dims = ["n"]}>):
    %1 = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x3x3x3xf32>, dtype = "f32", shape = [4, 3, 3, 3]}> : () -> tensor<4x3x3x3xf32> loc("c1")
    %3 = "tgn.constant"() <{id = dense_resource<const1> : tensor<1x6x1x1xf32>, dtype = "f32", shape = [1, 6, 1, 1]}> : () -> tensor<1x6x1x1xf32> loc("BatchNormalization_7")
    %4 = "tgn.constant"() <{id = dense_resource<const2> : tensor<1x6x1x1xf32>, dtype = "f32", shape = [1, 6, 1, 1]}> : () -> tensor<1x6x1x1xf32> loc("BatchNormalization_7")
    %9 = "tgn.elementwise"(%4) <{f = "neg"}> : (tensor<1x6x1x1xf32>) -> tensor<1x6x1x1xf32> loc("BatchNormalization_7")
    %6 = "tgn.constant"() <{id = dense_resource<const3> : tensor<1x6x1x1xf32>, dtype = "f32", shape = [1, 6, 1, 1]}> : () -> tensor<1x6x1x1xf32> loc("BatchNormalization_7")
    %14 = "tgn.reshape"(%1) <{shape = [2, 2, 3, 3, 3]}> : (tensor<4x3x3x3xf32>) -> tensor<2x2x3x3x3xf32> loc("BatchNormalization_7")
    %15 = "tgn.reshape"(%6) <{shape = [2, 1, 3, 1, 1]}> : (tensor<1x6x1x1xf32>) -> tensor<2x1x3x1x1xf32> loc("BatchNormalization_7")
    %16 = "tgn.elementwise"(%14, %15) <{f = "mul"}> : (tensor<2x2x3x3x3xf32>, tensor<2x1x3x1x1xf32>) -> tensor<2x2x3x3x3xf32> loc("BatchNormalization_7")
    %17 = "tgn.reshape"(%16) <{shape = [4, 3, 3, 3]}> : (tensor<2x2x3x3x3xf32>) -> tensor<4x3x3x3xf32> loc("BatchNormalization_7")
    %18 = "tgn.conv_transpose"(%0, %17) <{window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 2, output = [5, 7]}> : (tensor<?x4x3x5xf32, {dims = ["n"]}>, tensor<4x3x3x3xf32>) -> tensor<?x6x5x7xf32, {dims = ["n"]}> loc(fused["ConvTranspose_2", "BatchNormalization_7"])
    %12 = "tgn.elementwise"(%9, %6) <{f = "mul"}> : (tensor<1x6x1x1xf32>, tensor<1x6x1x1xf32>) -> tensor<1x6x1x1xf32> loc("BatchNormalization_7")
    %19 = "tgn.elementwise"(%12, %3) <{f = "add"}> : (tensor<1x6x1x1xf32>, tensor<1x6x1x1xf32>) -> tensor<1x6x1x1xf32> loc("BatchNormalization_7")
    %20 = "tgn.elementwise"(%18, %19) <{f = "add"}> : (tensor<?x6x5x7xf32, {dims = ["n"]}>, tensor<1x6x1x1xf32>) -> tensor<?x6x5x7xf32, {dims = ["n"]}> loc("BatchNormalization_7")
    "tgn.return"(%20) : (tensor<?x6x5x7xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x40000000F6285C3F48E1FA3E52B85E3FD7A3F03FA470BD3F333393BFEC51D8BF85EB513F5C8F82BF0AD723BC3D0A573F85EBD1BF3D0A07C0B81E853E0AD7233D000080BE0AD7233DF6285CBFAE47C1BF7B142EBEEC5178BF85EBD1BF5C8F023F8FC275BD85EBD13EA4707DBFC3F528BF000080BF0AD763BFCDCC4C3E14AE47BFEC51B83E7B14AE3E85EB014085EBB1BF0AD7633FEC51B8BD0AD723BC9A99B9BF1F85EBBEA4703D3F0AD7A3BD0AD7A33DE17A94BE3333933F0AD7A3BCCDCC0CC0D7A330BFF628FCBF000050C014AE07BF713DAA3FCDCC4C3D8FC295BFD7A370BFD7A3903F0AD7233ECDCC4C3DCDCC4CBD0AD7233D295C4F3FCDCC0C3FAE47613EB81E85BF5C8F023F7B142EBF1F858B3F5C8FA2BF295C0FBE0AD723BCC3F5A8BFF628DC3F48E1BA3F1F85EBBEB81E453F5C8FC23E3D0A27C00000803E8FC275BD0AD7A33D713D8ABF713D8ABEEC5138BEEC51983FC3F5A83E0AD723BC0AD7C33F295C0FBF14AEC7BEC3F5E8BFC3F5C83F8FC2753F1F856B3F1F852B3FAE47E13DAE47613E000080BECDCC4CBECDCC4C3DAE47C13F295C0F3F8FC275BDE17A14BFAE4721BFCDCCCC3F5C8F023F295C8F3D3333B3BE",
      const1: "0x40000000AE47E13D1F85CBBF8FC275BE9A9959BFAE47613FB81E45BF",
      const2: "0x40000000E17A143F5C8FC23F52B89EBE9A9919BF5C8F423E00000080",
      const3: "0x40000000CCCA68BFC05092BDD54C0C3F120CE5BEC6BF8CBE048935BE"
    }
  }
#-}
