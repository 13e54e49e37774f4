// Near: one sum of all rows.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Div_4"]}> ({
  ^bb0(%0: tensor<?x5xf32, {dims = ["b"]}>):
    %2 = "tgn.elementwise"(%0) <{f = "exp"}> : (tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Exp_1")
    %3 = "tgn.reduce"(%2) <{f = "add", axes = [0, 1]}> : (tensor<?x5xf32, {dims = ["b"]}>) -> tensor<1x1xf32> loc("ReduceSum_3")
    %4 = "tgn.elementwise"(%2, %3) <{f = "div"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<1x1xf32>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Div_4")
    "tgn.return"(%4) : (tensor<?x5xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()
// -----
// unchanged
