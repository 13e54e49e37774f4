// A module with a function, as upstream prints it in generic form.
#map = affine_map<(d0, d1) -> (d1, d0)>
"builtin.module"() <{sym_name = "m"}> ({
  "func.func"() <{arg_attrs = [{d.name = "x"}, {}], function_type = (tensor<?x4xf32>, i32) -> tensor<4x?xf32>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<?x4xf32>, %arg1: i32):
    %0 = "arith.constant"() <{value = 1 : index}> : () -> index
    %1 = "tgn.transpose"(%arg0, %0) <{permutation = array<i64: 1, 0>, map = #map}> : (tensor<?x4xf32>, index) -> tensor<4x?xf32>
    "func.return"(%1) : (tensor<4x?xf32>) -> ()
  }) {d.entry} : () -> ()
}) {d.flag} : () -> ()
// -----
#map = affine_map<(d0, d1) -> (d1, d0)>
"builtin.module"() <{sym_name = "m"}> ({
  "func.func"() <{arg_attrs = [{d.name = "x"}, {}], function_type = (tensor<?x4xf32>, i32) -> tensor<4x?xf32>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<?x4xf32>, %arg1: i32):
    %0 = "arith.constant"() <{value = 1 : index}> : () -> index
    %1 = "tgn.transpose"(%arg0, %0) <{permutation = array<i64: 1, 0>, map = #map}> : (tensor<?x4xf32>, index) -> tensor<4x?xf32>
    "func.return"(%1) : (tensor<4x?xf32>) -> ()
  }) {d.entry} : () -> ()
}) {d.flag} : () -> ()
