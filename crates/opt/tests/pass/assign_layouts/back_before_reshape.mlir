// A reshape that joins channels with what lies between them in no layout of its operand has it written row by row before; followers of channels last keep their layout up to there.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["z"]}> ({
  ^bb0(%x: tensor<2x4x3x5xf32>):
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x4x1x1xf32>, dtype = "f32", shape = [4, 4, 1, 1]}> : () -> tensor<4x4x1x1xf32>
    %y = "tgn.conv"(%x, %w) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "f32"}> : (tensor<2x4x3x5xf32>, tensor<4x4x1x1xf32>) -> tensor<2x4x3x5xf32> loc("y")
    %s = "tgn.reduce"(%y) <{f = "max", axes = [2]}> : (tensor<2x4x3x5xf32>) -> tensor<2x4x1x5xf32> loc("s")
    %r = "tgn.reshape"(%s) <{shape = [2, 20]}> : (tensor<2x4x1x5xf32>) -> tensor<2x20xf32> loc("r")
    %z = "tgn.reduce"(%r) <{f = "add", axes = [1]}> : (tensor<2x20xf32>) -> tensor<2x1xf32> loc("z")
    "tgn.return"(%z) : (tensor<2x1xf32>) -> ()
  }) : () -> ()
}) : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x0400000000000040000000C0000080BF0000803F000000000000803F00000040000080BF0000803F0000803F000000C000000000000080BF00000040000000000000803F" } }
#-}
// -----
// s: its layout changes in a kernel of its own
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["z"]}> ({
  ^bb0(%0: tensor<2x4x3x5xf32>):
    %1 = "tgn.constant"() <{id = dense_resource<const0> : tensor<4x4x1x1xf32>, dtype = "f32", shape = [4, 4, 1, 1]}> : () -> tensor<4x4x1x1xf32>
    %13 = "tgn.relayout"(%1) <{layout = ["0/8", "2", "3", "1", "0%8"]}> : (tensor<4x4x1x1xf32>) -> tensor<4x4x1x1xf32, {layout = ["0/8", "2", "3", "1", "0%8"]}>
    %6 = "tgn.kernel"(%0, %13) <{class = "conv"}> ({
    ^bb0(%7: tensor<2x4x3x5xf32>, %8: tensor<4x4x1x1xf32, {layout = ["0/8", "2", "3", "1", "0%8"]}>):
      %2 = "tgn.conv"(%7, %8) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "f32"}> : (tensor<2x4x3x5xf32>, tensor<4x4x1x1xf32, {layout = ["0/8", "2", "3", "1", "0%8"]}>) -> tensor<2x4x3x5xf32> loc("y")
      "tgn.yield"(%2) : (tensor<2x4x3x5xf32>) -> ()
    }) : (tensor<2x4x3x5xf32>, tensor<4x4x1x1xf32, {layout = ["0/8", "2", "3", "1", "0%8"]}>) -> tensor<2x4x3x5xf32, {layout = ["0", "2", "3", "1"]}> loc("y")
    %9 = "tgn.kernel"(%6) <{class = "reduce"}> ({
    ^bb0(%10: tensor<2x4x3x5xf32, {layout = ["0", "2", "3", "1"]}>):
      %3 = "tgn.reduce"(%10) <{f = "max", axes = [2]}> : (tensor<2x4x3x5xf32, {layout = ["0", "2", "3", "1"]}>) -> tensor<2x4x1x5xf32> loc("s")
      "tgn.yield"(%3) : (tensor<2x4x1x5xf32>) -> ()
    }) : (tensor<2x4x3x5xf32, {layout = ["0", "2", "3", "1"]}>) -> tensor<2x4x1x5xf32, {layout = ["0", "2", "3", "1"]}> loc("s")
    %14 = "tgn.kernel"(%9) <{class = "map"}> ({
    ^bb0(%15: tensor<2x4x1x5xf32, {layout = ["0", "2", "3", "1"]}>):
      %16 = "tgn.relayout"(%15) <{layout = ["0", "1", "2", "3"]}> : (tensor<2x4x1x5xf32, {layout = ["0", "2", "3", "1"]}>) -> tensor<2x4x1x5xf32, {layout = ["0", "1", "2", "3"]}> loc("s")
      "tgn.yield"(%16) : (tensor<2x4x1x5xf32, {layout = ["0", "1", "2", "3"]}>) -> ()
    }) : (tensor<2x4x1x5xf32, {layout = ["0", "2", "3", "1"]}>) -> tensor<2x4x1x5xf32> loc("s")
    %4 = "tgn.reshape"(%14) <{shape = [2, 20]}> : (tensor<2x4x1x5xf32>) -> tensor<2x20xf32> loc("r")
    %11 = "tgn.kernel"(%4) <{class = "reduce"}> ({
    ^bb0(%12: tensor<2x20xf32>):
      %5 = "tgn.reduce"(%12) <{f = "add", axes = [1]}> : (tensor<2x20xf32>) -> tensor<2x1xf32> loc("z")
      "tgn.yield"(%5) : (tensor<2x1xf32>) -> ()
    }) : (tensor<2x20xf32>) -> tensor<2x1xf32> loc("z")
    "tgn.return"(%11) : (tensor<2x1xf32>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x4000000000000040000000C0000080BF0000803F000000000000803F00000040000080BF0000803F0000803F000000C000000000000080BF00000040000000000000803F"
    }
  }
#-}
