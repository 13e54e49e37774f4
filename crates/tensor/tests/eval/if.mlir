// One branch runs; nested branches capture from all around. A kernel is its region.
// run: bool[] true; f32[2] 1 2 => f32[2] 2 4
// run: bool[] false; f32[2] 1 2 => f32[2] 0.5 1.5
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["p", "x"], result_names = ["y"]}> ({
  ^bb0(%p: tensor<i1>, %x: tensor<2xf32>):
    %c = "tgn.constant"() <{id = dense_resource<half> : tensor<2xf32>, dtype = "f32", shape = [2]}> : () -> tensor<2xf32>
    %y = "tgn.if"(%p) ({
      %t = "tgn.kernel"(%x, %x) <{class = "map"}> ({
      ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
        %s = "tgn.elementwise"(%a, %b) <{f = "add"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        "tgn.yield"(%s) : (tensor<2xf32>) -> ()
      }) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      "tgn.yield"(%t) : (tensor<2xf32>) -> ()
    }, {
      %q = "tgn.elementwise"(%p) <{f = "not"}> : (tensor<i1>) -> tensor<i1>
      %n = "tgn.if"(%q) ({
        %d = "tgn.elementwise"(%x, %c) <{f = "sub"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        "tgn.yield"(%d) : (tensor<2xf32>) -> ()
      }, {
        "tgn.yield"(%x) : (tensor<2xf32>) -> ()
      }) : (tensor<i1>) -> tensor<2xf32>
      "tgn.yield"(%n) : (tensor<2xf32>) -> ()
    }) : (tensor<i1>) -> tensor<2xf32>
    "tgn.return"(%y) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
{-#
  dialect_resources: { builtin: { half: "0x400000000000003F0000003F" } }
#-}
