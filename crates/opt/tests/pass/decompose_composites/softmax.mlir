// A softmax is two reductions.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<?x5xf32, {dims = ["n"]}>):
    %y = "tgn.softmax"(%x) <{axis = 1, log = false}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("y")
    "tgn.return"(%y) : (tensor<?x5xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
// -----
// y: decomposed softmax: the target takes its decomposition
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<?x5xf32, {dims = ["n"]}>):
    %2 = "tgn.reduce"(%0) <{f = "max", axes = [1]}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("y")
    %3 = "tgn.elementwise"(%0, %2) <{f = "sub"}> : (tensor<?x5xf32, {dims = ["n"]}>, tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("y")
    %4 = "tgn.elementwise"(%3) <{f = "exp"}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("y")
    %5 = "tgn.reduce"(%4) <{f = "add", axes = [1]}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("y")
    %6 = "tgn.elementwise"(%5) <{f = "reciprocal"}> : (tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("y")
    %7 = "tgn.elementwise"(%4, %6) <{f = "mul"}> : (tensor<?x5xf32, {dims = ["n"]}>, tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("y")
    "tgn.return"(%7) : (tensor<?x5xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
