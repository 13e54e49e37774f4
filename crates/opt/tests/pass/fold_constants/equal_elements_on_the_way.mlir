// What is computed on the way to a constant is not much larger than what it is computed of either.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<20002xf32>):
    %c = "tgn.constant"() <{id = dense_resource<const0> : tensor<2xf32>, dtype = "f32", shape = [2]}> : () -> tensor<2xf32>
    %s = "tgn.slice"(%c) <{starts = [0], sizes = [1], steps = [1]}> : (tensor<2xf32>) -> tensor<1xf32> loc("s")
    %t = "tgn.broadcast"(%s) <{shape = [10000]}> : (tensor<1xf32>) -> tensor<10000xf32> loc("t")
    %a = "tgn.concat"(%t, %t) <{axis = 0}> : (tensor<10000xf32>, tensor<10000xf32>) -> tensor<20000xf32> loc("a")
    %b = "tgn.concat"(%a, %c) <{axis = 0}> : (tensor<20000xf32>, tensor<2xf32>) -> tensor<20002xf32> loc("b")
    %y = "tgn.elementwise"(%x, %b) <{f = "add"}> : (tensor<20002xf32>, tensor<20002xf32>) -> tensor<20002xf32> loc("y")
    "tgn.return"(%y) : (tensor<20002xf32>) -> ()
  }) : () -> ()
}) : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x0400000000004040000080C0" } }
#-}
// -----
// s: computed at compile time
// t: computed at compile time
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<20002xf32>):
    %1 = "tgn.constant"() <{id = dense_resource<const0> : tensor<2xf32>, dtype = "f32", shape = [2]}> : () -> tensor<2xf32>
    %7 = "tgn.splat"() <{dtype = "f32", shape = [10000], bits = 1077936128}> : () -> tensor<10000xf32> loc("t")
    %4 = "tgn.concat"(%7, %7) <{axis = 0}> : (tensor<10000xf32>, tensor<10000xf32>) -> tensor<20000xf32> loc("a")
    %5 = "tgn.concat"(%4, %1) <{axis = 0}> : (tensor<20000xf32>, tensor<2xf32>) -> tensor<20002xf32> loc("b")
    %6 = "tgn.elementwise"(%0, %5) <{f = "add"}> : (tensor<20002xf32>, tensor<20002xf32>) -> tensor<20002xf32> loc("y")
    "tgn.return"(%6) : (tensor<20002xf32>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x4000000000004040000080C0"
    }
  }
#-}
