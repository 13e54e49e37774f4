// An image of three channels is read by groups of them, so it becomes channels-last.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<1x3x4x4xui8>):
    %w = "tgn.constant"() <{id = dense_resource<const0> : tensor<2x3x1x1xi8>, dtype = "i8", shape = [2, 3, 1, 1]}> : () -> tensor<2x3x1x1xi8>
    %y = "tgn.conv"(%x, %w) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "i32"}> : (tensor<1x3x4x4xui8>, tensor<2x3x1x1xi8>) -> tensor<1x2x4x4xi32> loc("y")
    "tgn.return"(%y) : (tensor<1x2x4x4xi32>) -> ()
  }) : () -> ()
}) : () -> ()
{-#
  dialect_resources: { builtin: { const0: "0x010000000102030405FF" } }
#-}
// -----
// its layout changes in a kernel of its own
// y: its layout changes in a kernel of its own
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<1x3x4x4xui8>):
    %1 = "tgn.constant"() <{id = dense_resource<const0> : tensor<2x3x1x1xi8>, dtype = "i8", shape = [2, 3, 1, 1]}> : () -> tensor<2x3x1x1xi8>
    %6 = "tgn.kernel"(%0) <{class = "map"}> ({
    ^bb0(%7: tensor<1x3x4x4xui8>):
      %8 = "tgn.relayout"(%7) <{layout = ["0", "2", "3", "1"]}> : (tensor<1x3x4x4xui8>) -> tensor<1x3x4x4xui8, {layout = ["0", "2", "3", "1"]}>
      "tgn.yield"(%8) : (tensor<1x3x4x4xui8, {layout = ["0", "2", "3", "1"]}>) -> ()
    }) : (tensor<1x3x4x4xui8>) -> tensor<1x3x4x4xui8, {layout = ["0", "2", "3", "1"]}>
    %9 = "tgn.relayout"(%1) <{layout = ["0/8", "2", "3", "1/4", "0%8", "1%4"]}> : (tensor<2x3x1x1xi8>) -> tensor<2x3x1x1xi8, {layout = ["0/8", "2", "3", "1/4", "0%8", "1%4"]}>
    %3 = "tgn.kernel"(%6, %9) <{class = "conv"}> ({
    ^bb0(%4: tensor<1x3x4x4xui8, {layout = ["0", "2", "3", "1"]}>, %5: tensor<2x3x1x1xi8, {layout = ["0/8", "2", "3", "1/4", "0%8", "1%4"]}>):
      %2 = "tgn.conv"(%4, %5) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "i32"}> : (tensor<1x3x4x4xui8, {layout = ["0", "2", "3", "1"]}>, tensor<2x3x1x1xi8, {layout = ["0/8", "2", "3", "1/4", "0%8", "1%4"]}>) -> tensor<1x2x4x4xi32> loc("y")
      "tgn.yield"(%2) : (tensor<1x2x4x4xi32>) -> ()
    }) : (tensor<1x3x4x4xui8, {layout = ["0", "2", "3", "1"]}>, tensor<2x3x1x1xi8, {layout = ["0/8", "2", "3", "1/4", "0%8", "1%4"]}>) -> tensor<1x2x4x4xi32, {layout = ["0", "2", "3", "1"]}> loc("y")
    %10 = "tgn.kernel"(%3) <{class = "map"}> ({
    ^bb0(%11: tensor<1x2x4x4xi32, {layout = ["0", "2", "3", "1"]}>):
      %12 = "tgn.relayout"(%11) <{layout = ["0", "1", "2", "3"]}> : (tensor<1x2x4x4xi32, {layout = ["0", "2", "3", "1"]}>) -> tensor<1x2x4x4xi32, {layout = ["0", "1", "2", "3"]}> loc("y")
      "tgn.yield"(%12) : (tensor<1x2x4x4xi32, {layout = ["0", "1", "2", "3"]}>) -> ()
    }) : (tensor<1x2x4x4xi32, {layout = ["0", "2", "3", "1"]}>) -> tensor<1x2x4x4xi32> loc("y")
    "tgn.return"(%10) : (tensor<1x2x4x4xi32>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x400000000102030405FF"
    }
  }
#-}
