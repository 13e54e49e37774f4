// The count of a data-dependent result becomes a size, and a slice cuts the result to it.
// run: f32[4] 0 5 0 7 => i64[1,2] 1 3
// run: f32[3] 0 0 0 => i64[1,0]
// run: f32[2,1] 1 2 => error: input `x` is f32[2,1], the model takes f32[n]
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["where"]}> ({
  ^bb0(%x: tensor<?xf32, {dims = ["n"]}>):
    %all, %count = "tgn.non_zero"(%x) : (tensor<?xf32, {dims = ["n"]}>) -> (tensor<1x?xi64, {dims = ["n"]}>, tensor<i64>)
    "tgn.bind"(%count) <{symbol = "found"}> : (tensor<i64>) -> ()
    %cut = "tgn.slice"(%all) <{starts = [0, 0], sizes = [1, "found"], steps = [1, 1]}> : (tensor<1x?xi64, {dims = ["n"]}>) -> tensor<1x?xi64, {dims = ["found"]}>
    "tgn.return"(%cut) : (tensor<1x?xi64, {dims = ["found"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}, found = {upper = "n"}}} : () -> ()
