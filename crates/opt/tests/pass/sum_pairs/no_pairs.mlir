// Too many steps would be added, a few columns would not pay for the copied row, signed rows have no such products: unchanged.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "s", "w"], result_names = ["p", "q", "r"]}> ({
  ^bb0(%x: tensor<5x4xui8>, %s: tensor<5x4xi8>, %w: tensor<4x4xi8>):
    %v = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x4xi8>, dtype = "i8", shape = [4, 4]}> : () -> tensor<4x4xi8>
    %p = "tgn.dot"(%x, %v) <{dims = {lhs_batch = [], lhs_contract = [1], rhs_batch = [], rhs_contract = [0]}, out = "i32"}> : (tensor<5x4xui8>, tensor<4x4xi8>) -> tensor<5x4xi32> loc("p")
    %q = "tgn.dot"(%s, %v) <{dims = {lhs_batch = [], lhs_contract = [1], rhs_batch = [], rhs_contract = [0]}, out = "i32"}> : (tensor<5x4xi8>, tensor<4x4xi8>) -> tensor<5x4xi32> loc("q")
    %r = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [], lhs_contract = [1], rhs_batch = [], rhs_contract = [0]}, out = "i32"}> : (tensor<5x4xui8>, tensor<4x4xi8>) -> tensor<5x4xi32> loc("r")
    "tgn.return"(%p, %q, %r) : (tensor<5x4xi32>, tensor<5x4xi32>, tensor<5x4xi32>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x010000007F7F7F7F7F7F7F7F7F7F7F7F7F7F7F7F"
    }
  }
#-}
// -----
// unchanged
