// Types that kernels compute with are left alone, 8-bit floats and 2-bit integers among them.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%x: tensor<4xf8E4M3FN>):
    %wide = "tgn.elementwise"(%x) <{f = "cast:f32"}> : (tensor<4xf8E4M3FN>) -> tensor<4xf32> loc("wide")
    %y = "tgn.elementwise"(%wide) <{f = "cast:i2"}> : (tensor<4xf32>) -> tensor<4xi2> loc("y")
    "tgn.return"(%y) : (tensor<4xi2>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// unchanged
