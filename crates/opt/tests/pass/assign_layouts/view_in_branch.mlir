// A branch has a view of its own, and the transpose before it, which nobody reads any more, goes.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["c", "x", "w"], result_names = ["z"]}> ({
  ^bb0(%c: tensor<i1>, %x: tensor<2x3x5x8xf32>, %w: tensor<8x8x1x1xf32>):
    %t = "tgn.transpose"(%x) <{perm = [0, 3, 1, 2]}> : (tensor<2x3x5x8xf32>) -> tensor<2x8x3x5xf32> loc("t")
    %z = "tgn.if"(%c) ({
      %y = "tgn.conv"(%t, %w) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "f32"}> : (tensor<2x8x3x5xf32>, tensor<8x8x1x1xf32>) -> tensor<2x8x3x5xf32> loc("y")
      %u = "tgn.transpose"(%y) <{perm = [0, 2, 3, 1]}> : (tensor<2x8x3x5xf32>) -> tensor<2x3x5x8xf32> loc("u")
      "tgn.yield"(%u) : (tensor<2x3x5x8xf32>) -> ()
    }, {
      "tgn.yield"(%x) : (tensor<2x3x5x8xf32>) -> ()
    }) : (tensor<i1>) -> tensor<2x3x5x8xf32> loc("z")
    "tgn.return"(%z) : (tensor<2x3x5x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// u: its axes are named anew, and nothing moves
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["c", "x", "w"], result_names = ["z"]}> ({
  ^bb0(%0: tensor<i1>, %1: tensor<2x3x5x8xf32>, %2: tensor<8x8x1x1xf32>):
    %4 = "tgn.if"(%0) ({
      %14 = "tgn.transpose"(%1) <{perm = [0, 3, 1, 2]}> : (tensor<2x3x5x8xf32>) -> tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}> loc("t")
      %9 = "tgn.kernel"(%14, %2) <{class = "conv"}> ({
      ^bb0(%10: tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}>, %11: tensor<8x8x1x1xf32>):
        %5 = "tgn.conv"(%10, %11) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "f32"}> : (tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}>, tensor<8x8x1x1xf32>) -> tensor<2x8x3x5xf32> loc("y")
        "tgn.yield"(%5) : (tensor<2x8x3x5xf32>) -> ()
      }) : (tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}>, tensor<8x8x1x1xf32>) -> tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}> loc("y")
      %15 = "tgn.transpose"(%9) <{perm = [0, 2, 3, 1]}> : (tensor<2x8x3x5xf32, {layout = ["0", "2", "3", "1"]}>) -> tensor<2x3x5x8xf32> loc("u")
      "tgn.yield"(%15) : (tensor<2x3x5x8xf32>) -> ()
    }, {
      "tgn.yield"(%1) : (tensor<2x3x5x8xf32>) -> ()
    }) : (tensor<i1>) -> tensor<2x3x5x8xf32> loc("z")
    "tgn.return"(%4) : (tensor<2x3x5x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
