// What an op reads that the evaluator refuses, here a slice from a start that the run knows, is stored.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<?xf32, {dims = ["n"]}>):
    %c = "tgn.constant"() <{id = dense_resource<const0> : tensor<3xf32>, dtype = "f32", shape = [3]}> : () -> tensor<3xf32>
    %p = "tgn.elementwise"(%c) <{f = "neg"}> : (tensor<3xf32>) -> tensor<3xf32> loc("p")
    %q = "tgn.elementwise"(%p) <{f = "neg"}> : (tensor<3xf32>) -> tensor<3xf32> loc("q")
    %y = "tgn.slice"(%q) <{starts = ["n"], sizes = [2], steps = [1]}> : (tensor<3xf32>) -> tensor<2xf32> loc("y")
    "tgn.return"(%y) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x0400000000004040000080C00000A040" } }
#-}
// -----
// p: computed at compile time
// q: computed at compile time
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<?xf32, {dims = ["n"]}>):
    %1 = "tgn.constant"() <{id = dense_resource<const0> : tensor<3xf32>, dtype = "f32", shape = [3]}> : () -> tensor<3xf32>
    %5 = "tgn.constant"() <{id = dense_resource<const1> : tensor<3xf32>, dtype = "f32", shape = [3]}> : () -> tensor<3xf32> loc("p")
    %6 = "tgn.constant"() <{id = dense_resource<const2> : tensor<3xf32>, dtype = "f32", shape = [3]}> : () -> tensor<3xf32> loc("q")
    %4 = "tgn.slice"(%6) <{starts = ["n"], sizes = [2], steps = [1]}> : (tensor<3xf32>) -> tensor<2xf32> loc("y")
    "tgn.return"(%4) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x4000000000004040000080C00000A040",
      const1: "0x40000000000040C0000080400000A0C0",
      const2: "0x4000000000004040000080C00000A040"
    }
  }
#-}
