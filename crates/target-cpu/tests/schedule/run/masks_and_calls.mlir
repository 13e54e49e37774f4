// args: f32[1 -2 3 -4] 3 f32x4 i32x4 range: 0 1
// The first three lanes that are positive keep their square; a call works lane by lane.
"tgc.func"() <{sym_name = "masks", arg_names = [], result_names = []}> ({
  %x = "tgc.arg"() <{word = 1}> : () -> index
  %n = "tgc.arg"() <{word = 2}> : () -> index
  %y = "tgc.arg"() <{word = 3}> : () -> index
  %z = "tgc.arg"() <{word = 4}> : () -> index
  %v = "tgc.load"(%x) <{dtype = "f32", lanes = 4, at = {indexed = false, scale = 1, disp = 0, counted = false}}> : (index) -> vector<4xf32>
  %two = "tgc.vec_const"() <{elem = "f32", lanes = 4, bits = 1073741824}> : () -> vector<4xf32>
  %zero = "tgc.vec_const"() <{elem = "f32", lanes = 4, bits = 0}> : () -> vector<4xf32>
  %square = "tgc.call"(%v, %two) <{function = "f32.pow"}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
  %positive = "tgc.compare"(%zero, %v) <{op = "lt"}> : (vector<4xf32>, vector<4xf32>) -> !tgc.mask<4>
  %first = "tgc.mask_first"(%n) <{lanes = 4}> : (index) -> !tgc.mask<4>
  %both = "tgc.mask_op"(%positive, %first) <{op = "and"}> : (!tgc.mask<4>, !tgc.mask<4>) -> !tgc.mask<4>
  %r = "tgc.select"(%both, %square, %v) : (!tgc.mask<4>, vector<4xf32>, vector<4xf32>) -> vector<4xf32>
  "tgc.store"(%y, %r) <{dtype = "f32", at = {indexed = false, scale = 1, disp = 0, counted = false}}> : (index, vector<4xf32>) -> ()
  %m = "tgc.mask_to_vec"(%both) : (!tgc.mask<4>) -> vector<4xi32>
  "tgc.store"(%z, %m) <{dtype = "i32", at = {indexed = false, scale = 1, disp = 0, counted = false}}> : (index, vector<4xi32>) -> ()
  "tgc.return"() : () -> ()
}) : () -> ()
// -----
// f32[1 -2 3 -4]
// f32[1 -2 9 -4]
// i32[1 0 1 0]
