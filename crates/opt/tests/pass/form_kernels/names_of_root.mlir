// A kernel is named by its root first; the shared zero, which bears the name of the first activation, gives none.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["b", "d"]}> ({
  ^bb0(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>):
    %zero = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 0}> : () -> tensor<1x1xf32> loc("first relu")
    %n = "tgn.elementwise"(%x) <{f = "neg"}> : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("negated")
    %a = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc(fused["first product", "scale"])
    %b = "tgn.elementwise"(%a, %zero) <{f = "max"}> : (tensor<4x4xf32>, tensor<1x1xf32>) -> tensor<4x4xf32> loc("first relu")
    %c = "tgn.dot"(%b, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("second product")
    %s = "tgn.elementwise"(%c, %n) <{f = "add"}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("sum")
    %d = "tgn.elementwise"(%s, %zero) <{f = "max"}> : (tensor<4x4xf32>, tensor<1x1xf32>) -> tensor<4x4xf32> loc("second relu")
    "tgn.return"(%b, %d) : (tensor<4x4xf32>, tensor<4x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// first relu: fused max into dot "first product"
// sum: fused add into dot "second product"
// second relu: fused max into dot "second product"
// negated: fused neg into dot "second product"
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["b", "d"]}> ({
  ^bb0(%0: tensor<4x4xf32>, %1: tensor<4x4xf32>):
    %9 = "tgn.kernel"(%0, %1) <{class = "dot"}> ({
    ^bb0(%10: tensor<4x4xf32>, %11: tensor<4x4xf32>):
      %12 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 0}> : () -> tensor<1x1xf32> loc("first relu")
      %4 = "tgn.dot"(%10, %11) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc(fused["first product", "scale"])
      %5 = "tgn.elementwise"(%4, %12) <{f = "max"}> : (tensor<4x4xf32>, tensor<1x1xf32>) -> tensor<4x4xf32> loc("first relu")
      "tgn.yield"(%5) : (tensor<4x4xf32>) -> ()
    }) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc(fused["first product", "scale", "first relu"])
    %13 = "tgn.kernel"(%0, %9, %1) <{class = "dot"}> ({
    ^bb0(%14: tensor<4x4xf32>, %15: tensor<4x4xf32>, %16: tensor<4x4xf32>):
      %17 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 0}> : () -> tensor<1x1xf32> loc("first relu")
      %3 = "tgn.elementwise"(%14) <{f = "neg"}> : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("negated")
      %6 = "tgn.dot"(%15, %16) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("second product")
      %7 = "tgn.elementwise"(%6, %3) <{f = "add"}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc("sum")
      %8 = "tgn.elementwise"(%7, %17) <{f = "max"}> : (tensor<4x4xf32>, tensor<1x1xf32>) -> tensor<4x4xf32> loc("second relu")
      "tgn.yield"(%8) : (tensor<4x4xf32>) -> ()
    }) : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> loc(fused["second product", "negated", "sum", "second relu"])
    "tgn.return"(%9, %13) : (tensor<4x4xf32>, tensor<4x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
