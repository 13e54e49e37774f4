// Signals become images and signals again: what only names axes anew on the way is no kernel.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["z"]}> ({
  ^bb0(%x: tensor<?x7x8xf32, {dims = ["n"]}>, %w: tensor<8x8x1x1xf32>):
    %r = "tgn.reshape"(%x) <{shape = ["n", 1, 7, 8]}> : (tensor<?x7x8xf32, {dims = ["n"]}>) -> tensor<?x1x7x8xf32, {dims = ["n"]}> loc("r")
    %t = "tgn.transpose"(%r) <{perm = [0, 3, 1, 2]}> : (tensor<?x1x7x8xf32, {dims = ["n"]}>) -> tensor<?x8x1x7xf32, {dims = ["n"]}> loc("t")
    %y = "tgn.conv"(%t, %w) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "f32"}> : (tensor<?x8x1x7xf32, {dims = ["n"]}>, tensor<8x8x1x1xf32>) -> tensor<?x8x1x7xf32, {dims = ["n"]}> loc("y")
    %u = "tgn.transpose"(%y) <{perm = [0, 2, 3, 1]}> : (tensor<?x8x1x7xf32, {dims = ["n"]}>) -> tensor<?x1x7x8xf32, {dims = ["n"]}> loc("u")
    %z = "tgn.reshape"(%u) <{shape = ["n", 7, 8]}> : (tensor<?x1x7x8xf32, {dims = ["n"]}>) -> tensor<?x7x8xf32, {dims = ["n"]}> loc("z")
    "tgn.return"(%z) : (tensor<?x7x8xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// u: fused transpose into reshape "z"
// t: not fused into conv "y": `conv` reads buffers
// t: its axes are named anew, and nothing moves
// z: its axes are named anew, and nothing moves
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w"], result_names = ["z"]}> ({
  ^bb0(%0: tensor<?x7x8xf32, {dims = ["n"]}>, %1: tensor<8x8x1x1xf32>):
    %2 = "tgn.reshape"(%0) <{shape = ["n", 1, 7, 8]}> : (tensor<?x7x8xf32, {dims = ["n"]}>) -> tensor<?x1x7x8xf32, {dims = ["n"]}> loc("r")
    %14 = "tgn.transpose"(%2) <{perm = [0, 3, 1, 2]}> : (tensor<?x1x7x8xf32, {dims = ["n"]}>) -> tensor<?x8x1x7xf32, {dims = ["n"], layout = ["0", "2", "3", "1"]}> loc("t")
    %9 = "tgn.kernel"(%14, %1) <{class = "conv"}> ({
    ^bb0(%10: tensor<?x8x1x7xf32, {dims = ["n"], layout = ["0", "2", "3", "1"]}>, %11: tensor<8x8x1x1xf32>):
      %4 = "tgn.conv"(%10, %11) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "f32"}> : (tensor<?x8x1x7xf32, {dims = ["n"], layout = ["0", "2", "3", "1"]}>, tensor<8x8x1x1xf32>) -> tensor<?x8x1x7xf32, {dims = ["n"]}> loc("y")
      "tgn.yield"(%4) : (tensor<?x8x1x7xf32, {dims = ["n"]}>) -> ()
    }) : (tensor<?x8x1x7xf32, {dims = ["n"], layout = ["0", "2", "3", "1"]}>, tensor<8x8x1x1xf32>) -> tensor<?x8x1x7xf32, {dims = ["n"], layout = ["0", "2", "3", "1"]}> loc("y")
    %15 = "tgn.transpose"(%9) <{perm = [0, 2, 3, 1]}> : (tensor<?x8x1x7xf32, {dims = ["n"], layout = ["0", "2", "3", "1"]}>) -> tensor<?x1x7x8xf32, {dims = ["n"]}> loc("u")
    %16 = "tgn.reshape"(%15) <{shape = ["n", 7, 8]}> : (tensor<?x1x7x8xf32, {dims = ["n"]}>) -> tensor<?x7x8xf32, {dims = ["n"]}> loc("z")
    "tgn.return"(%16) : (tensor<?x7x8xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) : () -> ()
