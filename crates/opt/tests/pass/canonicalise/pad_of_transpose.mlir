// Padding moves above a transpose, axis by axis; not where something else reads the transpose.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "y"], result_names = ["a", "b", "c"]}> ({
  ^bb0(%x: tensor<2x5x3xf32>, %y: tensor<2x5x3xf32>):
    %zero = "tgn.splat"() <{dtype = "f32", shape = [], bits = 0}> : () -> tensor<f32>
    %t = "tgn.transpose"(%x) <{perm = [0, 2, 1]}> : (tensor<2x5x3xf32>) -> tensor<2x3x5xf32> loc("t")
    %a = "tgn.pad"(%t, %zero) <{low = [0, 0, 2], high = [0, 1, 0], mode = "constant"}> : (tensor<2x3x5xf32>, tensor<f32>) -> tensor<2x4x7xf32> loc("a")
    %u = "tgn.transpose"(%y) <{perm = [0, 2, 1]}> : (tensor<2x5x3xf32>) -> tensor<2x3x5xf32> loc("u")
    %b = "tgn.pad"(%u, %zero) <{low = [0, 0, 2], high = [0, 1, 0], mode = "constant"}> : (tensor<2x3x5xf32>, tensor<f32>) -> tensor<2x4x7xf32> loc("b")
    "tgn.return"(%a, %b, %u) : (tensor<2x4x7xf32>, tensor<2x4x7xf32>, tensor<2x3x5xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// a: pad(transpose(x)) => transpose(pad(x))
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "y"], result_names = ["a", "b", "c"]}> ({
  ^bb0(%0: tensor<2x5x3xf32>, %1: tensor<2x5x3xf32>):
    %2 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 0}> : () -> tensor<f32>
    %7 = "tgn.pad"(%0, %2) <{low = [0, 2, 0], high = [0, 0, 1], mode = "constant"}> : (tensor<2x5x3xf32>, tensor<f32>) -> tensor<2x7x4xf32> loc("a")
    %8 = "tgn.transpose"(%7) <{perm = [0, 2, 1]}> : (tensor<2x7x4xf32>) -> tensor<2x4x7xf32> loc("t")
    %5 = "tgn.transpose"(%1) <{perm = [0, 2, 1]}> : (tensor<2x5x3xf32>) -> tensor<2x3x5xf32> loc("u")
    %6 = "tgn.pad"(%5, %2) <{low = [0, 0, 2], high = [0, 1, 0], mode = "constant"}> : (tensor<2x3x5xf32>, tensor<f32>) -> tensor<2x4x7xf32> loc("b")
    "tgn.return"(%8, %6, %5) : (tensor<2x4x7xf32>, tensor<2x4x7xf32>, tensor<2x3x5xf32>) -> ()
  }) : () -> ()
}) : () -> ()
