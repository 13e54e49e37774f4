// The contraction gives bytes alone: the second kernel makes their numbers again, with the cast, the difference and the
// product that the first would have done.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w", "v"], result_names = ["r"]}> ({
  ^bb0(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>):
    %z = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1077936128}> : () -> tensor<1x1xf32>
    %s = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1056964608}> : () -> tensor<1x1xf32>
    %y = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %b = "tgn.elementwise"(%y) <{f = "cast:u8"}> : (tensor<4x8xf32>) -> tensor<4x8xui8>
    %f = "tgn.elementwise"(%b) <{f = "cast:f32"}> : (tensor<4x8xui8>) -> tensor<4x8xf32>
    %d = "tgn.elementwise"(%f, %z) <{f = "sub"}> : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
    %n = "tgn.elementwise"(%d, %s) <{f = "mul"}> : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
    %u = "tgn.dot"(%y, %v) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %r = "tgn.elementwise"(%u, %n) <{f = "add"}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    "tgn.return"(%r) : (tensor<4x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// fused cast:u8 into dot
// fused cast:f32 into dot
// fused sub into dot
// fused mul into dot
// fused add into dot
// computed again in dot: what it is made of is narrower
// fused splat into dot
// fused splat into dot
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w", "v"], result_names = ["r"]}> ({
  ^bb0(%0: tensor<4x8xf32>, %1: tensor<8x8xf32>, %2: tensor<8x8xf32>):
    %12, %13 = "tgn.kernel"(%0, %1) <{class = "dot"}> ({
    ^bb0(%14: tensor<4x8xf32>, %15: tensor<8x8xf32>):
      %5 = "tgn.dot"(%14, %15) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      %6 = "tgn.elementwise"(%5) <{f = "cast:u8"}> : (tensor<4x8xf32>) -> tensor<4x8xui8>
      "tgn.yield"(%5, %6) : (tensor<4x8xf32>, tensor<4x8xui8>) -> ()
    }) : (tensor<4x8xf32>, tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xui8>)
    %16 = "tgn.kernel"(%13, %12, %2) <{class = "dot"}> ({
    ^bb0(%17: tensor<4x8xui8>, %18: tensor<4x8xf32>, %19: tensor<8x8xf32>):
      %3 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1077936128}> : () -> tensor<1x1xf32>
      %4 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1056964608}> : () -> tensor<1x1xf32>
      %20 = "tgn.elementwise"(%17) <{f = "cast:f32"}> : (tensor<4x8xui8>) -> tensor<4x8xf32>
      %21 = "tgn.elementwise"(%20, %3) <{f = "sub"}> : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
      %22 = "tgn.elementwise"(%21, %4) <{f = "mul"}> : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
      %10 = "tgn.dot"(%18, %19) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
      %11 = "tgn.elementwise"(%10, %22) <{f = "add"}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
      "tgn.yield"(%11) : (tensor<4x8xf32>) -> ()
    }) : (tensor<4x8xui8>, tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    "tgn.return"(%16) : (tensor<4x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
