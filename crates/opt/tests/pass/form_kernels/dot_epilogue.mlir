// A bias, an activation and a residual of the same shape join the dot.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w", "b", "r"], result_names = ["s"]}> ({
  ^bb0(%x: tensor<?x4xf32, {dims = ["m"]}>, %w: tensor<4x8xf32>, %b: tensor<1x8xf32>, %r: tensor<?x8xf32, {dims = ["m"]}>):
    %zero = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 0}> : () -> tensor<1x1xf32>
    %y = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["m"]}>, tensor<4x8xf32>) -> tensor<?x8xf32, {dims = ["m"]}> loc("y")
    %z = "tgn.elementwise"(%y, %b) <{f = "add"}> : (tensor<?x8xf32, {dims = ["m"]}>, tensor<1x8xf32>) -> tensor<?x8xf32, {dims = ["m"]}> loc("z")
    %a = "tgn.elementwise"(%z, %zero) <{f = "max"}> : (tensor<?x8xf32, {dims = ["m"]}>, tensor<1x1xf32>) -> tensor<?x8xf32, {dims = ["m"]}> loc("a")
    %s = "tgn.elementwise"(%a, %r) <{f = "add"}> : (tensor<?x8xf32, {dims = ["m"]}>, tensor<?x8xf32, {dims = ["m"]}>) -> tensor<?x8xf32, {dims = ["m"]}> loc("s")
    "tgn.return"(%s) : (tensor<?x8xf32, {dims = ["m"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {m = {axis = 0, input = 0}}} : () -> ()
// -----
// z: fused add into dot "y"
// a: fused max into dot "y"
// s: fused add into dot "y"
// fused splat into dot "y"
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w", "b", "r"], result_names = ["s"]}> ({
  ^bb0(%0: tensor<?x4xf32, {dims = ["m"]}>, %1: tensor<4x8xf32>, %2: tensor<1x8xf32>, %3: tensor<?x8xf32, {dims = ["m"]}>):
    %9 = "tgn.kernel"(%0, %1, %2, %3) <{class = "dot"}> ({
    ^bb0(%10: tensor<?x4xf32, {dims = ["m"]}>, %11: tensor<4x8xf32>, %12: tensor<1x8xf32>, %13: tensor<?x8xf32, {dims = ["m"]}>):
      %4 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 0}> : () -> tensor<1x1xf32>
      %5 = "tgn.dot"(%10, %11) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<?x4xf32, {dims = ["m"]}>, tensor<4x8xf32>) -> tensor<?x8xf32, {dims = ["m"]}> loc("y")
      %6 = "tgn.elementwise"(%5, %12) <{f = "add"}> : (tensor<?x8xf32, {dims = ["m"]}>, tensor<1x8xf32>) -> tensor<?x8xf32, {dims = ["m"]}> loc("z")
      %7 = "tgn.elementwise"(%6, %4) <{f = "max"}> : (tensor<?x8xf32, {dims = ["m"]}>, tensor<1x1xf32>) -> tensor<?x8xf32, {dims = ["m"]}> loc("a")
      %8 = "tgn.elementwise"(%7, %13) <{f = "add"}> : (tensor<?x8xf32, {dims = ["m"]}>, tensor<?x8xf32, {dims = ["m"]}>) -> tensor<?x8xf32, {dims = ["m"]}> loc("s")
      "tgn.yield"(%8) : (tensor<?x8xf32, {dims = ["m"]}>) -> ()
    }) : (tensor<?x4xf32, {dims = ["m"]}>, tensor<4x8xf32>, tensor<1x8xf32>, tensor<?x8xf32, {dims = ["m"]}>) -> tensor<?x8xf32, {dims = ["m"]}> loc(fused["y", "z", "a", "s"])
    "tgn.return"(%9) : (tensor<?x8xf32, {dims = ["m"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {m = {input = 0, axis = 0}}} : () -> ()
