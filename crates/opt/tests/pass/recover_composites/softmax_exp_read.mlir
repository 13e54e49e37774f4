// Near: the exponentials are a result, too.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Div_6", "Exp_3"]}> ({
  ^bb0(%0: tensor<?x5xf32, {dims = ["b"]}>):
    %2 = "tgn.reduce"(%0) <{f = "max", axes = [1]}> : (tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x1xf32, {dims = ["b"]}> loc("ReduceMax_1")
    %3 = "tgn.elementwise"(%0, %2) <{f = "sub"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<?x1xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Sub_2")
    %4 = "tgn.elementwise"(%3) <{f = "exp"}> : (tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Exp_3")
    %5 = "tgn.reduce"(%4) <{f = "add", axes = [1]}> : (tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x1xf32, {dims = ["b"]}> loc("ReduceSum_5")
    %6 = "tgn.elementwise"(%4, %5) <{f = "div"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<?x1xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Div_6")
    "tgn.return"(%6, %4) : (tensor<?x5xf32, {dims = ["b"]}>, tensor<?x5xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()
// -----
// unchanged
// Div_6: no softmax: what it is made of is read elsewhere, too
