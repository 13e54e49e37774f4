// A recurrent layer becomes a loop over contractions; other composites are left.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w", "r", "b", "h", "c"], result_names = ["y", "s"]}> ({
  ^bb0(%x: tensor<4x1x3xf32>, %w: tensor<8x3xf32>, %r: tensor<8x2xf32>, %b: tensor<16xf32>, %h: tensor<1x2xf32>, %c: tensor<1x2xf32>):
    %y, %hn, %cn = "tgn.lstm"(%x, %w, %r, %b, %h, %c) <{direction = "forward"}> : (tensor<4x1x3xf32>, tensor<8x3xf32>, tensor<8x2xf32>, tensor<16xf32>, tensor<1x2xf32>, tensor<1x2xf32>) -> (tensor<4x1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>) loc("layer")
    %s = "tgn.softmax"(%y) <{axis = 2}> : (tensor<4x1x2xf32>) -> tensor<4x1x2xf32> loc("share")
    "tgn.return"(%y, %s) : (tensor<4x1x2xf32>, tensor<4x1x2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
