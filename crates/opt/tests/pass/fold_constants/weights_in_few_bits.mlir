// Weights in few bits stay so where contractions unpack them.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<3x4xbf16>):
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<2x2x2xi8>, dtype = "i8", shape = [2, 2, 2]}> : () -> tensor<2x2x2xi8>
    %s = "tgn.constant"() <{id = dense_resource<const1> : tensor<2x2x1xf32>, dtype = "f32", shape = [2, 2, 1]}> : () -> tensor<2x2x1xf32>
    %scale = "tgn.elementwise"(%s) <{f = "cast:bf16"}> : (tensor<2x2x1xf32>) -> tensor<2x2x1xbf16> loc("scale")
    %wide = "tgn.elementwise"(%w) <{f = "cast:bf16"}> : (tensor<2x2x2xi8>) -> tensor<2x2x2xbf16> loc("wide")
    %scaled = "tgn.elementwise"(%wide, %scale) <{f = "mul"}> : (tensor<2x2x2xbf16>, tensor<2x2x1xbf16>) -> tensor<2x2x2xbf16> loc("scaled")
    %factor = "tgn.reshape"(%scaled) <{shape = [2, 4]}> : (tensor<2x2x2xbf16>) -> tensor<2x4xbf16> loc("factor")
    %y = "tgn.dot"(%x, %factor) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [1]}, out = "f32"}> : (tensor<3x4xbf16>, tensor<2x4xbf16>) -> tensor<3x2xf32> loc("y")
    "tgn.return"(%y) : (tensor<3x2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x0400000001020304FFFE0010", const1: "0x040000000000803F00000040000080400000003F" } }
#-}
// -----
// scale: computed at compile time
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<3x4xbf16>):
    %1 = "tgn.constant"() <{id = dense_resource<const0> : tensor<2x2x2xi8>, dtype = "i8", shape = [2, 2, 2]}> : () -> tensor<2x2x2xi8>
    %2 = "tgn.constant"() <{id = dense_resource<const1> : tensor<2x2x1xf32>, dtype = "f32", shape = [2, 2, 1]}> : () -> tensor<2x2x1xf32>
    %8 = "tgn.constant"() <{id = dense_resource<const2> : tensor<2x2x1xbf16>, dtype = "bf16", shape = [2, 2, 1]}> : () -> tensor<2x2x1xbf16> loc("scale")
    %4 = "tgn.elementwise"(%1) <{f = "cast:bf16"}> : (tensor<2x2x2xi8>) -> tensor<2x2x2xbf16> loc("wide")
    %5 = "tgn.elementwise"(%4, %8) <{f = "mul"}> : (tensor<2x2x2xbf16>, tensor<2x2x1xbf16>) -> tensor<2x2x2xbf16> loc("scaled")
    %6 = "tgn.reshape"(%5) <{shape = [2, 4]}> : (tensor<2x2x2xbf16>) -> tensor<2x4xbf16> loc("factor")
    %7 = "tgn.dot"(%0, %6) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [1]}, out = "f32"}> : (tensor<3x4xbf16>, tensor<2x4xbf16>) -> tensor<3x2xf32> loc("y")
    "tgn.return"(%7) : (tensor<3x2xf32>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x4000000001020304FFFE0010",
      const1: "0x400000000000803F00000040000080400000003F",
      const2: "0x40000000803F00408040003F"
    }
  }
#-}
