// Conversions, lanes and functions that do not exist.
"tgc.func"() <{sym_name = "f", arg_names = [], result_names = []}> ({
  %a = "tgc.vec_const"() <{elem = "f32", lanes = 4, bits = 0}> : () -> vector<4xf32>
  %i = "tgc.vec_const"() <{elem = "i32", lanes = 4, bits = 0}> : () -> vector<4xi32>
  %0 = "tgc.convert"(%a) <{op = "sext", elem = "i64"}> : (vector<4xf32>) -> vector<4xi64>
  %1 = "tgc.extract"(%a) <{lane = 4}> : (vector<4xf32>) -> index
  %2 = "tgc.shuffle"(%a, %a) <{lanes = [0, 8]}> : (vector<4xf32>, vector<4xf32>) -> vector<2xf32>
  %3 = "tgc.reduce"(%a) <{op = "xor"}> : (vector<4xf32>) -> vector<4xf32>
  %4 = "tgc.call"(%a) <{function = "f32.frobnicate"}> : (vector<4xf32>) -> vector<4xf32>
  %5 = "tgc.call"(%i) <{function = "f32.exp"}> : (vector<4xi32>) -> vector<4xi32>
  %6 = "tgc.dot_u8s8"(%a, %a, %a) : (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
  %11 = "tgc.dot_u8s8_pairs"(%a, %a, %a) : (vector<4xf32>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
  %7 = "tgc.iota"() <{elem = "f32", lanes = 4}> : () -> vector<4xf32>
  %8 = "tgc.tabulated"(%i) <{bits = [0, 1, 2, 3]}> : (vector<4xi32>) -> vector<4xf32>
  %9 = "tgc.iota"() <{elem = "i32", lanes = 8}> : () -> vector<8xi32>
  %10 = "tgc.tabulated"(%9) <{bits = [0, 1, 2, 3]}> : (vector<8xi32>) -> vector<8xf32>
  "tgc.return"() : () -> ()
}) : () -> ()
// -----
// error[invalid-ir]: convert_c4: no `sext` of f32 to i64
//   --> function "f": %2 = tgc.convert
// error[invalid-ir]: extract_c4: lane 4 of 4
//   --> function "f": %3 = tgc.extract
// error[invalid-ir]: shuffle_c4: lane 8 of 8
//   --> function "f": %4 = tgc.shuffle
// error[invalid-ir]: reduce_c4: `xor` is not defined on f32
//   --> function "f": %5 = tgc.reduce
// error[invalid-ir]: call_c4: the function table has no `f32.frobnicate`
//   --> function "f": %6 = tgc.call
// error[invalid-ir]: call_c5: `f32.exp` takes f32 lanes, got i32
//   --> function "f": %7 = tgc.call
// error[invalid-ir]: dot_u8s8_c4: lanes are i32
//   --> function "f": %8 = tgc.dot_u8s8
// error[invalid-ir]: dot_u8s8_pairs_c4: lanes are i32
//   --> function "f": %9 = tgc.dot_u8s8_pairs
// error[invalid-ir]: iota_c4: lanes are integers
//   --> function "f": %10 = tgc.iota
// error[invalid-ir]: tabulated_c4: 4 lanes are no whole register
//   --> function "f": %11 = tgc.tabulated
// error[invalid-ir]: tabulated_c4: 4 entries for 8 lanes
//   --> function "f": %13 = tgc.tabulated
