// Borders of the last axis that are known to be there once stand beside it; others, and whole rows, are gathered.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "z"], result_names = ["y", "w", "e", "f", "g"]}> ({
  ^bb0(%x: tensor<?x4xf32, {dims = ["n"]}>, %z: tensor<3x4xf32>):
    %y = "tgn.pad"(%x) <{low = [0, 2], high = [0, 1], mode = "reflect"}> : (tensor<?x4xf32, {dims = ["n"]}>) -> tensor<?x7xf32, {dims = ["n"]}> loc("y")
    %w = "tgn.pad"(%z) <{low = [1, 0], high = [0, 4], mode = "wrap"}> : (tensor<3x4xf32>) -> tensor<4x8xf32> loc("w")
    %e = "tgn.pad"(%z) <{low = [0, 1], high = [0, 1], mode = "edge"}> : (tensor<3x4xf32>) -> tensor<3x6xf32> loc("e")
    %f = "tgn.pad"(%z) <{low = [0, 2], high = [0, 0], mode = "edge"}> : (tensor<3x4xf32>) -> tensor<3x6xf32> loc("f")
    %g = "tgn.pad"(%z) <{low = [0, 4], high = [0, 0], mode = "reflect"}> : (tensor<3x4xf32>) -> tensor<3x8xf32> loc("g")
    "tgn.return"(%y, %w, %e, %f, %g) : (tensor<?x7xf32, {dims = ["n"]}>, tensor<4x8xf32>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<3x8xf32>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {axis = 0, input = 0}}} : () -> ()
// -----
// y: decomposed pad: the target takes its decomposition
// w: decomposed pad: the target takes its decomposition
// e: decomposed pad: the target takes its decomposition
// f: decomposed pad: the target takes its decomposition
// g: decomposed pad: the target takes its decomposition
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "z"], result_names = ["y", "w", "e", "f", "g"]}> ({
  ^bb0(%0: tensor<?x4xf32, {dims = ["n"]}>, %1: tensor<3x4xf32>):
    %7 = "tgn.slice"(%0) <{starts = [0, 2], sizes = ["n", 2], steps = [1, -1]}> : (tensor<?x4xf32, {dims = ["n"]}>) -> tensor<?x2xf32, {dims = ["n"]}> loc("y")
    %8 = "tgn.slice"(%0) <{starts = [0, 2], sizes = ["n", 1], steps = [1, -1]}> : (tensor<?x4xf32, {dims = ["n"]}>) -> tensor<?x1xf32, {dims = ["n"]}> loc("y")
    %9 = "tgn.concat"(%7, %0, %8) <{axis = 1}> : (tensor<?x2xf32, {dims = ["n"]}>, tensor<?x4xf32, {dims = ["n"]}>, tensor<?x1xf32, {dims = ["n"]}>) -> tensor<?x7xf32, {dims = ["n"]}> loc("y")
    %10 = "tgn.iota"() <{dtype = "i64", shape = [4], axis = 0}> : () -> tensor<4xi64> loc("w")
    %11 = "tgn.splat"() <{dtype = "i64", shape = [1], bits = 1}> : () -> tensor<1xi64> loc("w")
    %12 = "tgn.elementwise"(%10, %11) <{f = "sub"}> : (tensor<4xi64>, tensor<1xi64>) -> tensor<4xi64> loc("w")
    %13 = "tgn.splat"() <{dtype = "i64", shape = [1], bits = 3}> : () -> tensor<1xi64> loc("w")
    %14 = "tgn.elementwise"(%12, %13) <{f = "mod"}> : (tensor<4xi64>, tensor<1xi64>) -> tensor<4xi64> loc("w")
    %15 = "tgn.gather"(%1, %14) <{axis = 0}> : (tensor<3x4xf32>, tensor<4xi64>) -> tensor<4x4xf32> loc("w")
    %16 = "tgn.concat"(%15, %15) <{axis = 1}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32> loc("w")
    %17 = "tgn.slice"(%1) <{starts = [0, 0], sizes = [3, 1], steps = [1, 1]}> : (tensor<3x4xf32>) -> tensor<3x1xf32> loc("e")
    %18 = "tgn.slice"(%1) <{starts = [0, 3], sizes = [3, 1], steps = [1, 1]}> : (tensor<3x4xf32>) -> tensor<3x1xf32> loc("e")
    %19 = "tgn.concat"(%17, %1, %18) <{axis = 1}> : (tensor<3x1xf32>, tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x6xf32> loc("e")
    %20 = "tgn.iota"() <{dtype = "i64", shape = [6], axis = 0}> : () -> tensor<6xi64> loc("f")
    %21 = "tgn.splat"() <{dtype = "i64", shape = [1], bits = 2}> : () -> tensor<1xi64> loc("f")
    %22 = "tgn.elementwise"(%20, %21) <{f = "sub"}> : (tensor<6xi64>, tensor<1xi64>) -> tensor<6xi64> loc("f")
    %23 = "tgn.splat"() <{dtype = "i64", shape = [1], bits = 3}> : () -> tensor<1xi64> loc("f")
    %24 = "tgn.splat"() <{dtype = "i64", shape = [1], bits = 0}> : () -> tensor<1xi64> loc("f")
    %25 = "tgn.elementwise"(%22, %24) <{f = "max"}> : (tensor<6xi64>, tensor<1xi64>) -> tensor<6xi64> loc("f")
    %26 = "tgn.elementwise"(%25, %23) <{f = "min"}> : (tensor<6xi64>, tensor<1xi64>) -> tensor<6xi64> loc("f")
    %27 = "tgn.gather"(%1, %26) <{axis = 1}> : (tensor<3x4xf32>, tensor<6xi64>) -> tensor<3x6xf32> loc("f")
    %28 = "tgn.iota"() <{dtype = "i64", shape = [8], axis = 0}> : () -> tensor<8xi64> loc("g")
    %29 = "tgn.splat"() <{dtype = "i64", shape = [1], bits = 4}> : () -> tensor<1xi64> loc("g")
    %30 = "tgn.elementwise"(%28, %29) <{f = "sub"}> : (tensor<8xi64>, tensor<1xi64>) -> tensor<8xi64> loc("g")
    %31 = "tgn.splat"() <{dtype = "i64", shape = [1], bits = 6}> : () -> tensor<1xi64> loc("g")
    %32 = "tgn.elementwise"(%30, %31) <{f = "mod"}> : (tensor<8xi64>, tensor<1xi64>) -> tensor<8xi64> loc("g")
    %33 = "tgn.elementwise"(%31, %32) <{f = "sub"}> : (tensor<1xi64>, tensor<8xi64>) -> tensor<8xi64> loc("g")
    %34 = "tgn.elementwise"(%32, %33) <{f = "min"}> : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi64> loc("g")
    %35 = "tgn.gather"(%1, %34) <{axis = 1}> : (tensor<3x4xf32>, tensor<8xi64>) -> tensor<3x8xf32> loc("g")
    "tgn.return"(%9, %16, %19, %27, %35) : (tensor<?x7xf32, {dims = ["n"]}>, tensor<4x8xf32>, tensor<3x6xf32>, tensor<3x6xf32>, tensor<3x8xf32>) -> ()
  }) : () -> ()
}) {tgn.symbols = {n = {input = 0, axis = 0}}} : () -> ()
