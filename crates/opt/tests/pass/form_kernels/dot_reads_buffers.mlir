// A contraction reads buffers: what comes before it is a kernel of its own.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<?x4xf32, {dims = ["m"]}>, %w: tensor<4x8xf32>):
    %e = "tgn.elementwise"(%x) <{f = "exp"}> : (tensor<?x4xf32, {dims = ["m"]}>) -> tensor<?x4xf32, {dims = ["m"]}> loc("e")
    %y = "tgn.dot"(%e, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["m"]}>, tensor<4x8xf32>) -> tensor<?x8xf32, {dims = ["m"]}> loc("y")
    "tgn.return"(%y) : (tensor<?x8xf32, {dims = ["m"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {m = {axis = 0, input = 0}}} : () -> ()
// -----
// e: not fused into dot "y": `dot` reads buffers
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<?x4xf32, {dims = ["m"]}>, %1: tensor<4x8xf32>):
    %4 = "tgn.kernel"(%0) <{class = "map"}> ({
    ^bb0(%5: tensor<?x4xf32, {dims = ["m"]}>):
      %2 = "tgn.elementwise"(%5) <{f = "exp"}> : (tensor<?x4xf32, {dims = ["m"]}>) -> tensor<?x4xf32, {dims = ["m"]}> loc("e")
      "tgn.yield"(%2) : (tensor<?x4xf32, {dims = ["m"]}>) -> ()
    }) : (tensor<?x4xf32, {dims = ["m"]}>) -> tensor<?x4xf32, {dims = ["m"]}> loc("e")
    %6 = "tgn.kernel"(%4, %1) <{class = "dot"}> ({
    ^bb0(%7: tensor<?x4xf32, {dims = ["m"]}>, %8: tensor<4x8xf32>):
      %3 = "tgn.dot"(%7, %8) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["m"]}>, tensor<4x8xf32>) -> tensor<?x8xf32, {dims = ["m"]}> loc("y")
      "tgn.yield"(%3) : (tensor<?x8xf32, {dims = ["m"]}>) -> ()
    }) : (tensor<?x4xf32, {dims = ["m"]}>, tensor<4x8xf32>) -> tensor<?x8xf32, {dims = ["m"]}> loc("y")
    "tgn.return"(%6) : (tensor<?x8xf32, {dims = ["m"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {m = {input = 0, axis = 0}}} : () -> ()
