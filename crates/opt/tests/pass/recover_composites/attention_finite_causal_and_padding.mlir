// A finite causal mask beside another one: a row that the other hides whole sees all keys alike, also later ones.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v", "pad"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<1x2x4x8xf32>, %1: tensor<1x2x4x8xf32>, %2: tensor<1x2x4x8xf32>, %3: tensor<1x1x1x4xf32>):
    %5 = "tgn.constant"() <{id = dense_resource<const1> : tensor<1x1x4x4xf32>, dtype = "f32", shape = [1, 1, 4, 4]}> : () -> tensor<1x1x4x4xf32> loc("cadd")
    %8 = "tgn.transpose"(%1) <{perm = [0, 1, 3, 2]}> : (tensor<1x2x4x8xf32>) -> tensor<1x2x8x4xf32> loc("kt")
    %9 = "tgn.dot"(%0, %8) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<1x2x4x8xf32>, tensor<1x2x8x4xf32>) -> tensor<1x2x4x4xf32> loc("s0")
    %17 = "tgn.splat"() <{dtype = "f32", shape = [1, 1, 1, 1], bits = 1051931443}> : () -> tensor<1x1x1x1xf32> loc("s1")
    %11 = "tgn.elementwise"(%9, %17) <{f = "mul"}> : (tensor<1x2x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x2x4x4xf32> loc("s1")
    %12 = "tgn.elementwise"(%11, %5) <{f = "add"}> : (tensor<1x2x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> loc("s2")
    %13 = "tgn.elementwise"(%12, %3) <{f = "add"}> : (tensor<1x2x4x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x2x4x4xf32> loc("s3")
    %14 = "tgn.softmax"(%13) <{axis = 3, log = false}> : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> loc("w")
    %15 = "tgn.dot"(%14, %2) <{dims = {lhs_batch = [0, 1], rhs_batch = [0, 1], lhs_contract = [3], rhs_contract = [2]}, out = "f32"}> : (tensor<1x2x4x4xf32>, tensor<1x2x4x8xf32>) -> tensor<1x2x4x8xf32> loc("y")
    "tgn.return"(%15) : (tensor<1x2x4x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const1: "0x4000000000000000FFFF7FFFFFFF7FFFFFFF7FFF0000000000000000FFFF7FFFFFFF7FFF000000000000000000000000FFFF7FFF00000000000000000000000000000000"
    }
  }
#-}
// -----
// y: dot(softmax(dot(q, k) * scale + mask), v) => attention(q, k, v, mask)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["q", "k", "v", "pad"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<1x2x4x8xf32>, %1: tensor<1x2x4x8xf32>, %2: tensor<1x2x4x8xf32>, %3: tensor<1x1x1x4xf32>):
    %4 = "tgn.constant"() <{id = dense_resource<const0> : tensor<1x1x4x4xf32>, dtype = "f32", shape = [1, 1, 4, 4]}> : () -> tensor<1x1x4x4xf32> loc("cadd")
    %13 = "tgn.elementwise"(%4, %3) <{f = "add"}> : (tensor<1x1x4x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x1x4x4xf32> loc("s2")
    %14 = "tgn.attention"(%0, %1, %2, %13) <{scale = 3.499999940395355e-1 : f64, causal = false, window = 0, softcap = 0.0e0 : f64}> : (tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x1x4x4xf32>) -> tensor<1x2x4x8xf32> loc(fused[fused["s0", "y"], "kt", "s1", "s3", "w"])
    "tgn.return"(%14) : (tensor<1x2x4x8xf32>) -> ()
  }) : () -> ()
}) : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x4000000000000000FFFF7FFFFFFF7FFFFFFF7FFF0000000000000000FFFF7FFFFFFF7FFF000000000000000000000000FFFF7FFF00000000000000000000000000000000"
    }
  }
#-}
