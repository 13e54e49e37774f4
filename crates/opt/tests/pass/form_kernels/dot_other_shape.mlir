// What has another shape than the dot does not join it: a broadcast after it is a kernel of its own.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w", "r"], result_names = ["s"]}> ({
  ^bb0(%x: tensor<1x4xf32>, %w: tensor<4x8xf32>, %r: tensor<6x8xf32>):
    %y = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<1x4xf32>, tensor<4x8xf32>) -> tensor<1x8xf32> loc("y")
    %s = "tgn.elementwise"(%y, %r) <{f = "add"}> : (tensor<1x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32> loc("s")
    "tgn.return"(%s) : (tensor<6x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// s: not fused into dot "y": its shape is [1,8], not [6,8]
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w", "r"], result_names = ["s"]}> ({
  ^bb0(%0: tensor<1x4xf32>, %1: tensor<4x8xf32>, %2: tensor<6x8xf32>):
    %5 = "tgn.kernel"(%0, %1) <{class = "dot"}> ({
    ^bb0(%6: tensor<1x4xf32>, %7: tensor<4x8xf32>):
      %3 = "tgn.dot"(%6, %7) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<1x4xf32>, tensor<4x8xf32>) -> tensor<1x8xf32> loc("y")
      "tgn.yield"(%3) : (tensor<1x8xf32>) -> ()
    }) : (tensor<1x4xf32>, tensor<4x8xf32>) -> tensor<1x8xf32> loc("y")
    %8 = "tgn.kernel"(%5, %2) <{class = "map"}> ({
    ^bb0(%9: tensor<1x8xf32>, %10: tensor<6x8xf32>):
      %4 = "tgn.elementwise"(%9, %10) <{f = "add"}> : (tensor<1x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32> loc("s")
      "tgn.yield"(%4) : (tensor<6x8xf32>) -> ()
    }) : (tensor<1x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32> loc("s")
    "tgn.return"(%8) : (tensor<6x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
