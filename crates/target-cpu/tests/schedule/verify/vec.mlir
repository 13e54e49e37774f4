// Arity, kinds and lanes of arithmetic.
"tgc.func"() <{sym_name = "f", arg_names = [], result_names = []}> ({
  %a = "tgc.vec_const"() <{elem = "f32", lanes = 8, bits = 0}> : () -> vector<8xf32>
  %i = "tgc.const"() <{value = 1}> : () -> index
  %0 = "tgc.vec"(%a) <{op = "add"}> : (vector<8xf32>) -> vector<8xf32>
  %1 = "tgc.vec"(%a, %i) <{op = "add"}> : (vector<8xf32>, index) -> vector<8xf32>
  %2 = "tgc.vec"(%a, %a) <{op = "shl"}> : (vector<8xf32>, vector<8xf32>) -> vector<8xf32>
  %3 = "tgc.vec"(%a, %a) <{op = "sqrt"}> : (vector<8xf32>, vector<8xf32>) -> vector<8xf32>
  %4 = "tgc.vec_const"() <{elem = "f64", lanes = 16, bits = 0}> : () -> vector<16xf64>
  %5 = "tgc.vec_const"() <{elem = "f32", lanes = 3, bits = 0}> : () -> vector<3xf32>
  "tgc.return"() : () -> ()
}) : () -> ()
// -----
// error[invalid-ir]: vec_c1: operand 1 (b) is missing
//   --> function "f": %2 = tgc.vec
// error[invalid-ir]: vec_c1: operand 1 (b) must have the type of the one before
//   --> function "f": %3 = tgc.vec
// error[invalid-ir]: vec_c4: `shl` is not defined on f32
//   --> function "f": %4 = tgc.vec
// error[invalid-ir]: vec_c1: takes 1 operands, got 2
//   --> function "f": %5 = tgc.vec
// error[invalid-ir]: vec_const_c2: 16 lanes of f64 are no register
//   --> function "f": %6 = tgc.vec_const
// error[invalid-ir]: vec_const_c2: 3 lanes of f32 are no register
//   --> function "f": %7 = tgc.vec_const
