// A recurrent layer becomes a loop over contractions; other composites are left.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w", "r", "b", "h", "c"], result_names = ["y", "s"]}> ({
  ^bb0(%x: tensor<4x1x3xf32>, %w: tensor<8x3xf32>, %r: tensor<8x2xf32>, %b: tensor<16xf32>, %h: tensor<1x2xf32>, %c: tensor<1x2xf32>):
    %y, %hn, %cn = "tgn.lstm"(%x, %w, %r, %b, %h, %c) <{direction = "forward", rounded = false}> : (tensor<4x1x3xf32>, tensor<8x3xf32>, tensor<8x2xf32>, tensor<16xf32>, tensor<1x2xf32>, tensor<1x2xf32>) -> (tensor<4x1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>) loc("layer")
    %s = "tgn.softmax"(%y) <{axis = 2, log = false}> : (tensor<4x1x2xf32>) -> tensor<4x1x2xf32> loc("share")
    "tgn.return"(%y, %s) : (tensor<4x1x2xf32>, tensor<4x1x2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// layer: decomposed lstm: the target takes its decomposition
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "w", "r", "b", "h", "c"], result_names = ["y", "s"]}> ({
  ^bb0(%0: tensor<4x1x3xf32>, %1: tensor<8x3xf32>, %2: tensor<8x2xf32>, %3: tensor<16xf32>, %4: tensor<1x2xf32>, %5: tensor<1x2xf32>):
    %10 = "tgn.slice"(%3) <{starts = [0], sizes = [8], steps = [1]}> : (tensor<16xf32>) -> tensor<8xf32> loc("layer")
    %11 = "tgn.slice"(%3) <{starts = [8], sizes = [8], steps = [1]}> : (tensor<16xf32>) -> tensor<8xf32> loc("layer")
    %12 = "tgn.elementwise"(%10, %11) <{f = "add"}> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> loc("layer")
    %13 = "tgn.dot"(%0, %1) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [2], rhs_contract = [1]}, out = "f32"}> : (tensor<4x1x3xf32>, tensor<8x3xf32>) -> tensor<4x1x8xf32> loc("layer")
    %14 = "tgn.reshape"(%12) <{shape = [1, 1, 8]}> : (tensor<8xf32>) -> tensor<1x1x8xf32> loc("layer")
    %15 = "tgn.elementwise"(%13, %14) <{f = "add"}> : (tensor<4x1x8xf32>, tensor<1x1x8xf32>) -> tensor<4x1x8xf32> loc("layer")
    %16 = "tgn.splat"() <{dtype = "bool", shape = [], bits = 1}> : () -> tensor<i1> loc("layer")
    %37, %38, %39, %40 = "tgn.loop"(%16, %4, %5) <{trip = 4, stacked = 1}> ({
    ^bb0(%17: tensor<i64>, %18: tensor<1x2xf32>, %19: tensor<1x2xf32>):
      %20 = "tgn.gather"(%15, %17) <{axis = 0}> : (tensor<4x1x8xf32>, tensor<i64>) -> tensor<1x8xf32> loc("layer")
      %21 = "tgn.dot"(%18, %2) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [1]}, out = "f32"}> : (tensor<1x2xf32>, tensor<8x2xf32>) -> tensor<1x8xf32> loc("layer")
      %22 = "tgn.elementwise"(%20, %21) <{f = "add"}> : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<1x8xf32> loc("layer")
      %23 = "tgn.slice"(%22) <{starts = [0, 0], sizes = [1, 2], steps = [1, 1]}> : (tensor<1x8xf32>) -> tensor<1x2xf32> loc("layer")
      %24 = "tgn.slice"(%22) <{starts = [0, 2], sizes = [1, 2], steps = [1, 1]}> : (tensor<1x8xf32>) -> tensor<1x2xf32> loc("layer")
      %25 = "tgn.slice"(%22) <{starts = [0, 4], sizes = [1, 2], steps = [1, 1]}> : (tensor<1x8xf32>) -> tensor<1x2xf32> loc("layer")
      %26 = "tgn.slice"(%22) <{starts = [0, 6], sizes = [1, 2], steps = [1, 1]}> : (tensor<1x8xf32>) -> tensor<1x2xf32> loc("layer")
      %27 = "tgn.elementwise"(%24) <{f = "sigmoid"}> : (tensor<1x2xf32>) -> tensor<1x2xf32> loc("layer")
      %28 = "tgn.elementwise"(%23) <{f = "sigmoid"}> : (tensor<1x2xf32>) -> tensor<1x2xf32> loc("layer")
      %29 = "tgn.elementwise"(%25) <{f = "sigmoid"}> : (tensor<1x2xf32>) -> tensor<1x2xf32> loc("layer")
      %30 = "tgn.elementwise"(%26) <{f = "tanh"}> : (tensor<1x2xf32>) -> tensor<1x2xf32> loc("layer")
      %31 = "tgn.elementwise"(%29, %19) <{f = "mul"}> : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32> loc("layer")
      %32 = "tgn.elementwise"(%28, %30) <{f = "mul"}> : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32> loc("layer")
      %33 = "tgn.elementwise"(%31, %32) <{f = "add"}> : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32> loc("layer")
      %34 = "tgn.elementwise"(%33) <{f = "tanh"}> : (tensor<1x2xf32>) -> tensor<1x2xf32> loc("layer")
      %35 = "tgn.elementwise"(%27, %34) <{f = "mul"}> : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32> loc("layer")
      %36 = "tgn.splat"() <{dtype = "bool", shape = [], bits = 1}> : () -> tensor<i1> loc("layer")
      "tgn.yield"(%36, %35, %33, %35) : (tensor<i1>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>) -> () loc("layer")
    }) : (tensor<i1>, tensor<1x2xf32>, tensor<1x2xf32>) -> (tensor<i64>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<4x1x2xf32>) loc("layer")
    %9 = "tgn.softmax"(%40) <{axis = 2, log = false}> : (tensor<4x1x2xf32>) -> tensor<4x1x2xf32> loc("share")
    "tgn.return"(%40, %9) : (tensor<4x1x2xf32>, tensor<4x1x2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
