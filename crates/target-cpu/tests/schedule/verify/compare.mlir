// Lanes are integers for unsigned comparison, of equal type.
"tgc.func"() <{sym_name = "f", arg_names = [], result_names = []}> ({
  %a = "tgc.vec_const"() <{elem = "f32", lanes = 8, bits = 0}> : () -> vector<8xf32>
  %b = "tgc.vec_const"() <{elem = "f32", lanes = 4, bits = 0}> : () -> vector<4xf32>
  %0 = "tgc.compare"(%a, %a) <{op = "ltu"}> : (vector<8xf32>, vector<8xf32>) -> !tgc.mask<8>
  %1 = "tgc.compare"(%a, %b) <{op = "lt"}> : (vector<8xf32>, vector<4xf32>) -> !tgc.mask<8>
  "tgc.return"() : () -> ()
}) : () -> ()
// -----
// error[invalid-ir]: compare_c4: `ltu` is not defined on f32
//   --> function "f": %2 = tgc.compare
// error[invalid-ir]: compare_c1: operand 1 (b) must have the type of the one before
//   --> function "f": %3 = tgc.compare
