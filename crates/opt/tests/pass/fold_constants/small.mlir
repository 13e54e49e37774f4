// What depends on constants only is computed.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<2xf32>):
    %a = "tgn.constant"() <{id = dense_resource<const0> : tensor<2xf32>, dtype = "f32", shape = [2]}> : () -> tensor<2xf32>
    %b = "tgn.constant"() <{id = dense_resource<const1> : tensor<2xf32>, dtype = "f32", shape = [2]}> : () -> tensor<2xf32>
    %c = "tgn.elementwise"(%a, %b) <{f = "mul"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("c")
    %y = "tgn.elementwise"(%x, %c) <{f = "add"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("y")
    "tgn.return"(%y) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x400000000000803F00000040", const1: "0x40000000000040400000A040" } }
#-}
// -----
// c: computed at compile time
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<2xf32>):
    %1 = "tgn.constant"() <{id = dense_resource<const0> : tensor<2xf32>, dtype = "f32", shape = [2]}> : () -> tensor<2xf32>
    %2 = "tgn.constant"() <{id = dense_resource<const1> : tensor<2xf32>, dtype = "f32", shape = [2]}> : () -> tensor<2xf32>
    %5 = "tgn.constant"() <{id = dense_resource<const2> : tensor<2xf32>, dtype = "f32", shape = [2]}> : () -> tensor<2xf32> loc("c")
    %4 = "tgn.elementwise"(%0, %5) <{f = "add"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("y")
    "tgn.return"(%4) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x400000000000803F00000040",
      const1: "0x40000000000040400000A040",
      const2: "0x400000000000404000002041"
    }
  }
#-}
