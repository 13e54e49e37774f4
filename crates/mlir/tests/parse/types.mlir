// Every built-in type.
"t.types"() {
  integers = [i1, si8, ui16, i0, i16777215], index = index, none = none,
  floats = [f16, bf16, f32, f64, tf32, f80, f128, f8E5M2, f8E4M3, f8E4M3FN, f8E5M2FNUZ, f8E4M3FNUZ, f8E4M3B11FNUZ, f8E3M4, f8E8M0FNU, f6E2M3FN, f6E3M2FN, f4E2M1FN],
  complex = complex<f32>, tuples = [tuple<>, tuple<i32>, tuple<i32, tuple<f32, index>>],
  functions = [() -> (), (i32) -> i32, (i32, f32) -> (i32, f32), () -> (() -> i32), ((i32) -> i32) -> ((i32) -> (i32))],
  tensors = [tensor<f32>, tensor<2x?x0xf32>, tensor<0xi32>, tensor<0x0xf32>, tensor<?xcomplex<f32>>, tensor<*xbf16>,
    tensor<1x!d.custom<"x">>, tensor<4xf32, #d.encoding<a -> b>>, tensor<2xf32, "row">, tensor<2 x 3 x f32>],
  vectors = [vector<f32>, vector<4xf32>, vector<4x[8]xi8>, vector<[2]x[4]xindex>],
  memrefs = [memref<f32>, memref<2x?xf32>, memref<2x3xf32, strided<[3,1], offset: ?>>, memref<4xf32, 3>, memref<4xf32, affine_map<(d0) -> (d0)>, 1 : i32>,
    memref<*xf32>, memref<*xi8, 2 : i64>, memref<2xmemref<3xf32>>]
} : () -> ()
// -----
"t.types"() {integers = [i1, si8, ui16, i0, i16777215], index = index, none = none, floats = [f16, bf16, f32, f64, tf32, f80, f128, f8E5M2, f8E4M3, f8E4M3FN, f8E5M2FNUZ, f8E4M3FNUZ, f8E4M3B11FNUZ, f8E3M4, f8E8M0FNU, f6E2M3FN, f6E3M2FN, f4E2M1FN], complex = complex<f32>, tuples = [tuple<>, tuple<i32>, tuple<i32, tuple<f32, index>>], functions = [() -> (), (i32) -> i32, (i32, f32) -> (i32, f32), () -> (() -> i32), ((i32) -> i32) -> ((i32) -> i32)], tensors = [tensor<f32>, tensor<2x?x0xf32>, tensor<0xi32>, tensor<0x0xf32>, tensor<?xcomplex<f32>>, tensor<*xbf16>, tensor<1x!d.custom<"x">>, tensor<4xf32, #d.encoding<a -> b>>, tensor<2xf32, "row">, tensor<2x3xf32>], vectors = [vector<f32>, vector<4xf32>, vector<4x[8]xi8>, vector<[2]x[4]xindex>], memrefs = [memref<f32>, memref<2x?xf32>, memref<2x3xf32, strided<[3,1], offset: ?>>, memref<4xf32, 3>, memref<4xf32, affine_map<(d0) -> (d0)>, 1 : i32>, memref<*xf32>, memref<*xi8, 2 : i64>, memref<2xmemref<3xf32>>]} : () -> ()
