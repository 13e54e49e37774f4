// jax and paddle: maximum, exponential, sum, quotient.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Div_6"]}> ({
  ^bb0(%0: tensor<?x5x?xf32, {dims = ["b", "s"]}>):
    %2 = "tgn.reduce"(%0) <{f = "max", axes = [1]}> : (tensor<?x5x?xf32, {dims = ["b", "s"]}>) -> tensor<?x1x?xf32, {dims = ["b", "s"]}> loc("ReduceMax_1")
    %3 = "tgn.elementwise"(%0, %2) <{f = "sub"}> : (tensor<?x5x?xf32, {dims = ["b", "s"]}>, tensor<?x1x?xf32, {dims = ["b", "s"]}>) -> tensor<?x5x?xf32, {dims = ["b", "s"]}> loc("Sub_2")
    %4 = "tgn.elementwise"(%3) <{f = "exp"}> : (tensor<?x5x?xf32, {dims = ["b", "s"]}>) -> tensor<?x5x?xf32, {dims = ["b", "s"]}> loc("Exp_3")
    %5 = "tgn.reduce"(%4) <{f = "add", axes = [1]}> : (tensor<?x5x?xf32, {dims = ["b", "s"]}>) -> tensor<?x1x?xf32, {dims = ["b", "s"]}> loc("ReduceSum_5")
    %6 = "tgn.elementwise"(%4, %5) <{f = "div"}> : (tensor<?x5x?xf32, {dims = ["b", "s"]}>, tensor<?x1x?xf32, {dims = ["b", "s"]}>) -> tensor<?x5x?xf32, {dims = ["b", "s"]}> loc("Div_6")
    "tgn.return"(%6) : (tensor<?x5x?xf32, {dims = ["b", "s"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, s = {input = 0, axis = 2}}} : () -> ()
// -----
// Div_6: exp(x) / sum(exp(x)) => softmax(x)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Div_6"]}> ({
  ^bb0(%0: tensor<?x5x?xf32, {dims = ["b", "s"]}>):
    %6 = "tgn.softmax"(%0) <{axis = 1, log = false}> : (tensor<?x5x?xf32, {dims = ["b", "s"]}>) -> tensor<?x5x?xf32, {dims = ["b", "s"]}> loc(fused["Div_6", "ReduceMax_1", "Sub_2", "ReduceSum_5", "Exp_3"])
    "tgn.return"(%6) : (tensor<?x5x?xf32, {dims = ["b", "s"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, s = {input = 0, axis = 2}}} : () -> ()
