// Elementwise whole: nothing to recover.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["Div_7"]}> ({
  ^bb0(%0: tensor<?x5xf32, {dims = ["b"]}>):
    %1 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1077936128}> : () -> tensor<1x1xf32> loc("Add_1")
    %2 = "tgn.elementwise"(%0, %1) <{f = "add"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<1x1xf32>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Add_1")
    %3 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 0}> : () -> tensor<1x1xf32> loc("Clip_5")
    %4 = "tgn.elementwise"(%2, %3) <{f = "max"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<1x1xf32>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Clip_5")
    %5 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1086324736}> : () -> tensor<1x1xf32> loc("Clip_5")
    %6 = "tgn.elementwise"(%4, %5) <{f = "min"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<1x1xf32>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Clip_5")
    %7 = "tgn.elementwise"(%0, %6) <{f = "mul"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<?x5xf32, {dims = ["b"]}>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Mul_6")
    %8 = "tgn.elementwise"(%7, %5) <{f = "div"}> : (tensor<?x5xf32, {dims = ["b"]}>, tensor<1x1xf32>) -> tensor<?x5xf32, {dims = ["b"]}> loc("Div_7")
    "tgn.return"(%8) : (tensor<?x5xf32, {dims = ["b"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}}} : () -> ()
// -----
// unchanged
