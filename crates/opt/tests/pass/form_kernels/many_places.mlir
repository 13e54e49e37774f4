// A value that a chain reads beside itself, twice a link, is stored where it would be computed at more than 16 places.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%y0: tensor<4x8xf32>):
    %zero = "tgn.splat"() <{dtype = "f32", shape = [], bits = 0}> : () -> tensor<f32>
    %s0 = "tgn.slice"(%y0) <{starts = [0, 1], sizes = [4, 7], steps = [1, 1]}> : (tensor<4x8xf32>) -> tensor<4x7xf32>
    %p0 = "tgn.pad"(%s0, %zero) <{low = [0, 0], high = [0, 1], mode = "constant"}> : (tensor<4x7xf32>, tensor<f32>) -> tensor<4x8xf32>
    %y1 = "tgn.elementwise"(%y0, %p0) <{f = "mul"}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %s1 = "tgn.slice"(%y1) <{starts = [0, 1], sizes = [4, 7], steps = [1, 1]}> : (tensor<4x8xf32>) -> tensor<4x7xf32>
    %p1 = "tgn.pad"(%s1, %zero) <{low = [0, 0], high = [0, 1], mode = "constant"}> : (tensor<4x7xf32>, tensor<f32>) -> tensor<4x8xf32>
    %y2 = "tgn.elementwise"(%y1, %p1) <{f = "mul"}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %s2 = "tgn.slice"(%y2) <{starts = [0, 1], sizes = [4, 7], steps = [1, 1]}> : (tensor<4x8xf32>) -> tensor<4x7xf32>
    %p2 = "tgn.pad"(%s2, %zero) <{low = [0, 0], high = [0, 1], mode = "constant"}> : (tensor<4x7xf32>, tensor<f32>) -> tensor<4x8xf32>
    %y3 = "tgn.elementwise"(%y2, %p2) <{f = "mul"}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %s3 = "tgn.slice"(%y3) <{starts = [0, 1], sizes = [4, 7], steps = [1, 1]}> : (tensor<4x8xf32>) -> tensor<4x7xf32>
    %p3 = "tgn.pad"(%s3, %zero) <{low = [0, 0], high = [0, 1], mode = "constant"}> : (tensor<4x7xf32>, tensor<f32>) -> tensor<4x8xf32>
    %y4 = "tgn.elementwise"(%y3, %p3) <{f = "mul"}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %s4 = "tgn.slice"(%y4) <{starts = [0, 1], sizes = [4, 7], steps = [1, 1]}> : (tensor<4x8xf32>) -> tensor<4x7xf32>
    %p4 = "tgn.pad"(%s4, %zero) <{low = [0, 0], high = [0, 1], mode = "constant"}> : (tensor<4x7xf32>, tensor<f32>) -> tensor<4x8xf32>
    %y5 = "tgn.elementwise"(%y4, %p4) <{f = "mul"}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %s5 = "tgn.slice"(%y5) <{starts = [0, 1], sizes = [4, 7], steps = [1, 1]}> : (tensor<4x8xf32>) -> tensor<4x7xf32>
    %p5 = "tgn.pad"(%s5, %zero) <{low = [0, 0], high = [0, 1], mode = "constant"}> : (tensor<4x7xf32>, tensor<f32>) -> tensor<4x8xf32>
    %y6 = "tgn.elementwise"(%y5, %p5) <{f = "mul"}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    "tgn.return"(%y6) : (tensor<4x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// fused pad into mul
// fused slice into mul
// fused mul into mul
// fused pad into mul
// fused slice into mul
// fused mul into mul
// fused pad into mul
// fused slice into mul
// fused mul into mul
// fused pad into mul
// fused slice into mul
// fused mul into mul
// fused pad into mul
// fused slice into mul
// not fused into mul: it would be computed at 32 places
// fused pad into mul
// fused slice into mul
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<4x8xf32>):
    %20 = "tgn.kernel"(%0) <{class = "map"}> ({
    ^bb0(%21: tensor<4x8xf32>):
      %22 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 0}> : () -> tensor<f32>
      %2 = "tgn.slice"(%21) <{starts = [0, 1], sizes = [4, 7], steps = [1, 1]}> : (tensor<4x8xf32>) -> tensor<4x7xf32>
      %3 = "tgn.pad"(%2, %22) <{low = [0, 0], high = [0, 1], mode = "constant"}> : (tensor<4x7xf32>, tensor<f32>) -> tensor<4x8xf32>
      %4 = "tgn.elementwise"(%21, %3) <{f = "mul"}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
      "tgn.yield"(%4) : (tensor<4x8xf32>) -> ()
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %23 = "tgn.kernel"(%20) <{class = "map"}> ({
    ^bb0(%24: tensor<4x8xf32>):
      %25 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 0}> : () -> tensor<f32>
      %5 = "tgn.slice"(%24) <{starts = [0, 1], sizes = [4, 7], steps = [1, 1]}> : (tensor<4x8xf32>) -> tensor<4x7xf32>
      %6 = "tgn.pad"(%5, %25) <{low = [0, 0], high = [0, 1], mode = "constant"}> : (tensor<4x7xf32>, tensor<f32>) -> tensor<4x8xf32>
      %7 = "tgn.elementwise"(%24, %6) <{f = "mul"}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
      %8 = "tgn.slice"(%7) <{starts = [0, 1], sizes = [4, 7], steps = [1, 1]}> : (tensor<4x8xf32>) -> tensor<4x7xf32>
      %9 = "tgn.pad"(%8, %25) <{low = [0, 0], high = [0, 1], mode = "constant"}> : (tensor<4x7xf32>, tensor<f32>) -> tensor<4x8xf32>
      %10 = "tgn.elementwise"(%7, %9) <{f = "mul"}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
      %11 = "tgn.slice"(%10) <{starts = [0, 1], sizes = [4, 7], steps = [1, 1]}> : (tensor<4x8xf32>) -> tensor<4x7xf32>
      %12 = "tgn.pad"(%11, %25) <{low = [0, 0], high = [0, 1], mode = "constant"}> : (tensor<4x7xf32>, tensor<f32>) -> tensor<4x8xf32>
      %13 = "tgn.elementwise"(%10, %12) <{f = "mul"}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
      %14 = "tgn.slice"(%13) <{starts = [0, 1], sizes = [4, 7], steps = [1, 1]}> : (tensor<4x8xf32>) -> tensor<4x7xf32>
      %15 = "tgn.pad"(%14, %25) <{low = [0, 0], high = [0, 1], mode = "constant"}> : (tensor<4x7xf32>, tensor<f32>) -> tensor<4x8xf32>
      %16 = "tgn.elementwise"(%13, %15) <{f = "mul"}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
      %17 = "tgn.slice"(%16) <{starts = [0, 1], sizes = [4, 7], steps = [1, 1]}> : (tensor<4x8xf32>) -> tensor<4x7xf32>
      %18 = "tgn.pad"(%17, %25) <{low = [0, 0], high = [0, 1], mode = "constant"}> : (tensor<4x7xf32>, tensor<f32>) -> tensor<4x8xf32>
      %19 = "tgn.elementwise"(%16, %18) <{f = "mul"}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
      "tgn.yield"(%19) : (tensor<4x8xf32>) -> ()
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    "tgn.return"(%23) : (tensor<4x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()
