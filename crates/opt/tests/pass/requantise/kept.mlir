// Unchanged: one multiply-add already; ties that fall otherwise, since a step rounds them; a function of two bytes; rounded
// numbers that are not only cast.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "y"], result_names = ["r0", "r1", "r2", "r3", "r4"]}> ({
  ^bb0(%x: tensor<2x3x4xui8>, %y: tensor<2x3x4xui8>):
    %v1 = "tgn.elementwise"(%x) <{f = "cast:f32"}> : (tensor<2x3x4xui8>) -> tensor<2x3x4xf32>
    %c2 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1056964608}> : () -> tensor<1x1x1xf32>
    %c3 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1077936128}> : () -> tensor<1x1x1xf32>
    %v4 = "tgn.elementwise"(%v1, %c2, %c3) <{f = "fma"}> : (tensor<2x3x4xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> tensor<2x3x4xf32>
    %v5 = "tgn.elementwise"(%v4) <{f = "round"}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %v6 = "tgn.elementwise"(%v5) <{f = "cast:u8"}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xui8> loc("one_already")
    %v7 = "tgn.elementwise"(%x) <{f = "cast:f32"}> : (tensor<2x3x4xui8>) -> tensor<2x3x4xf32>
    %c8 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1056964608}> : () -> tensor<1x1x1xf32>
    %v9 = "tgn.elementwise"(%v7, %c8) <{f = "mul"}> : (tensor<2x3x4xf32>, tensor<1x1x1xf32>) -> tensor<2x3x4xf32>
    %c10 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1258291200}> : () -> tensor<1x1x1xf32>
    %v11 = "tgn.elementwise"(%v9, %c10) <{f = "add"}> : (tensor<2x3x4xf32>, tensor<1x1x1xf32>) -> tensor<2x3x4xf32>
    %c12 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1258291198}> : () -> tensor<1x1x1xf32>
    %v13 = "tgn.elementwise"(%v11, %c12) <{f = "sub"}> : (tensor<2x3x4xf32>, tensor<1x1x1xf32>) -> tensor<2x3x4xf32>
    %v14 = "tgn.elementwise"(%v13) <{f = "round"}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %v15 = "tgn.elementwise"(%v14) <{f = "cast:u8"}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xui8> loc("other_ties")
    %v16 = "tgn.elementwise"(%x) <{f = "cast:f32"}> : (tensor<2x3x4xui8>) -> tensor<2x3x4xf32>
    %v17 = "tgn.elementwise"(%y) <{f = "cast:f32"}> : (tensor<2x3x4xui8>) -> tensor<2x3x4xf32>
    %c18 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1050253722}> : () -> tensor<1x1x1xf32>
    %v19 = "tgn.elementwise"(%v16, %c18) <{f = "mul"}> : (tensor<2x3x4xf32>, tensor<1x1x1xf32>) -> tensor<2x3x4xf32>
    %v20 = "tgn.elementwise"(%v19, %v17) <{f = "add"}> : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %v21 = "tgn.elementwise"(%v20) <{f = "round"}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %v22 = "tgn.elementwise"(%v21) <{f = "cast:u8"}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xui8> loc("of_two")
    %v23 = "tgn.elementwise"(%x) <{f = "cast:f32"}> : (tensor<2x3x4xui8>) -> tensor<2x3x4xf32>
    %c24 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1050253722}> : () -> tensor<1x1x1xf32>
    %v25 = "tgn.elementwise"(%v23, %c24) <{f = "mul"}> : (tensor<2x3x4xf32>, tensor<1x1x1xf32>) -> tensor<2x3x4xf32>
    %c26 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1], bits = 1036831949}> : () -> tensor<1x1x1xf32>
    %v27 = "tgn.elementwise"(%v25, %c26) <{f = "add"}> : (tensor<2x3x4xf32>, tensor<1x1x1xf32>) -> tensor<2x3x4xf32>
    %v28 = "tgn.elementwise"(%v27) <{f = "round"}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
    %v29 = "tgn.elementwise"(%v28) <{f = "cast:u8"}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xui8> loc("seen_in_floats")
    "tgn.return"(%v6, %v15, %v22, %v29, %v28) : (tensor<2x3x4xui8>, tensor<2x3x4xui8>, tensor<2x3x4xui8>, tensor<2x3x4xui8>, tensor<2x3x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// unchanged
