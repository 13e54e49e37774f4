// error: if_c1: branches take no arguments
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = [], result_names = []}> ({
  ^bb0(%p: tensor<i1>, %x: tensor<2xf32>):
    %y = "tgn.if"(%p) ({
    ^bb0(%q: tensor<i1>):
      "tgn.yield"(%x) : (tensor<2xf32>) -> ()
    }, {
      "tgn.yield"(%x) : (tensor<2xf32>) -> ()
    }) : (tensor<i1>) -> tensor<2xf32>
    "tgn.return"(%y) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// error: if_c2: the branches yield f32[2] and bool[]
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = [], result_names = []}> ({
  ^bb0(%p: tensor<i1>, %x: tensor<2xf32>):
    %y = "tgn.if"(%p) ({
      "tgn.yield"(%x) : (tensor<2xf32>) -> ()
    }, {
      "tgn.yield"(%p) : (tensor<i1>) -> ()
    }) : (tensor<i1>) -> tensor<2xf32>
    "tgn.return"(%y) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// error: if_c2: the branches yield 1 and 2 values
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = [], result_names = []}> ({
  ^bb0(%p: tensor<i1>, %x: tensor<2xf32>):
    %y = "tgn.if"(%p) ({
      "tgn.yield"(%x) : (tensor<2xf32>) -> ()
    }, {
      "tgn.yield"(%x, %p) : (tensor<2xf32>, tensor<i1>) -> ()
    }) : (tensor<i1>) -> tensor<2xf32>
    "tgn.return"(%y) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// error: if_c3: `k` is bound inside, so f32[k] cannot leave
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = [], result_names = []}> ({
  ^bb0(%p: tensor<i1>, %x: tensor<2xf32>):
    %y = "tgn.if"(%p) ({
      %n = "tgn.splat"() <{dtype = "i64", shape = [], bits = 1}> : () -> tensor<i64>
      "tgn.bind"(%n) <{symbol = "k"}> : (tensor<i64>) -> ()
      %c = "tgn.slice"(%x) <{starts = [0], sizes = ["k"], steps = [1]}> : (tensor<2xf32>) -> tensor<?xf32, {dims = ["k"]}>
      "tgn.yield"(%c) : (tensor<?xf32, {dims = ["k"]}>) -> ()
    }, {
      %n = "tgn.splat"() <{dtype = "i64", shape = [], bits = 1}> : () -> tensor<i64>
      "tgn.bind"(%n) <{symbol = "k"}> : (tensor<i64>) -> ()
      %c = "tgn.slice"(%x) <{starts = [0], sizes = ["k"], steps = [1]}> : (tensor<2xf32>) -> tensor<?xf32, {dims = ["k"]}>
      "tgn.yield"(%c) : (tensor<?xf32, {dims = ["k"]}>) -> ()
    }) : (tensor<i1>) -> tensor<?xf32, {dims = ["k"]}>
    "tgn.return"(%y) : (tensor<?xf32, {dims = ["k"]}>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// error: loop_c1: 1 values are carried and 0 stacked, the region takes 2 and yields 1
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = [], result_names = []}> ({
  ^bb0(%p: tensor<i1>, %x: tensor<2xf32>):
    %n, %y = "tgn.loop"(%p, %x) <{trip = 3, stacked = 0}> ({
    ^bb0(%i: tensor<i64>, %z: tensor<2xf32>):
      "tgn.yield"(%p) : (tensor<i1>) -> ()
    }) : (tensor<i1>, tensor<2xf32>) -> (tensor<i64>, tensor<2xf32>)
    "tgn.return"(%y) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// error: loop_c2: carried value 0 starts as f32[2], enters as f32[2] and is yielded as bool[]
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = [], result_names = []}> ({
  ^bb0(%p: tensor<i1>, %x: tensor<2xf32>):
    %n, %y = "tgn.loop"(%p, %x) <{trip = 3, stacked = 0}> ({
    ^bb0(%i: tensor<i64>, %z: tensor<2xf32>):
      "tgn.yield"(%p, %p) : (tensor<i1>, tensor<i1>) -> ()
    }) : (tensor<i1>, tensor<2xf32>) -> (tensor<i64>, tensor<2xf32>)
    "tgn.return"(%y) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// error: loop_c0: the iteration must be i64[], got i32[]
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = [], result_names = []}> ({
  ^bb0(%p: tensor<i1>, %x: tensor<2xf32>):
    %n, %y = "tgn.loop"(%p, %x) <{trip = 3, stacked = 0}> ({
    ^bb0(%i: tensor<i32>, %z: tensor<2xf32>):
      "tgn.yield"(%p, %z) : (tensor<i1>, tensor<2xf32>) -> ()
    }) : (tensor<i1>, tensor<2xf32>) -> (tensor<i64>, tensor<2xf32>)
    "tgn.return"(%y) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// error: loop_c3: `k` is bound inside, so f32[k] cannot leave
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = [], result_names = []}> ({
  ^bb0(%p: tensor<i1>, %x: tensor<2xf32>):
    %n, %s = "tgn.loop"(%p) <{trip = 3, stacked = 1}> ({
    ^bb0(%i: tensor<i64>):
      "tgn.bind"(%i) <{symbol = "k"}> : (tensor<i64>) -> ()
      %c = "tgn.slice"(%x) <{starts = [0], sizes = ["k"], steps = [1]}> : (tensor<2xf32>) -> tensor<?xf32, {dims = ["k"]}>
      "tgn.yield"(%p, %c) : (tensor<i1>, tensor<?xf32, {dims = ["k"]}>) -> ()
    }) : (tensor<i1>) -> (tensor<i64>, tensor<3x?xf32, {dims = ["k"]}>)
    "tgn.return"(%x) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// error: yield_c1: ends a region, not the function
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = [], result_names = []}> ({
  ^bb0(%p: tensor<i1>, %x: tensor<2xf32>):
    "tgn.yield"(%x) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// error: return_c1: ends the function, not a region
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = [], result_names = []}> ({
  ^bb0(%p: tensor<i1>, %x: tensor<2xf32>):
    %y = "tgn.if"(%p) ({
      "tgn.yield"(%x) : (tensor<2xf32>) -> ()
    }, {
      "tgn.return"(%x) : (tensor<2xf32>) -> ()
    }) : (tensor<i1>) -> tensor<2xf32>
    "tgn.return"(%y) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// error: kernel_c1: operand f32[2] for the argument bool[]
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = [], result_names = []}> ({
  ^bb0(%p: tensor<i1>, %x: tensor<2xf32>):
    %y = "tgn.kernel"(%x) <{class = "map"}> ({
    ^bb0(%a: tensor<i1>):
      "tgn.yield"(%a) : (tensor<i1>) -> ()
    }) : (tensor<2xf32>) -> tensor<i1>
    "tgn.return"(%y) : (tensor<i1>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// error: %1 is from outside of a region that may not capture values
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = [], result_names = []}> ({
  ^bb0(%p: tensor<i1>, %x: tensor<2xf32>):
    %y = "tgn.kernel"(%x) <{class = "map"}> ({
    ^bb0(%a: tensor<2xf32>):
      "tgn.yield"(%x) : (tensor<2xf32>) -> ()
    }) : (tensor<2xf32>) -> tensor<2xf32>
    "tgn.return"(%y) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// error: size `k` is used before it is known
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = [], result_names = []}> ({
  ^bb0(%p: tensor<i1>, %x: tensor<2xf32>):
    %c = "tgn.slice"(%x) <{starts = [0], sizes = ["k"], steps = [1]}> : (tensor<2xf32>) -> tensor<?xf32, {dims = ["k"]}>
    "tgn.return"(%x) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// error: size `k` is bound, but not declared as data with a bound
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = [], result_names = []}> ({
  ^bb0(%n: tensor<i64>):
    "tgn.bind"(%n) <{symbol = "k"}> : (tensor<i64>) -> ()
    "tgn.return"(%n) : (tensor<i64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// error: constant_c1: i32[1] is declared, the store has f32[1]
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = [], result_names = []}> ({
  ^bb0:
    %c = "tgn.constant"() <{id = dense_resource<w> : tensor<1xf32>, dtype = "i32", shape = [1]}> : () -> tensor<1xi32>
    "tgn.return"(%c) : (tensor<1xi32>) -> ()
  }) : () -> ()
}) : () -> ()
{-#
  dialect_resources: { builtin: { w: "0x400000000000803F" } }
#-}
// -----
// error: transpose_c2: no buffer is both f32[2,3,5] and, transposed by [0, 2, 1], f32[2,5,3]
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = [], result_names = []}> ({
  ^bb0(%x: tensor<2x3x5xf32>):
    %y = "tgn.transpose"(%x) <{perm = [0, 2, 1]}> : (tensor<2x3x5xf32>) -> tensor<2x5x3xf32, {layout = ["1", "2", "0"]}>
    "tgn.return"(%y) : (tensor<2x5x3xf32, {layout = ["1", "2", "0"]}>) -> ()
  }) : () -> ()
}) : () -> ()
