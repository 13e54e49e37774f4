// The sum joins the later contraction, not the earlier one that feeds it.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["s"]}> ({
  ^bb0(%x: tensor<?x4xf32, {dims = ["m"]}>, %w: tensor<4x4xf32>):
    %y = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["m"]}>, tensor<4x4xf32>) -> tensor<?x4xf32, {dims = ["m"]}> loc("y")
    %z = "tgn.dot"(%y, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["m"]}>, tensor<4x4xf32>) -> tensor<?x4xf32, {dims = ["m"]}> loc("z")
    %s = "tgn.elementwise"(%y, %z) <{f = "add"}> : (tensor<?x4xf32, {dims = ["m"]}>, tensor<?x4xf32, {dims = ["m"]}>) -> tensor<?x4xf32, {dims = ["m"]}> loc("s")
    "tgn.return"(%s) : (tensor<?x4xf32, {dims = ["m"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {m = {axis = 0, input = 0}}} : () -> ()
// -----
// s: fused add into dot "z"
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["s"]}> ({
  ^bb0(%0: tensor<?x4xf32, {dims = ["m"]}>, %1: tensor<4x4xf32>):
    %5 = "tgn.kernel"(%0, %1) <{class = "dot"}> ({
    ^bb0(%6: tensor<?x4xf32, {dims = ["m"]}>, %7: tensor<4x4xf32>):
      %2 = "tgn.dot"(%6, %7) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["m"]}>, tensor<4x4xf32>) -> tensor<?x4xf32, {dims = ["m"]}> loc("y")
      "tgn.yield"(%2) : (tensor<?x4xf32, {dims = ["m"]}>) -> ()
    }) : (tensor<?x4xf32, {dims = ["m"]}>, tensor<4x4xf32>) -> tensor<?x4xf32, {dims = ["m"]}> loc("y")
    %8 = "tgn.kernel"(%5, %1) <{class = "dot"}> ({
    ^bb0(%9: tensor<?x4xf32, {dims = ["m"]}>, %10: tensor<4x4xf32>):
      %3 = "tgn.dot"(%9, %10) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["m"]}>, tensor<4x4xf32>) -> tensor<?x4xf32, {dims = ["m"]}> loc("z")
      %4 = "tgn.elementwise"(%9, %3) <{f = "add"}> : (tensor<?x4xf32, {dims = ["m"]}>, tensor<?x4xf32, {dims = ["m"]}>) -> tensor<?x4xf32, {dims = ["m"]}> loc("s")
      "tgn.yield"(%4) : (tensor<?x4xf32, {dims = ["m"]}>) -> ()
    }) : (tensor<?x4xf32, {dims = ["m"]}>, tensor<4x4xf32>) -> tensor<?x4xf32, {dims = ["m"]}> loc(fused["z", "s"])
    "tgn.return"(%8) : (tensor<?x4xf32, {dims = ["m"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {m = {input = 0, axis = 0}}} : () -> ()
