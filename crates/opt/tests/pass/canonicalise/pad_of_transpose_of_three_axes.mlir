// A permutation that is not its own inverse: each axis takes its pads along.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["a"]}> ({
  ^bb0(%x: tensor<2x5x3xf32>):
    %zero = "tgn.splat"() <{dtype = "f32", shape = [], bits = 0}> : () -> tensor<f32>
    %t = "tgn.transpose"(%x) <{perm = [1, 2, 0]}> : (tensor<2x5x3xf32>) -> tensor<5x3x2xf32> loc("t")
    %a = "tgn.pad"(%t, %zero) <{low = [4, 0, 1], high = [0, 6, 0], mode = "constant"}> : (tensor<5x3x2xf32>, tensor<f32>) -> tensor<9x9x3xf32> loc("a")
    "tgn.return"(%a) : (tensor<9x9x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// a: pad(transpose(x)) => transpose(pad(x))
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["a"]}> ({
  ^bb0(%0: tensor<2x5x3xf32>):
    %1 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 0}> : () -> tensor<f32>
    %4 = "tgn.pad"(%0, %1) <{low = [1, 4, 0], high = [0, 0, 6], mode = "constant"}> : (tensor<2x5x3xf32>, tensor<f32>) -> tensor<3x9x9xf32> loc("a")
    %5 = "tgn.transpose"(%4) <{perm = [1, 2, 0]}> : (tensor<3x9x9xf32>) -> tensor<9x9x3xf32> loc("t")
    "tgn.return"(%5) : (tensor<9x9x3xf32>) -> ()
  }) : () -> ()
}) : () -> ()
