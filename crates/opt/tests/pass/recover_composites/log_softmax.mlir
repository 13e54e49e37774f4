// The logarithm of a softmax.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Sub_7"]}> ({
  ^bb0(%0: tensor<?x5xf32, {dims = ["b"]}>):
    %2 = "tgn.reduce"(%0) <{f = "max", axes = [1]}> : (tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x1xf32, {dims = ["b"]}> loc("ReduceMax_1")
    %3 = "tgn.elementwise"(%0, %2) <{f = "sub"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<?x1xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Sub_2")
    %4 = "tgn.elementwise"(%3) <{f = "exp"}> : (tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Exp_3")
    %5 = "tgn.reduce"(%4) <{f = "add", axes = [1]}> : (tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x1xf32, {dims = ["b"]}> loc("ReduceSum_5")
    %6 = "tgn.elementwise"(%5) <{f = "log"}> : (tensor<?x1xf32, {dims = ["b"]}>) -> tensor<?x1xf32, {dims = ["b"]}> loc("Log_6")
    %7 = "tgn.elementwise"(%3, %6) <{f = "sub"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<?x1xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Sub_7")
    "tgn.return"(%7) : (tensor<?x5xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()
// -----
// Sub_7: x - log(sum(exp(x))) => log softmax(x)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Sub_7"]}> ({
  ^bb0(%0: tensor<?x5xf32, {dims = ["b"]}>):
    %7 = "tgn.softmax"(%0) <{axis = 1, log = true}> : (tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc(fused["Sub_7", "Exp_3", "ReduceSum_5", "ReduceMax_1", "Log_6", "Sub_2"])
    "tgn.return"(%7) : (tensor<?x5xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()
