// The greatest and the least of a product's rows are one kernel, which reads it once.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y", "most", "least"]}> ({
  ^bb0(%x: tensor<?x4xf32, {dims = ["n"]}>, %w: tensor<4x8xf32>):
    %y = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<4x8xf32>) -> tensor<?x8xf32, {dims = ["n"]}> loc("y")
    %most = "tgn.reduce"(%y) <{f = "max", axes = [1]}> : (tensor<?x8xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("most")
    %least = "tgn.reduce"(%y) <{f = "min", axes = [1]}> : (tensor<?x8xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("least")
    "tgn.return"(%y, %most, %least) : (tensor<?x8xf32, {dims = ["n"]}>, tensor<?x1xf32, {dims = ["n"]}>, tensor<?x1xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
// -----
// least: fused reduce min into reduce max "most"
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y", "most", "least"]}> ({
  ^bb0(%0: tensor<?x4xf32, {dims = ["n"]}>, %1: tensor<4x8xf32>):
    %5 = "tgn.kernel"(%0, %1) <{class = "dot"}> ({
    ^bb0(%6: tensor<?x4xf32, {dims = ["n"]}>, %7: tensor<4x8xf32>):
      %2 = "tgn.dot"(%6, %7) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["n"]}>, tensor<4x8xf32>) -> tensor<?x8xf32, {dims = ["n"]}> loc("y")
      "tgn.yield"(%2) : (tensor<?x8xf32, {dims = ["n"]}>) -> ()
    }) : (tensor<?x4xf32, {dims = ["n"]}>, tensor<4x8xf32>) -> tensor<?x8xf32, {dims = ["n"]}> loc("y")
    %8, %9 = "tgn.kernel"(%5) <{class = "rows"}> ({
    ^bb0(%10: tensor<?x8xf32, {dims = ["n"]}>):
      %3 = "tgn.reduce"(%10) <{f = "max", axes = [1]}> : (tensor<?x8xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("most")
      %4 = "tgn.reduce"(%10) <{f = "min", axes = [1]}> : (tensor<?x8xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("least")
      "tgn.yield"(%3, %4) : (tensor<?x1xf32, {dims = ["n"]}>, tensor<?x1xf32, {dims = ["n"]}>) -> ()
    }) : (tensor<?x8xf32, {dims = ["n"]}>) -> (tensor<?x1xf32, {dims = ["n"]}>, tensor<?x1xf32, {dims = ["n"]}>) loc(fused["most", "least"])
    "tgn.return"(%5, %8, %9) : (tensor<?x8xf32, {dims = ["n"]}>, tensor<?x1xf32, {dims = ["n"]}>, tensor<?x1xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
