// An input is its own transpose where the axes that change places are of extent 1, and one that is returned unchanged stays.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["same", "t"]}> ({
  ^bb0(%x: tensor<2x1x5xf32>):
    %t = "tgn.transpose"(%x) <{perm = [0, 2, 1]}> : (tensor<2x1x5xf32>) -> tensor<2x5x1xf32> loc("t")
    "tgn.return"(%x, %t) : (tensor<2x1x5xf32>, tensor<2x5x1xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// unchanged
