// Adding +0 turns -0 into 0, so it stays.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["b"]}> ({
  ^bb0(%x: tensor<?x2xf32, {dims = ["n"]}>):
    %z = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 0}> : () -> tensor<1x1xf32>
    %b = "tgn.elementwise"(%x, %z) <{f = "add"}> : (tensor<?x2xf32, {dims = ["n"]}>, tensor<1x1xf32>) -> tensor<?x2xf32, {dims = ["n"]}> loc("b")
    "tgn.return"(%b) : (tensor<?x2xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
// -----
// unchanged
