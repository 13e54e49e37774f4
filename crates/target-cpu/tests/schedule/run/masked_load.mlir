// args: i32[1 2 3 4 5 6 7 8] i32x8 range: 0 1
// Lanes 2 to 5, from an address before the buffer.
"tgc.func"() <{sym_name = "masked", arg_names = [], result_names = []}> ({
  %x = "tgc.arg"() <{word = 1}> : () -> index
  %y = "tgc.arg"() <{word = 2}> : () -> index
  %two = "tgc.const"() <{value = 2}> : () -> index
  %six = "tgc.const"() <{value = 6}> : () -> index
  %before = "tgc.mask_first"(%two) <{lanes = 8}> : (index) -> !tgc.mask<8>
  %until = "tgc.mask_first"(%six) <{lanes = 8}> : (index) -> !tgc.mask<8>
  %inside = "tgc.mask_op"(%before, %until) <{op = "andnot"}> : (!tgc.mask<8>, !tgc.mask<8>) -> !tgc.mask<8>
  %v = "tgc.load_masked"(%x, %inside) <{dtype = "i32", lanes = 8, at = {indexed = false, scale = 1, disp = -8, counted = false}}> : (index, !tgc.mask<8>) -> vector<8xi32>
  "tgc.store"(%y, %v) <{dtype = "i32", at = {indexed = false, scale = 1, disp = 0, counted = false}}> : (index, vector<8xi32>) -> ()
  "tgc.return"() : () -> ()
}) : () -> ()
// -----
// i32[1 2 3 4 5 6 7 8]
// i32[0 0 1 2 3 4 0 0]
