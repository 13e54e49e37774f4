// Arithmetic on sizes becomes the sizes it gives.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["c"]}> ({
  ^bb0(%x: tensor<?x4xf32, {dims = ["n"]}>):
    %s = "tgn.sizes"() <{dims = ["n", 4]}> : () -> tensor<2xi64> loc("s")
    %a = "tgn.slice"(%s) <{starts = [0], sizes = [1], steps = [1]}> : (tensor<2xi64>) -> tensor<1xi64> loc("a")
    %two = "tgn.splat"() <{dtype = "i64", shape = [1], bits = 2}> : () -> tensor<1xi64>
    %d = "tgn.elementwise"(%a, %two) <{f = "mul"}> : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64> loc("d")
    %four = "tgn.slice"(%s) <{starts = [1], sizes = [1], steps = [1]}> : (tensor<2xi64>) -> tensor<1xi64> loc("four")
    %c = "tgn.concat"(%d, %four) <{axis = 0}> : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64> loc("c")
    "tgn.return"(%c) : (tensor<2xi64>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
// -----
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["c"]}> ({
  ^bb0(%0: tensor<?x4xf32, {dims = ["n"]}>):
    %1 = "tgn.sizes"() <{dims = ["n", 4]}> : () -> tensor<2xi64> loc("s")
    %7 = "tgn.sizes"() <{dims = ["n"]}> : () -> tensor<1xi64> loc("a")
    %3 = "tgn.splat"() <{dtype = "i64", shape = [1], bits = 2}> : () -> tensor<1xi64>
    %8 = "tgn.sizes"() <{dims = ["2*n"]}> : () -> tensor<1xi64> loc("d")
    %9 = "tgn.splat"() <{dtype = "i64", shape = [1], bits = 4}> : () -> tensor<1xi64> loc("four")
    %10 = "tgn.sizes"() <{dims = ["2*n", 4]}> : () -> tensor<2xi64> loc("c")
    "tgn.return"(%10) : (tensor<2xi64>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
