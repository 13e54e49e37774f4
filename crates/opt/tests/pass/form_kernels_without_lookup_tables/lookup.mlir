// A lookup in a constant table is a kernel of its own where the target reads no lookup tables in others.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>):
    %t = "tgn.constant"() <{id = dense_resource<const0> : tensor<4xi32>, dtype = "i32", shape = [4]}> : () -> tensor<4xi32>
    %d = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %i = "tgn.elementwise"(%d) <{f = "cast:i32"}> : (tensor<4x8xf32>) -> tensor<4x8xi32>
    %y = "tgn.gather"(%t, %i) <{axis = 0}> : (tensor<4xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
    "tgn.return"(%y) : (tensor<4x8xi32>) -> ()
  }) : () -> ()
}) : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x4000000001000000FFFFFFFF0700000002000000" } }
#-}
// -----
// fused cast:i32 into dot
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<4x8xf32>, %1: tensor<8x8xf32>):
    %2 = "tgn.constant"() <{id = dense_resource<const0> : tensor<4xi32>, dtype = "i32", shape = [4]}> : () -> tensor<4xi32>
    %6 = "tgn.kernel"(%0, %1) <{class = "dot"}> ({
    ^bb0(%7: tensor<4x8xf32>, %8: tensor<8x8xf32>):
      %3 = "tgn.dot"(%7, %8) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      %4 = "tgn.elementwise"(%3) <{f = "cast:i32"}> : (tensor<4x8xf32>) -> tensor<4x8xi32>
      "tgn.yield"(%4) : (tensor<4x8xi32>) -> ()
    }) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xi32>
    %9 = "tgn.kernel"(%2, %6) <{class = "map"}> ({
    ^bb0(%10: tensor<4xi32>, %11: tensor<4x8xi32>):
      %5 = "tgn.gather"(%10, %11) <{axis = 0}> : (tensor<4xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
      "tgn.yield"(%5) : (tensor<4x8xi32>) -> ()
    }) : (tensor<4xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
    "tgn.return"(%9) : (tensor<4x8xi32>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x4000000001000000FFFFFFFF0700000002000000"
    }
  }
#-}
