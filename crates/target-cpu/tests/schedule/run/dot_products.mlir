// args: u8[255 255 255 255 1 2 3 4] i8[127 127 127 -128 1 -1 1 -1] i32x2 bf16[1 2 3 4] f32x2 i32x2 range: 0 1
// Four products of bytes a lane without saturation, or their pairs with it; two of bf16.
"tgc.func"() <{sym_name = "dots", arg_names = [], result_names = []}> ({
  %a = "tgc.arg"() <{word = 1}> : () -> index
  %b = "tgc.arg"() <{word = 2}> : () -> index
  %y = "tgc.arg"() <{word = 3}> : () -> index
  %c = "tgc.arg"() <{word = 4}> : () -> index
  %z = "tgc.arg"() <{word = 5}> : () -> index
  %va = "tgc.load_raw"(%a) <{elem = "i32", lanes = 2, at = {indexed = false, scale = 1, disp = 0, counted = false}}> : (index) -> vector<2xi32>
  %vb = "tgc.load_raw"(%b) <{elem = "i32", lanes = 2, at = {indexed = false, scale = 1, disp = 0, counted = false}}> : (index) -> vector<2xi32>
  %zero = "tgc.vec_const"() <{elem = "i32", lanes = 2, bits = 0}> : () -> vector<2xi32>
  %d = "tgc.dot_u8s8"(%zero, %va, %vb) : (vector<2xi32>, vector<2xi32>, vector<2xi32>) -> vector<2xi32>
  "tgc.store"(%y, %d) <{dtype = "i32", at = {indexed = false, scale = 1, disp = 0, counted = false}}> : (index, vector<2xi32>) -> ()
  %vc = "tgc.load_raw"(%c) <{elem = "i32", lanes = 2, at = {indexed = false, scale = 1, disp = 0, counted = false}}> : (index) -> vector<2xi32>
  %none = "tgc.vec_const"() <{elem = "f32", lanes = 2, bits = 0}> : () -> vector<2xf32>
  %e = "tgc.dot_bf16"(%none, %vc, %vc) : (vector<2xf32>, vector<2xi32>, vector<2xi32>) -> vector<2xf32>
  "tgc.store"(%z, %e) <{dtype = "f32", at = {indexed = false, scale = 1, disp = 0, counted = false}}> : (index, vector<2xf32>) -> ()
  %s = "tgc.arg"() <{word = 6}> : () -> index
  %f = "tgc.dot_u8s8_pairs"(%zero, %va, %vb) : (vector<2xi32>, vector<2xi32>, vector<2xi32>) -> vector<2xi32>
  "tgc.store"(%s, %f) <{dtype = "i32", at = {indexed = false, scale = 1, disp = 0, counted = false}}> : (index, vector<2xi32>) -> ()
  "tgc.return"() : () -> ()
}) : () -> ()
// -----
// u8[255 255 255 255 1 2 3 4]
// i8[127 127 127 -128 1 -1 1 -1]
// i32[64515 -2]
// bf16[1 2 3 4]
// f32[5 25]
// i32[32512 -2]
