// Sizes are read off the inputs and agree between them; an assert says in the user's words where they do not.
// run: f32[2] 1 2; f32[2] 10 20 => f32[2] 11 22; i64[2] 2 4
// run: f32[2] 1 2; f32[3] 1 2 3 => error: size `n` is 2 in input `a` and 3 in input `b`
// run: f32[2] 1 2 => error: the model takes 2 inputs, got 1
// run: f32[2] 1 2; i32[2] 1 2 => error: input `b` is i32[2], the model takes f32[n]
// run: f32[5] 1; f32[5] 1 => error: size `n` is 5, the model takes 1 to 4
// run: f32[3] 1; f32[3] 1 => error: rows must pair: n is 3, 2*floordiv(n, 2) is 2
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["a", "b"], result_names = ["sum", "sizes"]}> ({
  ^bb0(%a: tensor<?xf32, {dims = ["n"]}>, %b: tensor<?xf32, {dims = ["n"]}>):
    "tgn.assert_size"() <{left = "n", right = "2*floordiv(n,2)", message = "rows must pair"}> : () -> ()
    %c = "tgn.elementwise"(%a, %b) <{f = "add"}> : (tensor<?xf32, {dims = ["n"]}>, tensor<?xf32, {dims = ["n"]}>) -> tensor<?xf32, {dims = ["n"]}>
    %s = "tgn.sizes"() <{dims = ["n", "2*n"]}> : () -> tensor<2xi64>
    "tgn.return"(%c, %s) : (tensor<?xf32, {dims = ["n"]}>, tensor<2xi64>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0, min = 1, max = 4}}} : () -> ()
