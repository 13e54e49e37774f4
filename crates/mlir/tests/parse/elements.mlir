// Dense, sparse, resource and array attributes; literals stay as written.
"t.elements"() {
  splats = [dense<1> : tensor<4xi32>, dense<-1.5> : vector<2xf32>, dense<true> : tensor<i1>, dense<0x7FC00000> : tensor<2xf32>],
  lists = [dense<[1, -2, 0x3]> : tensor<3xi32>, dense<[[1.0, 2.5e1], [-0.0, 0xFF800000]]> : tensor<2x2xf32>, dense<[true, false]> : tensor<2xi1>],
  empty = [dense<> : tensor<0xf32>, dense<[]> : tensor<0xf32>, dense<[[], []]> : tensor<2x0xi32>],
  hex = [dense<"0x00000080000080bF"> : tensor<2xf32>, dense<"0xAB"> : vector<4xi8>, dense<"0x0102"> : tensor<2xui8>],
  complex = [dense<(1.0, -2.0)> : tensor<2xcomplex<f32>>, dense<[(1,2), (3, 4)]> : tensor<2xcomplex<i32>>],
  strings = [dense<"word"> : tensor<2x!d.str>, dense<"0xab"> : tensor<1x!d.str>, dense<["a\0Ab", "c\22>"]> : tensor<2x!d.str>],
  sparse = [sparse<[[0, 0], [1, 2]], [1, 5]> : tensor<3x4xi32>, sparse<0, 1.0> : vector<1xf32>, sparse<> : tensor<2xi32>],
  resources = [dense_resource<weights> : tensor<2xf32>, dense_resource<"layer 1/w:0"> : tensor<2x2xf32>],
  arrays = [array<i64>, array<i64: 1, -2, 0x10>, array<i1: true, false>, array<f32: 1.0, -2.5, 0x7F800000, 3.>, array<i8: 1>]
} : () -> ()
{-#
  dialect_resources: { builtin: { weights: "0x040000000000803F00000040", "layer 1/w:0": "0x04000000000000000000000000000000DEADBEEF" } },
  external_resources: { tool: { text: "a \"b\"", flag: true, "odd key": "0x0400000000" } }
#-}
// -----
"t.elements"() {splats = [dense<1> : tensor<4xi32>, dense<-1.5> : vector<2xf32>, dense<true> : tensor<i1>, dense<0x7FC00000> : tensor<2xf32>], lists = [dense<[1, -2, 0x3]> : tensor<3xi32>, dense<[[1.0, 2.5e1], [-0.0, 0xFF800000]]> : tensor<2x2xf32>, dense<[true, false]> : tensor<2xi1>], empty = [dense<> : tensor<0xf32>, dense<[]> : tensor<0xf32>, dense<[[], []]> : tensor<2x0xi32>], hex = [dense<"0x00000080000080BF"> : tensor<2xf32>, dense<"0xAB"> : vector<4xi8>, dense<"0x0102"> : tensor<2xui8>], complex = [dense<(1.0, -2.0)> : tensor<2xcomplex<f32>>, dense<[(1, 2), (3, 4)]> : tensor<2xcomplex<i32>>], strings = [dense<"word"> : tensor<2x!d.str>, dense<"0xab"> : tensor<1x!d.str>, dense<["a\0Ab", "c\22>"]> : tensor<2x!d.str>], sparse = [sparse<[[0, 0], [1, 2]], [1, 5]> : tensor<3x4xi32>, sparse<0, 1.0> : vector<1xf32>, sparse<> : tensor<2xi32>], resources = [dense_resource<weights> : tensor<2xf32>, dense_resource<"layer 1/w:0"> : tensor<2x2xf32>], arrays = [array<i64>, array<i64: 1, -2, 0x10>, array<i1: true, false>, array<f32: 1.0, -2.5, 0x7F800000, 3.>, array<i8: 1>]} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F00000040",
      "layer 1/w:0": "0x04000000000000000000000000000000DEADBEEF"
    }
  },
  external_resources: {
    tool: {
      text: "a \22b\22",
      flag: true,
      "odd key": "0x0400000000"
    }
  }
#-}
