// The greatest of a whole tensor is that of its rows; rows of an image are its channels. Sums, few elements and what keeps an axis stay.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "image", "w", "few"], result_names = ["y", "z", "sum", "small", "kept"]}> ({
  ^bb0(%x: tensor<?x64xf32, {dims = ["n"]}>, %image: tensor<1x3x?x?xf32, {dims = ["h", "w"]}>, %w: tensor<8x3x1x1xf32>, %few: tensor<4x8xf32>):
    %y = "tgn.reduce"(%x) <{f = "max", axes = [0, 1]}> : (tensor<?x64xf32, {dims = ["n"]}>) -> tensor<1x1xf32> loc("y")
    %c = "tgn.conv"(%image, %w) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "f32"}> : (tensor<1x3x?x?xf32, {dims = ["h", "w"]}>, tensor<8x3x1x1xf32>) -> tensor<1x8x?x?xf32, {dims = ["h", "w"]}> loc("c")
    %r = "tgn.elementwise"(%c) <{f = "abs"}> : (tensor<1x8x?x?xf32, {dims = ["h", "w"]}>) -> tensor<1x8x?x?xf32, {dims = ["h", "w"]}>
    %z = "tgn.reduce"(%r) <{f = "min", axes = [0, 1, 2, 3]}> : (tensor<1x8x?x?xf32, {dims = ["h", "w"]}>) -> tensor<1x1x1x1xf32> loc("z")
    %sum = "tgn.reduce"(%x) <{f = "add", axes = [0, 1]}> : (tensor<?x64xf32, {dims = ["n"]}>) -> tensor<1x1xf32> loc("sum")
    %small = "tgn.reduce"(%few) <{f = "max", axes = [0, 1]}> : (tensor<4x8xf32>) -> tensor<1x1xf32> loc("small")
    %kept = "tgn.reduce"(%x) <{f = "max", axes = [1]}> : (tensor<?x64xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("kept")
    "tgn.return"(%y, %z, %sum, %small, %kept) : (tensor<1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>, tensor<?x1xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}, h = {axis = 2, input = 1}, w = {axis = 3, input = 1}}} : () -> ()
// -----
// y: decomposed reduce: the target takes its decomposition
// z: decomposed reduce: the target takes its decomposition
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "image", "w", "few"], result_names = ["y", "z", "sum", "small", "kept"]}> ({
  ^bb0(%0: tensor<?x64xf32, {dims = ["n"]}>, %1: tensor<1x3x?x?xf32, {dims = ["h", "w"]}>, %2: tensor<8x3x1x1xf32>, %3: tensor<4x8xf32>):
    %11 = "tgn.reduce"(%0) <{f = "max", axes = [1]}> : (tensor<?x64xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("y")
    %12 = "tgn.reduce"(%11) <{f = "max", axes = [0, 1]}> : (tensor<?x1xf32, {dims = ["n"]}>) -> tensor<1x1xf32> loc("y")
    %5 = "tgn.conv"(%1, %2) <{window = {size = [1, 1], strides = [1, 1], dilations = [1, 1], low = [0, 0], high = [0, 0]}, groups = 1, out = "f32"}> : (tensor<1x3x?x?xf32, {dims = ["h", "w"]}>, tensor<8x3x1x1xf32>) -> tensor<1x8x?x?xf32, {dims = ["h", "w"]}> loc("c")
    %6 = "tgn.elementwise"(%5) <{f = "abs"}> : (tensor<1x8x?x?xf32, {dims = ["h", "w"]}>) -> tensor<1x8x?x?xf32, {dims = ["h", "w"]}>
    %13 = "tgn.reduce"(%6) <{f = "min", axes = [1]}> : (tensor<1x8x?x?xf32, {dims = ["h", "w"]}>) -> tensor<1x1x?x?xf32, {dims = ["h", "w"]}> loc("z")
    %14 = "tgn.reduce"(%13) <{f = "min", axes = [0, 1, 2, 3]}> : (tensor<1x1x?x?xf32, {dims = ["h", "w"]}>) -> tensor<1x1x1x1xf32> loc("z")
    %8 = "tgn.reduce"(%0) <{f = "add", axes = [0, 1]}> : (tensor<?x64xf32, {dims = ["n"]}>) -> tensor<1x1xf32> loc("sum")
    %9 = "tgn.reduce"(%3) <{f = "max", axes = [0, 1]}> : (tensor<4x8xf32>) -> tensor<1x1xf32> loc("small")
    %10 = "tgn.reduce"(%0) <{f = "max", axes = [1]}> : (tensor<?x64xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("kept")
    "tgn.return"(%12, %14, %8, %9, %10) : (tensor<1x1xf32>, tensor<1x1x1x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>, tensor<?x1xf32, {dims = ["n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {h = {input = 1, axis = 2}, n = {input = 0, axis = 0}, w = {input = 1, axis = 3}}} : () -> ()
