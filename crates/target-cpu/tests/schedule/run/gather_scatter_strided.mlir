// args: i16[10 11 12 13 14 15 16 17] i32x8 i16x8 range: 0 1
// Every second element reversed by a gather and scattered; the strided store narrows.
"tgc.func"() <{sym_name = "spread", arg_names = [], result_names = []}> ({
  %x = "tgc.arg"() <{word = 1}> : () -> index
  %y = "tgc.arg"() <{word = 2}> : () -> index
  %z = "tgc.arg"() <{word = 3}> : () -> index
  %four = "tgc.const"() <{value = 4}> : () -> index
  %v = "tgc.load_strided"(%x, %four) <{dtype = "i16", lanes = 4, at = {indexed = false, scale = 1, disp = 2, counted = false}}> : (index, index) -> vector<4xi32>
  %i = "tgc.iota"() <{elem = "i32", lanes = 4}> : () -> vector<4xi32>
  %three = "tgc.vec_const"() <{elem = "i32", lanes = 4, bits = 3}> : () -> vector<4xi32>
  %back = "tgc.vec"(%three, %i) <{op = "sub"}> : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>
  "tgc.scatter"(%y, %v, %back) <{dtype = "i32", at = {indexed = false, scale = 4, disp = 16, counted = false}}> : (index, vector<4xi32>, vector<4xi32>) -> ()
  %g = "tgc.gather"(%y, %i) <{dtype = "i32", lanes = 4, at = {indexed = false, scale = 4, disp = 16, counted = false}}> : (index, vector<4xi32>) -> vector<4xi32>
  %w = "tgc.shuffle"(%g, %v) <{lanes = [0, 4, 1, 5]}> : (vector<4xi32>, vector<4xi32>) -> vector<4xi32>
  "tgc.store_strided"(%z, %w, %four) <{dtype = "i16", at = {indexed = false, scale = 1, disp = 0, counted = false}}> : (index, vector<4xi32>, index) -> ()
  "tgc.return"() : () -> ()
}) : () -> ()
// -----
// i16[10 11 12 13 14 15 16 17]
// i32[0 0 0 0 17 15 13 11]
// i16[17 0 11 0 15 0 13 0]
