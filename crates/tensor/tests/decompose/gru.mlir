// gru {direction = "forward", linear_before_reset = true} : f32[s,b,3] f32[6,3] f32[6,2] f32[12] f32[b,2]
"tgn.func"() <{sym_name = "gru", arg_names = [], result_names = []}> ({
^bb0(%0: tensor<?x?x3xf32, {dims = ["s", "b"]}>, %1: tensor<6x3xf32>, %2: tensor<6x2xf32>, %3: tensor<12xf32>, %4: tensor<?x2xf32, {dims = ["b"]}>):
  %7 = "tgn.slice"(%3) <{starts = [0], sizes = [6], steps = [1]}> : (tensor<12xf32>) -> tensor<6xf32>
  %8 = "tgn.slice"(%3) <{starts = [6], sizes = [6], steps = [1]}> : (tensor<12xf32>) -> tensor<6xf32>
  %9 = "tgn.dot"(%0, %1) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [2], rhs_contract = [1]}, out = "f32"}> : (tensor<?x?x3xf32, {dims = ["s", "b"]}>, tensor<6x3xf32>) -> tensor<?x?x6xf32, {dims = ["s", "b"]}>
  %10 = "tgn.reshape"(%7) <{shape = [1, 1, 6]}> : (tensor<6xf32>) -> tensor<1x1x6xf32>
  %11 = "tgn.elementwise"(%9, %10) <{f = "add"}> : (tensor<?x?x6xf32, {dims = ["s", "b"]}>, tensor<1x1x6xf32>) -> tensor<?x?x6xf32, {dims = ["s", "b"]}>
  %12 = "tgn.slice"(%2) <{starts = [0, 0], sizes = [2, 2], steps = [1, 1]}> : (tensor<6x2xf32>) -> tensor<2x2xf32>
  %13 = "tgn.slice"(%2) <{starts = [2, 0], sizes = [2, 2], steps = [1, 1]}> : (tensor<6x2xf32>) -> tensor<2x2xf32>
  %14 = "tgn.slice"(%2) <{starts = [4, 0], sizes = [2, 2], steps = [1, 1]}> : (tensor<6x2xf32>) -> tensor<2x2xf32>
  %15 = "tgn.slice"(%8) <{starts = [0], sizes = [2], steps = [1]}> : (tensor<6xf32>) -> tensor<2xf32>
  %16 = "tgn.slice"(%8) <{starts = [2], sizes = [2], steps = [1]}> : (tensor<6xf32>) -> tensor<2xf32>
  %17 = "tgn.slice"(%8) <{starts = [4], sizes = [2], steps = [1]}> : (tensor<6xf32>) -> tensor<2xf32>
  %18 = "tgn.splat"() <{dtype = "bool", shape = [], bits = 1}> : () -> tensor<i1>
  %48, %49, %50 = "tgn.loop"(%18, %4) <{trip = "s", stacked = 1}> ({
  ^bb0(%19: tensor<i64>, %20: tensor<?x2xf32, {dims = ["b"]}>):
    %21 = "tgn.gather"(%11, %19) <{axis = 0}> : (tensor<?x?x6xf32, {dims = ["s", "b"]}>, tensor<i64>) -> tensor<?x6xf32, {dims = ["b"]}>
    %22 = "tgn.slice"(%21) <{starts = [0, 0], sizes = ["b", 2], steps = [1, 1]}> : (tensor<?x6xf32, {dims = ["b"]}>) -> tensor<?x2xf32, {dims = ["b"]}>
    %23 = "tgn.slice"(%21) <{starts = [0, 2], sizes = ["b", 2], steps = [1, 1]}> : (tensor<?x6xf32, {dims = ["b"]}>) -> tensor<?x2xf32, {dims = ["b"]}>
    %24 = "tgn.slice"(%21) <{starts = [0, 4], sizes = ["b", 2], steps = [1, 1]}> : (tensor<?x6xf32, {dims = ["b"]}>) -> tensor<?x2xf32, {dims = ["b"]}>
    %25 = "tgn.dot"(%20, %12) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [1]}, out = "f32"}> : (tensor<?x2xf32, {dims = ["b"]}>, tensor<2x2xf32>) -> tensor<?x2xf32, {dims = ["b"]}>
    %26 = "tgn.reshape"(%15) <{shape = [1, 2]}> : (tensor<2xf32>) -> tensor<1x2xf32>
    %27 = "tgn.elementwise"(%25, %26) <{f = "add"}> : (tensor<?x2xf32, {dims = ["b"]}>, tensor<1x2xf32>) -> tensor<?x2xf32, {dims = ["b"]}>
    %28 = "tgn.elementwise"(%22, %27) <{f = "add"}> : (tensor<?x2xf32, {dims = ["b"]}>, tensor<?x2xf32, {dims = ["b"]}>) -> tensor<?x2xf32, {dims = ["b"]}>
    %29 = "tgn.elementwise"(%28) <{f = "sigmoid"}> : (tensor<?x2xf32, {dims = ["b"]}>) -> tensor<?x2xf32, {dims = ["b"]}>
    %30 = "tgn.dot"(%20, %13) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [1]}, out = "f32"}> : (tensor<?x2xf32, {dims = ["b"]}>, tensor<2x2xf32>) -> tensor<?x2xf32, {dims = ["b"]}>
    %31 = "tgn.reshape"(%16) <{shape = [1, 2]}> : (tensor<2xf32>) -> tensor<1x2xf32>
    %32 = "tgn.elementwise"(%30, %31) <{f = "add"}> : (tensor<?x2xf32, {dims = ["b"]}>, tensor<1x2xf32>) -> tensor<?x2xf32, {dims = ["b"]}>
    %33 = "tgn.elementwise"(%23, %32) <{f = "add"}> : (tensor<?x2xf32, {dims = ["b"]}>, tensor<?x2xf32, {dims = ["b"]}>) -> tensor<?x2xf32, {dims = ["b"]}>
    %34 = "tgn.elementwise"(%33) <{f = "sigmoid"}> : (tensor<?x2xf32, {dims = ["b"]}>) -> tensor<?x2xf32, {dims = ["b"]}>
    %35 = "tgn.dot"(%20, %14) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [1]}, out = "f32"}> : (tensor<?x2xf32, {dims = ["b"]}>, tensor<2x2xf32>) -> tensor<?x2xf32, {dims = ["b"]}>
    %36 = "tgn.reshape"(%17) <{shape = [1, 2]}> : (tensor<2xf32>) -> tensor<1x2xf32>
    %37 = "tgn.elementwise"(%35, %36) <{f = "add"}> : (tensor<?x2xf32, {dims = ["b"]}>, tensor<1x2xf32>) -> tensor<?x2xf32, {dims = ["b"]}>
    %38 = "tgn.elementwise"(%34, %37) <{f = "mul"}> : (tensor<?x2xf32, {dims = ["b"]}>, tensor<?x2xf32, {dims = ["b"]}>) -> tensor<?x2xf32, {dims = ["b"]}>
    %39 = "tgn.elementwise"(%24, %38) <{f = "add"}> : (tensor<?x2xf32, {dims = ["b"]}>, tensor<?x2xf32, {dims = ["b"]}>) -> tensor<?x2xf32, {dims = ["b"]}>
    %40 = "tgn.elementwise"(%39) <{f = "tanh"}> : (tensor<?x2xf32, {dims = ["b"]}>) -> tensor<?x2xf32, {dims = ["b"]}>
    %41 = "tgn.elementwise"(%29) <{f = "neg"}> : (tensor<?x2xf32, {dims = ["b"]}>) -> tensor<?x2xf32, {dims = ["b"]}>
    %42 = "tgn.splat"() <{dtype = "f32", shape = [1, 1], bits = 1065353216}> : () -> tensor<1x1xf32>
    %43 = "tgn.elementwise"(%41, %42) <{f = "add"}> : (tensor<?x2xf32, {dims = ["b"]}>, tensor<1x1xf32>) -> tensor<?x2xf32, {dims = ["b"]}>
    %44 = "tgn.elementwise"(%43, %40) <{f = "mul"}> : (tensor<?x2xf32, {dims = ["b"]}>, tensor<?x2xf32, {dims = ["b"]}>) -> tensor<?x2xf32, {dims = ["b"]}>
    %45 = "tgn.elementwise"(%29, %20) <{f = "mul"}> : (tensor<?x2xf32, {dims = ["b"]}>, tensor<?x2xf32, {dims = ["b"]}>) -> tensor<?x2xf32, {dims = ["b"]}>
    %46 = "tgn.elementwise"(%44, %45) <{f = "add"}> : (tensor<?x2xf32, {dims = ["b"]}>, tensor<?x2xf32, {dims = ["b"]}>) -> tensor<?x2xf32, {dims = ["b"]}>
    %47 = "tgn.splat"() <{dtype = "bool", shape = [], bits = 1}> : () -> tensor<i1>
    "tgn.yield"(%47, %46, %46) : (tensor<i1>, tensor<?x2xf32, {dims = ["b"]}>, tensor<?x2xf32, {dims = ["b"]}>) -> ()
  }) : (tensor<i1>, tensor<?x2xf32, {dims = ["b"]}>) -> (tensor<i64>, tensor<?x2xf32, {dims = ["b"]}>, tensor<?x?x2xf32, {dims = ["s", "b"]}>)
  "tgn.return"(%50, %49) : (tensor<?x?x2xf32, {dims = ["s", "b"]}>, tensor<?x2xf32, {dims = ["b"]}>) -> ()
}) : () -> ()
