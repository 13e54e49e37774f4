// Short rows, several columns, rows that lie across and integers stay products.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["short", "few", "x", "two", "w", "bytes", "b"], result_names = ["p", "q", "r", "s"]}> ({
  ^bb0(%short: tensor<9x8xf32>, %few: tensor<8x1xf32>, %x: tensor<64x64xf32>, %two: tensor<64x2xf32>, %w: tensor<64x1xf32>, %bytes: tensor<9x64xi8>, %b: tensor<64x1xi8>):
    %p = "tgn.dot"(%short, %few) <{dims = {lhs_batch = [], lhs_contract = [1], rhs_batch = [], rhs_contract = [0]}, out = "f32"}> : (tensor<9x8xf32>, tensor<8x1xf32>) -> tensor<9x1xf32> loc("p")
    %q = "tgn.dot"(%x, %two) <{dims = {lhs_batch = [], lhs_contract = [1], rhs_batch = [], rhs_contract = [0]}, out = "f32"}> : (tensor<64x64xf32>, tensor<64x2xf32>) -> tensor<64x2xf32> loc("q")
    %across = "tgn.transpose"(%x) <{perm = [1, 0]}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %r = "tgn.dot"(%across, %w) <{dims = {lhs_batch = [], lhs_contract = [1], rhs_batch = [], rhs_contract = [0]}, out = "f32"}> : (tensor<64x64xf32>, tensor<64x1xf32>) -> tensor<64x1xf32> loc("r")
    %s = "tgn.dot"(%bytes, %b) <{dims = {lhs_batch = [], lhs_contract = [1], rhs_batch = [], rhs_contract = [0]}, out = "i32"}> : (tensor<9x64xi8>, tensor<64x1xi8>) -> tensor<9x1xi32> loc("s")
    "tgn.return"(%p, %q, %r, %s) : (tensor<9x1xf32>, tensor<64x2xf32>, tensor<64x1xf32>, tensor<9x1xi32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// unchanged
