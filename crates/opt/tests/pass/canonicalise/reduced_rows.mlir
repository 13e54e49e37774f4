// What follows a reduction keeps its axes, so that rows stay together.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<?x5xf32, {dims = ["n"]}>):
    %n = "tgn.splat"() <{dtype = "f32", shape = [1], bits = 1048576000}> : () -> tensor<1xf32>
    %r = "tgn.reduce"(%x) <{f = "add", axes = [1]}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("r")
    %s = "tgn.reshape"(%r) <{shape = ["n"]}> : (tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?xf32, {dims = ["n"]}> loc("s")
    %m = "tgn.elementwise"(%s, %n) <{f = "mul"}> : (tensor<?xf32, {dims = ["n"]}>, tensor<1xf32>) -> tensor<?xf32, {dims = ["n"]}> loc("m")
    %k = "tgn.reshape"(%m) <{shape = ["n", 1]}> : (tensor<?xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("k")
    %y = "tgn.elementwise"(%x, %k) <{f = "sub"}> : (tensor<?x5xf32, {dims = ["n"]}>, tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("y")
    "tgn.return"(%y) : (tensor<?x5xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
// -----
// m: f(reshape(x), y) => reshape(f(x, y'))
// k: reshape(reshape(x)) => reshape(x)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<?x5xf32, {dims = ["n"]}>):
    %2 = "tgn.reduce"(%0) <{f = "add", axes = [1]}> : (tensor<?x5xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("r")
    %7 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1048576000}> : () -> tensor<1x1xf32> loc("m")
    %8 = "tgn.elementwise"(%2, %7) <{f = "mul"}> : (tensor<?x1xf32, {dims = ["n"]}>, tensor<1x1xf32>) -> tensor<?x1xf32, {dims = ["n"]}> loc("m")
    %6 = "tgn.elementwise"(%0, %8) <{f = "sub"}> : (tensor<?x5xf32, {dims = ["n"]}>, tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?x5xf32, {dims = ["n"]}> loc("y")
    "tgn.return"(%6) : (tensor<?x5xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
