// Rows of a table that is computed of fewer bytes are computed where they are read (g, along the other axis h); not where the whole table is read too (j), nor where the table has as many bytes (k).
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["i", "n"], result_names = ["g", "h", "j", "d", "k"]}> ({
  ^bb0(%i: tensor<2x3xi64>, %n: tensor<5xi64>):
    %t = "tgn.constant"() <{id = dense_resource<const0> : tensor<6x4xi8>, dtype = "i8", shape = [6, 4]}> : () -> tensor<6x4xi8>
    %s = "tgn.constant"() <{id = dense_resource<const1> : tensor<6x1xf32>, dtype = "f32", shape = [6, 1]}> : () -> tensor<6x1xf32>
    %c = "tgn.elementwise"(%t) <{f = "cast:f32"}> : (tensor<6x4xi8>) -> tensor<6x4xf32> loc("c")
    %a = "tgn.elementwise"(%c, %s) <{f = "mul"}> : (tensor<6x4xf32>, tensor<6x1xf32>) -> tensor<6x4xf32> loc("a")
    %g = "tgn.gather"(%a, %i) <{axis = 0}> : (tensor<6x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32> loc("g")
    %h = "tgn.gather"(%a, %n) <{axis = 1}> : (tensor<6x4xf32>, tensor<5xi64>) -> tensor<6x5xf32> loc("h")
    %b = "tgn.elementwise"(%t) <{f = "cast:f32"}> : (tensor<6x4xi8>) -> tensor<6x4xf32> loc("b")
    %d = "tgn.elementwise"(%b) <{f = "neg"}> : (tensor<6x4xf32>) -> tensor<6x4xf32> loc("d")
    %j = "tgn.gather"(%d, %i) <{axis = 0}> : (tensor<6x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32> loc("j")
    %f = "tgn.elementwise"(%s) <{f = "neg"}> : (tensor<6x1xf32>) -> tensor<6x1xf32> loc("f")
    %k = "tgn.gather"(%f, %i) <{axis = 0}> : (tensor<6x1xf32>, tensor<2x3xi64>) -> tensor<2x3x1xf32> loc("k")
    "tgn.return"(%g, %h, %j, %d, %k) : (tensor<2x3x4xf32>, tensor<6x5xf32>, tensor<2x3x4xf32>, tensor<6x4xf32>, tensor<2x3x1xf32>) -> ()
  }) : () -> ()
}) : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x4000000000254A6F94B9DE082D52779CC1E610355A7FA4C9EE183D62", const1: "0x400000000000003F0000803E0000803F00000040000080400000003E" } }
#-}
// -----
// g: gather(f(constants)) => f(gather(constants))
// h: gather(f(constants)) => f(gather(constants))
// g: gather(f(constants)) => f(gather(constants))
// h: gather(f(constants)) => f(gather(constants))
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["i", "n"], result_names = ["g", "h", "j", "d", "k"]}> ({
  ^bb0(%0: tensor<2x3xi64>, %1: tensor<5xi64>):
    %2 = "tgn.constant"() <{id = dense_resource<const0> : tensor<6x4xi8>, dtype = "i8", shape = [6, 4]}> : () -> tensor<6x4xi8>
    %3 = "tgn.constant"() <{id = dense_resource<const1> : tensor<6x1xf32>, dtype = "f32", shape = [6, 1]}> : () -> tensor<6x1xf32>
    %18 = "tgn.gather"(%2, %0) <{axis = 0}> : (tensor<6x4xi8>, tensor<2x3xi64>) -> tensor<2x3x4xi8> loc("g")
    %19 = "tgn.elementwise"(%18) <{f = "cast:f32"}> : (tensor<2x3x4xi8>) -> tensor<2x3x4xf32> loc("g")
    %14 = "tgn.gather"(%3, %0) <{axis = 0}> : (tensor<6x1xf32>, tensor<2x3xi64>) -> tensor<2x3x1xf32> loc("g")
    %15 = "tgn.elementwise"(%19, %14) <{f = "mul"}> : (tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32> loc("g")
    %20 = "tgn.gather"(%2, %1) <{axis = 1}> : (tensor<6x4xi8>, tensor<5xi64>) -> tensor<6x5xi8> loc("h")
    %21 = "tgn.elementwise"(%20) <{f = "cast:f32"}> : (tensor<6x5xi8>) -> tensor<6x5xf32> loc("h")
    %17 = "tgn.elementwise"(%21, %3) <{f = "mul"}> : (tensor<6x5xf32>, tensor<6x1xf32>) -> tensor<6x5xf32> loc("h")
    %8 = "tgn.elementwise"(%2) <{f = "cast:f32"}> : (tensor<6x4xi8>) -> tensor<6x4xf32> loc("b")
    %9 = "tgn.elementwise"(%8) <{f = "neg"}> : (tensor<6x4xf32>) -> tensor<6x4xf32> loc("d")
    %10 = "tgn.gather"(%9, %0) <{axis = 0}> : (tensor<6x4xf32>, tensor<2x3xi64>) -> tensor<2x3x4xf32> loc("j")
    %11 = "tgn.elementwise"(%3) <{f = "neg"}> : (tensor<6x1xf32>) -> tensor<6x1xf32> loc("f")
    %12 = "tgn.gather"(%11, %0) <{axis = 0}> : (tensor<6x1xf32>, tensor<2x3xi64>) -> tensor<2x3x1xf32> loc("k")
    "tgn.return"(%15, %17, %10, %9, %12) : (tensor<2x3x4xf32>, tensor<6x5xf32>, tensor<2x3x4xf32>, tensor<6x4xf32>, tensor<2x3x1xf32>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x4000000000254A6F94B9DE082D52779CC1E610355A7FA4C9EE183D62",
      const1: "0x400000000000003F0000803E0000803F00000040000080400000003E"
    }
  }
#-}
