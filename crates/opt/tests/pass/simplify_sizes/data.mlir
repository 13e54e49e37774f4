// Numbers that the input brings are not sizes.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["d"]}> ({
  ^bb0(%x: tensor<2xi64>):
    %two = "tgn.splat"() <{dtype = "i64", shape = [1], bits = 2}> : () -> tensor<1xi64>
    %d = "tgn.elementwise"(%x, %two) <{f = "mul"}> : (tensor<2xi64>, tensor<1xi64>) -> tensor<2xi64> loc("d")
    "tgn.return"(%d) : (tensor<2xi64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// unchanged
