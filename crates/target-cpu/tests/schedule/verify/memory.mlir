// Memory operands, scales, register forms.
"tgc.func"() <{sym_name = "f", arg_names = [], result_names = []}> ({
  %p = "tgc.arg"() <{word = 1}> : () -> index
  %a = "tgc.vec_const"() <{elem = "f32", lanes = 8, bits = 0}> : () -> vector<8xf32>
  %0 = "tgc.load"(%p) <{dtype = "f32", lanes = 8, at = {indexed = true, scale = 4, disp = 0, counted = false}}> : (index) -> vector<8xf32>
  %1 = "tgc.load"(%p) <{dtype = "f32", lanes = 8, at = {indexed = false, scale = 3, disp = 0, counted = false}}> : (index) -> vector<8xf32>
  %2 = "tgc.load_splat"(%p, %p) <{dtype = "f32", lanes = 8, at = {indexed = false, scale = 1, disp = 0, counted = true}}> : (index, index) -> vector<8xf32>
  "tgc.store"(%p, %a) <{dtype = "i32", at = {indexed = false, scale = 1, disp = 0, counted = false}}> : (index, vector<8xf32>) -> ()
  %3 = "tgc.gather"(%p, %a) <{dtype = "f32", lanes = 8, at = {indexed = false, scale = 4, disp = 0, counted = false}}> : (index, vector<8xf32>) -> vector<8xf32>
  %m = "tgc.mask_first"(%p) <{lanes = 4}> : (index) -> !tgc.mask<4>
  %4 = "tgc.load_masked"(%p, %m) <{dtype = "f32", lanes = 8, at = {indexed = false, scale = 1, disp = 0, counted = false}}> : (index, !tgc.mask<4>) -> vector<8xf32>
  %5 = "tgc.load_masked"(%p, %m, %p) <{dtype = "f32", lanes = 4, at = {indexed = false, scale = 1, disp = 0, counted = true}}> : (index, !tgc.mask<4>, index) -> vector<4xf32>
  "tgc.return"() : () -> ()
}) : () -> ()
// -----
// error[invalid-ir]: load_c1: operand 1 (address index) is missing
//   --> function "f": %2 = tgc.load
// error[invalid-ir]: load_c4: scale 3 is none of 1, 2, 4, 8
//   --> function "f": %3 = tgc.load
// error[invalid-ir]: load_splat_c8: a splat has no lane count
//   --> function "f": %4 = tgc.load_splat
// error[invalid-ir]: store_c5: i32 is stored from i32 lanes, got f32
//   --> function "f": tgc.store
// error[invalid-ir]: gather_c6: offsets are i32 or i64 lanes
//   --> function "f": %5 = tgc.gather
// error[invalid-ir]: load_masked_c3: a mask of 4 for 8 lanes
//   --> function "f": %7 = tgc.load_masked
// error[invalid-ir]: load_masked_c8: a mask says which lanes are loaded, not a lane count
//   --> function "f": %8 = tgc.load_masked
