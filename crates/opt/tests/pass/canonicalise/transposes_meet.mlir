// Transposes move below elementwise ops and vanish where they meet.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "c"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<2x3x4xf32>, %c: tensor<1x1x3xf32>):
    %t = "tgn.transpose"(%x) <{perm = [0, 2, 1]}> : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32> loc("t")
    %a = "tgn.elementwise"(%t, %c) <{f = "add"}> : (tensor<2x4x3xf32>, tensor<1x1x3xf32>) -> tensor<2x4x3xf32> loc("a")
    %e = "tgn.elementwise"(%a) <{f = "exp"}> : (tensor<2x4x3xf32>) -> tensor<2x4x3xf32> loc("e")
    %y = "tgn.transpose"(%e) <{perm = [0, 2, 1]}> : (tensor<2x4x3xf32>) -> tensor<2x3x4xf32> loc("y")
    "tgn.return"(%y) : (tensor<2x3x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// a: f(transpose(x), transpose(y)) => transpose(f(x, y))
// e: f(transpose(x), transpose(y)) => transpose(f(x, y))
// y: transpose(transpose(x)) => transpose(x)
// t: transpose that moves extents of 1 only => reshape
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "c"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<2x3x4xf32>, %1: tensor<1x1x3xf32>):
    %11 = "tgn.reshape"(%1) <{shape = [1, 3, 1]}> : (tensor<1x1x3xf32>) -> tensor<1x3x1xf32> loc("t")
    %7 = "tgn.elementwise"(%0, %11) <{f = "add"}> : (tensor<2x3x4xf32>, tensor<1x3x1xf32>) -> tensor<2x3x4xf32> loc("a")
    %9 = "tgn.elementwise"(%7) <{f = "exp"}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32> loc("e")
    "tgn.return"(%9) : (tensor<2x3x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
