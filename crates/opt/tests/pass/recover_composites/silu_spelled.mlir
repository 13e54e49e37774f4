// Swish without its sigmoid.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Div_5"]}> ({
  ^bb0(%0: tensor<?x5xf32, {dims = ["b"]}>):
    %1 = "tgn.elementwise"(%0) <{f = "neg"}> : (tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Neg_1")
    %2 = "tgn.elementwise"(%1) <{f = "exp"}> : (tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Exp_2")
    %3 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1065353216}> : () -> tensor<1x1xf32> loc("Add_3")
    %4 = "tgn.elementwise"(%3, %2) <{f = "add"}> : (tensor<1x1xf32>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Add_3")
    %5 = "tgn.elementwise"(%0, %4) <{f = "div"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Div_5")
    "tgn.return"(%5) : (tensor<?x5xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()
// -----
// Div_5: x / (1 + exp(-x)) => x * sigmoid(x)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Div_5"]}> ({
  ^bb0(%0: tensor<?x5xf32, {dims = ["b"]}>):
    %6 = "tgn.elementwise"(%0) <{f = "sigmoid"}> : (tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Div_5")
    %7 = "tgn.elementwise"(%0, %6) <{f = "mul"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc(fused["Div_5", "Neg_1", "Exp_2", "Add_3"])
    "tgn.return"(%7) : (tensor<?x5xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()
