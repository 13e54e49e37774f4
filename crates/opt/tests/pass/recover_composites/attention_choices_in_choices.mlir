// A finite number stands in the place of scores that are masked before: their masks do not add up.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v", "c", "c2"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<1x2x4x8xf32>, %1: tensor<1x2x8x4xf32>, %2: tensor<1x2x4x8xf32>, %3: tensor<1x1x4x4xi1>, %4: tensor<1x1x1x4xi1>):
    %7 = "tgn.dot"(%0, %1) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<1x2x4x8xf32>, tensor<1x2x8x4xf32>) -> tensor<1x2x4x4xf32> loc("s")
    %16 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 4076629884}> : () -> tensor<1x1x1x1xf32> loc("s2")
    %9 = "tgn.elementwise"(%3, %7, %16) <{f = "select"}> : (tensor<1x1x4x4xi1>, tensor<1x2x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x2x4x4xf32> loc("s2")
    %11 = "tgn.elementwise"(%4, %9, %16) <{f = "select"}> : (tensor<1x1x1x4xi1>, tensor<1x2x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x2x4x4xf32> loc("s3")
    %12 = "tgn.softmax"(%11) <{axis = 3, log = false}> : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> loc("w")
    %13 = "tgn.dot"(%12, %2) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<1x2x4x4xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32> loc("y")
    "tgn.return"(%13) : (tensor<1x2x4x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// unchanged
// y: no attention: a number stands in the place of scores that are masked before
