// args: f32[1 2 3] f32x4 range: 0 1
// One lane too many is a fault of the load; a count of 0 touches nothing.
"tgc.func"() <{sym_name = "beyond", arg_names = [], result_names = []}> ({
  %x = "tgc.arg"() <{word = 1}> : () -> index
  %zero = "tgc.const"() <{value = 0}> : () -> index
  %none = "tgc.load"(%zero, %zero) <{dtype = "f32", lanes = 4, at = {indexed = false, scale = 1, disp = -64, counted = true}}> : (index, index) -> vector<4xf32>
  %v = "tgc.load"(%x) <{dtype = "f32", lanes = 4, at = {indexed = false, scale = 1, disp = 0, counted = false}}> : (index) -> vector<4xf32>
  "tgc.return"() : () -> ()
}) : () -> ()
// -----
// f32[1 2 3]
// f32[0 0 0 0]
// fault in `tgc.load`: 16 bytes
