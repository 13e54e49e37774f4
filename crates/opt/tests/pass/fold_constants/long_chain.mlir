// Of a chain of ten the ninth result is stored on the way; one that is read twice is stored, too.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<2xf32>):
    %c = "tgn.constant"() <{id = dense_resource<const0> : tensor<2xf32>, dtype = "f32", shape = [2]}> : () -> tensor<2xf32>
    %a0 = "tgn.elementwise"(%c) <{f = "neg"}> : (tensor<2xf32>) -> tensor<2xf32> loc("a0")
    %a1 = "tgn.elementwise"(%a0) <{f = "neg"}> : (tensor<2xf32>) -> tensor<2xf32> loc("a1")
    %a2 = "tgn.elementwise"(%a1) <{f = "neg"}> : (tensor<2xf32>) -> tensor<2xf32> loc("a2")
    %a3 = "tgn.elementwise"(%a2) <{f = "neg"}> : (tensor<2xf32>) -> tensor<2xf32> loc("a3")
    %a4 = "tgn.elementwise"(%a3) <{f = "neg"}> : (tensor<2xf32>) -> tensor<2xf32> loc("a4")
    %a5 = "tgn.elementwise"(%a4) <{f = "neg"}> : (tensor<2xf32>) -> tensor<2xf32> loc("a5")
    %a6 = "tgn.elementwise"(%a5) <{f = "neg"}> : (tensor<2xf32>) -> tensor<2xf32> loc("a6")
    %a7 = "tgn.elementwise"(%a6) <{f = "neg"}> : (tensor<2xf32>) -> tensor<2xf32> loc("a7")
    %a8 = "tgn.elementwise"(%a7) <{f = "neg"}> : (tensor<2xf32>) -> tensor<2xf32> loc("a8")
    %a9 = "tgn.elementwise"(%a8) <{f = "neg"}> : (tensor<2xf32>) -> tensor<2xf32> loc("a9")
    %s = "tgn.elementwise"(%a9, %a9) <{f = "mul"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("s")
    %y = "tgn.elementwise"(%x, %s) <{f = "add"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("y")
    "tgn.return"(%y) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x0400000000004040000080C0" } }
#-}
// -----
// a0: computed at compile time
// a1: computed at compile time
// a2: computed at compile time
// a3: computed at compile time
// a4: computed at compile time
// a5: computed at compile time
// a6: computed at compile time
// a7: computed at compile time
// a8: computed at compile time
// a9: computed at compile time
// s: computed at compile time
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<2xf32>):
    %14 = "tgn.constant"() <{id = dense_resource<const1> : tensor<2xf32>, dtype = "f32", shape = [2]}> : () -> tensor<2xf32> loc("a8")
    %15 = "tgn.constant"() <{id = dense_resource<const2> : tensor<2xf32>, dtype = "f32", shape = [2]}> : () -> tensor<2xf32> loc("a9")
    %16 = "tgn.constant"() <{id = dense_resource<const3> : tensor<2xf32>, dtype = "f32", shape = [2]}> : () -> tensor<2xf32> loc("s")
    %13 = "tgn.elementwise"(%0, %16) <{f = "add"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32> loc("y")
    "tgn.return"(%13) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const1: "0x40000000000040C000008040",
      const2: "0x4000000000004040000080C0",
      const3: "0x400000000000104100008041"
    }
  }
#-}
