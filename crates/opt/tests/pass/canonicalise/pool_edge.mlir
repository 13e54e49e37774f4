// Repeating the border never wins a maximum.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<1x2x4x4xf32>):
    %p = "tgn.pad"(%x) <{low = [0, 0, 0, 0], high = [0, 0, 1, 1], mode = "edge"}> : (tensor<1x2x4x4xf32>) -> tensor<1x2x5x5xf32> loc("p")
    %y = "tgn.pool"(%p) <{kind = "max", window = {size = [3, 3], strides = [2, 2], dilations = [1, 1], low = [0, 0], high = [0, 0]}}> : (tensor<1x2x5x5xf32>) -> tensor<1x2x2x2xf32> loc("y")
    "tgn.return"(%y) : (tensor<1x2x2x2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// y: pool max(pad(x)) => pool max(x) with padding
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<1x2x4x4xf32>):
    %3 = "tgn.pool"(%0) <{kind = "max", window = {size = [3, 3], strides = [2, 2], dilations = [1, 1], low = [0, 0], high = [1, 1]}}> : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32> loc(fused["y", "p"])
    "tgn.return"(%3) : (tensor<1x2x2x2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
