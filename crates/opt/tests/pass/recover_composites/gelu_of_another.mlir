// Near: what is gated is not what gates.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "z"], result_names = ["Mul_7"]}> ({
  ^bb0(%0: tensor<?x5xf32, {dims = ["b"]}>, %1: tensor<?x5xf32, {dims = ["b"]}>):
    %2 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1068827891}> : () -> tensor<1x1xf32> loc("Div_1")
    %3 = "tgn.elementwise"(%0, %2) <{f = "div"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<1x1xf32>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Div_1")
    %4 = "tgn.elementwise"(%3) <{f = "erf"}> : (tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Erf_3")
    %5 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1065353216}> : () -> tensor<1x1xf32> loc("Add_4")
    %6 = "tgn.elementwise"(%4, %5) <{f = "add"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<1x1xf32>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Add_4")
    %7 = "tgn.elementwise"(%1, %6) <{f = "mul"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Mul_6")
    %8 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1056964608}> : () -> tensor<1x1xf32> loc("Mul_7")
    %9 = "tgn.elementwise"(%7, %8) <{f = "mul"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<1x1xf32>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Mul_7")
    "tgn.return"(%9) : (tensor<?x5xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()
// -----
// unchanged
