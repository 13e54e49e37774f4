// lstm {direction = "reverse", rounded = false} : f32[s,b,3] f32[8,3] f32[8,2] f32[16] f32[b,2] f32[b,2]
"tgn.func"() <{sym_name = "lstm", arg_names = [], result_names = []}> ({
^bb0(%0: tensor<?x?x3xf32, {dims = ["s", "b"]}>, %1: tensor<8x3xf32>, %2: tensor<8x2xf32>, %3: tensor<16xf32>, %4: tensor<?x2xf32, {dims = ["b"]}>, %5: tensor<?x2xf32, {dims = ["b"]}>):
  %9 = "tgn.slice"(%3) <{starts = [0], sizes = [8], steps = [1]}> : (tensor<16xf32>) -> tensor<8xf32>
  %10 = "tgn.slice"(%3) <{starts = [8], sizes = [8], steps = [1]}> : (tensor<16xf32>) -> tensor<8xf32>
  %11 = "tgn.elementwise"(%9, %10) <{f = "add"}> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %12 = "tgn.dot"(%0, %1) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [2], rhs_contract = [1]}, out = "f32"}> : (tensor<?x?x3xf32, {dims = ["s", "b"]}>, tensor<8x3xf32>) -> tensor<?x?x8xf32, {dims = ["s", "b"]}>
  %13 = "tgn.reshape"(%11) <{shape = [1, 1, 8]}> : (tensor<8xf32>) -> tensor<1x1x8xf32>
  %14 = "tgn.elementwise"(%12, %13) <{f = "add"}> : (tensor<?x?x8xf32, {dims = ["s", "b"]}>, tensor<1x1x8xf32>) -> tensor<?x?x8xf32, {dims = ["s", "b"]}>
  %15 = "tgn.splat"() <{dtype = "bool", shape = [], bits = 1}> : () -> tensor<i1>
  %39, %40, %41, %42 = "tgn.loop"(%15, %4, %5) <{trip = "s", stacked = 1}> ({
  ^bb0(%16: tensor<i64>, %17: tensor<?x2xf32, {dims = ["b"]}>, %18: tensor<?x2xf32, {dims = ["b"]}>):
    %19 = "tgn.sizes"() <{dims = ["s - 1"]}> : () -> tensor<1xi64>
    %20 = "tgn.reshape"(%19) <{shape = []}> : (tensor<1xi64>) -> tensor<i64>
    %21 = "tgn.elementwise"(%20, %16) <{f = "sub"}> : (tensor<i64>, tensor<i64>) -> tensor<i64>
    %22 = "tgn.gather"(%14, %21) <{axis = 0}> : (tensor<?x?x8xf32, {dims = ["s", "b"]}>, tensor<i64>) -> tensor<?x8xf32, {dims = ["b"]}>
    %23 = "tgn.dot"(%17, %2) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [1]}, out = "f32"}> : (tensor<?x2xf32, {dims = ["b"]}>, tensor<8x2xf32>) -> tensor<?x8xf32, {dims = ["b"]}>
    %24 = "tgn.elementwise"(%22, %23) <{f = "add"}> : (tensor<?x8xf32, {dims = ["b"]}>, tensor<?x8xf32, {dims = ["b"]}>) -> tensor<?x8xf32, {dims = ["b"]}>
    %25 = "tgn.slice"(%24) <{starts = [0, 0], sizes = ["b", 2], steps = [1, 1]}> : (tensor<?x8xf32, {dims = ["b"]}>) -> tensor<?x2xf32, {dims = ["b"]}>
    %26 = "tgn.slice"(%24) <{starts = [0, 2], sizes = ["b", 2], steps = [1, 1]}> : (tensor<?x8xf32, {dims = ["b"]}>) -> tensor<?x2xf32, {dims = ["b"]}>
    %27 = "tgn.slice"(%24) <{starts = [0, 4], sizes = ["b", 2], steps = [1, 1]}> : (tensor<?x8xf32, {dims = ["b"]}>) -> tensor<?x2xf32, {dims = ["b"]}>
    %28 = "tgn.slice"(%24) <{starts = [0, 6], sizes = ["b", 2], steps = [1, 1]}> : (tensor<?x8xf32, {dims = ["b"]}>) -> tensor<?x2xf32, {dims = ["b"]}>
    %29 = "tgn.elementwise"(%26) <{f = "sigmoid"}> : (tensor<?x2xf32, {dims = ["b"]}>) -> tensor<?x2xf32, {dims = ["b"]}>
    %30 = "tgn.elementwise"(%25) <{f = "sigmoid"}> : (tensor<?x2xf32, {dims = ["b"]}>) -> tensor<?x2xf32, {dims = ["b"]}>
    %31 = "tgn.elementwise"(%27) <{f = "sigmoid"}> : (tensor<?x2xf32, {dims = ["b"]}>) -> tensor<?x2xf32, {dims = ["b"]}>
    %32 = "tgn.elementwise"(%28) <{f = "tanh"}> : (tensor<?x2xf32, {dims = ["b"]}>) -> tensor<?x2xf32, {dims = ["b"]}>
    %33 = "tgn.elementwise"(%31, %18) <{f = "mul"}> : (tensor<?x2xf32, {dims = ["b"]}>, tensor<?x2xf32, {dims = ["b"]}>) -> tensor<?x2xf32, {dims = ["b"]}>
    %34 = "tgn.elementwise"(%30, %32) <{f = "mul"}> : (tensor<?x2xf32, {dims = ["b"]}>, tensor<?x2xf32, {dims = ["b"]}>) -> tensor<?x2xf32, {dims = ["b"]}>
    %35 = "tgn.elementwise"(%33, %34) <{f = "add"}> : (tensor<?x2xf32, {dims = ["b"]}>, tensor<?x2xf32, {dims = ["b"]}>) -> tensor<?x2xf32, {dims = ["b"]}>
    %36 = "tgn.elementwise"(%35) <{f = "tanh"}> : (tensor<?x2xf32, {dims = ["b"]}>) -> tensor<?x2xf32, {dims = ["b"]}>
    %37 = "tgn.elementwise"(%29, %36) <{f = "mul"}> : (tensor<?x2xf32, {dims = ["b"]}>, tensor<?x2xf32, {dims = ["b"]}>) -> tensor<?x2xf32, {dims = ["b"]}>
    %38 = "tgn.splat"() <{dtype = "bool", shape = [], bits = 1}> : () -> tensor<i1>
    "tgn.yield"(%38, %37, %35, %37) : (tensor<i1>, tensor<?x2xf32, {dims = ["b"]}>, tensor<?x2xf32, {dims = ["b"]}>, tensor<?x2xf32, {dims = ["b"]}>) -> ()
  }) : (tensor<i1>, tensor<?x2xf32, {dims = ["b"]}>, tensor<?x2xf32, {dims = ["b"]}>) -> (tensor<i64>, tensor<?x2xf32, {dims = ["b"]}>, tensor<?x2xf32, {dims = ["b"]}>, tensor<?x?x2xf32, {dims = ["s", "b"]}>)
  %43 = "tgn.slice"(%42) <{starts = ["s - 1", 0, 0], sizes = ["s", "b", 2], steps = [-1, 1, 1]}> : (tensor<?x?x2xf32, {dims = ["s", "b"]}>) -> tensor<?x?x2xf32, {dims = ["s", "b"]}>
  "tgn.return"(%43, %40, %41) : (tensor<?x?x2xf32, {dims = ["s", "b"]}>, tensor<?x2xf32, {dims = ["b"]}>, tensor<?x2xf32, {dims = ["b"]}>) -> ()
}) : () -> ()
