// The first column comes to 2^16, which 2^15 times is more than `i32` holds: two digits each.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<2x516xi16>):
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<516x2xi8>, dtype = "i8", shape = [516, 2]}> : () -> tensor<516x2xi8>
    %f = "tgn.elementwise"(%x) <{f = "cast:f32"}> : (tensor<2x516xi16>) -> tensor<2x516xf32>
    %y = "tgn.dot"(%f, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<2x516xf32>, tensor<516x2xi8>) -> tensor<2x2xf32> loc("y")
    "tgn.return"(%y) : (tensor<2x2xf32>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x010000008080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080808080807F0000000000000000"
    }
  }
#-}
// -----
// y: decomposed dot: the target takes its decomposition
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<2x516xi16>):
    %1 = "tgn.constant"() <{id = dense_resource<const0> : tensor<516x2xi8>, dtype = "i8", shape = [516, 2]}> : () -> tensor<516x2xi8>
    %2 = "tgn.elementwise"(%0) <{f = "cast:f32"}> : (tensor<2x516xi16>) -> tensor<2x516xf32>
    %4 = "tgn.elementwise"(%0) <{f = "cast:i32"}> : (tensor<2x516xi16>) -> tensor<2x516xi32> loc("y")
    %5 = "tgn.splat"() <{dtype = "i32", shape = [1, 1], bits = 32768}> : () -> tensor<1x1xi32> loc("y")
    %6 = "tgn.elementwise"(%4, %5) <{f = "add"}> : (tensor<2x516xi32>, tensor<1x1xi32>) -> tensor<2x516xi32> loc("y")
    %7 = "tgn.reshape"(%6) <{shape = [1, 2, 516]}> : (tensor<2x516xi32>) -> tensor<1x2x516xi32> loc("y")
    %8 = "tgn.broadcast"(%7) <{shape = [2, 2, 516]}> : (tensor<1x2x516xi32>) -> tensor<2x2x516xi32> loc("y")
    %9 = "tgn.constant"() <{id = dense_resource<const1> : tensor<2x1x1xi32>, dtype = "i32", shape = [2, 1, 1]}> : () -> tensor<2x1x1xi32> loc("y")
    %10 = "tgn.elementwise"(%8, %9) <{f = "shift_right"}> : (tensor<2x2x516xi32>, tensor<2x1x1xi32>) -> tensor<2x2x516xi32> loc("y")
    %11 = "tgn.elementwise"(%10) <{f = "cast:u8"}> : (tensor<2x2x516xi32>) -> tensor<2x2x516xui8> loc("y")
    %12 = "tgn.dot"(%11, %1) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [2], rhs_contract = [0]}, out = "i32"}> : (tensor<2x2x516xui8>, tensor<516x2xi8>) -> tensor<2x2x2xi32> loc("y")
    %13 = "tgn.slice"(%12) <{starts = [0, 0, 0], sizes = [1, 2, 2], steps = [1, 1, 1]}> : (tensor<2x2x2xi32>) -> tensor<1x2x2xi32> loc("y")
    %14 = "tgn.reshape"(%13) <{shape = [2, 2]}> : (tensor<1x2x2xi32>) -> tensor<2x2xi32> loc("y")
    %15 = "tgn.slice"(%12) <{starts = [1, 0, 0], sizes = [1, 2, 2], steps = [1, 1, 1]}> : (tensor<2x2x2xi32>) -> tensor<1x2x2xi32> loc("y")
    %16 = "tgn.reshape"(%15) <{shape = [2, 2]}> : (tensor<1x2x2xi32>) -> tensor<2x2xi32> loc("y")
    %17 = "tgn.constant"() <{id = dense_resource<const2> : tensor<1x2xi32>, dtype = "i32", shape = [1, 2]}> : () -> tensor<1x2xi32> loc("y")
    %18 = "tgn.splat"() <{dtype = "i32", shape = [1, 1], bits = 4294967168}> : () -> tensor<1x1xi32> loc("y")
    %19 = "tgn.elementwise"(%17, %18) <{f = "mul"}> : (tensor<1x2xi32>, tensor<1x1xi32>) -> tensor<1x2xi32> loc("y")
    %20 = "tgn.elementwise"(%14, %19) <{f = "add"}> : (tensor<2x2xi32>, tensor<1x2xi32>) -> tensor<2x2xi32> loc("y")
    %21 = "tgn.elementwise"(%20) <{f = "cast:f32"}> : (tensor<2x2xi32>) -> tensor<2x2xf32> loc("y")
    %22 = "tgn.elementwise"(%16) <{f = "cast:f32"}> : (tensor<2x2xi32>) -> tensor<2x2xf32> loc("y")
    %23 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1132462080}> : () -> tensor<1x1xf32> loc("y")
    %24 = "tgn.elementwise"(%21, %23) <{f = "mul"}> : (tensor<2x2xf32>, tensor<1x1xf32>) -> tensor<2x2xf32> loc("y")
    %25 = "tgn.elementwise"(%24, %22) <{f = "add"}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("y")
    "tgn.return"(%25) : (tensor<2x2xf32>) -> ()
  }) : () -> ()
}) {tgn.elided = {const0 = "2811c5ae89aa1a9afd9ed4454b97a2c91a6b08180b6d5390199c4732c43cdd4a"}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const1: "0x400000000800000000000000",
      const2: "0x400000000000FFFFFF00FFFF"
    }
  }
#-}
