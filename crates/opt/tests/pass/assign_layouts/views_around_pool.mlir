// A pool follows the view of its operand that has channels last.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["z"]}> ({
  ^bb0(%x: tensor<2x3x5x8xf32>):
    %t = "tgn.transpose"(%x) <{perm = [0, 3, 1, 2]}> : (tensor<2x3x5x8xf32>) -> tensor<2x8x3x5xf32> loc("t")
    %y = "tgn.pool"(%t) <{kind = "max", window = {size = [2, 2], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}}> : (tensor<2x8x3x5xf32>) -> tensor<2x8x2x4xf32> loc("y")
    %z = "tgn.transpose"(%y) <{perm = [0, 2, 3, 1]}> : (tensor<2x8x2x4xf32>) -> tensor<2x2x4x8xf32> loc("z")
    "tgn.return"(%z) : (tensor<2x2x4x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// t: not fused into pool "y": `pool` reads buffers
// t: its axes are named anew, and nothing moves
// z: its axes are named anew, and nothing moves
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["z"]}> ({
  ^bb0(%0: tensor<2x3x5x8xf32>):
    %10 = "tgn.transpose"(%0) <{perm = [0, 3, 1, 2]}> : (tensor<2x3x5x8xf32>) -> tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}> loc("t")
    %6 = "tgn.kernel"(%10) <{class = "pool"}> ({
    ^bb0(%7: tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}>):
      %2 = "tgn.pool"(%7) <{kind = "max", window = {size = [2, 2], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}}> : (tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}>) -> tensor<2x8x2x4xf32> loc("y")
      "tgn.yield"(%2) : (tensor<2x8x2x4xf32>) -> ()
    }) : (tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}>) -> tensor<2x8x2x4xf32, {layout = ["0", "2", "3", "1"]}> loc("y")
    %11 = "tgn.transpose"(%6) <{perm = [0, 2, 3, 1]}> : (tensor<2x8x2x4xf32, {layout = ["0", "2", "3", "1"]}>) -> tensor<2x2x4x8xf32> loc("z")
    "tgn.return"(%11) : (tensor<2x2x4x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
