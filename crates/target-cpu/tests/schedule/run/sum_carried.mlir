// args: f32[1 2 3 4 5 6 7] 7 f32x1 range: 0 1
// A sum over vectors of four with a counted tail, reduced at the end.
"tgc.func"() <{sym_name = "sum", arg_names = [], result_names = []}> ({
  %x = "tgc.arg"() <{word = 1}> : () -> index
  %n = "tgc.arg"() <{word = 2}> : () -> index
  %y = "tgc.arg"() <{word = 3}> : () -> index
  %zero = "tgc.const"() <{value = 0}> : () -> index
  %init = "tgc.vec_const"() <{elem = "f32", lanes = 4, bits = 0}> : () -> vector<4xf32>
  %sum = "tgc.for"(%zero, %n, %init) <{step = 4, level = "l1"}> ({
  ^bb0(%i: index, %acc: vector<4xf32>):
    %left = "tgc.index"(%n, %i) <{op = "sub"}> : (index, index) -> index
    %v = "tgc.load"(%x, %i, %left) <{dtype = "f32", lanes = 4, at = {indexed = true, scale = 4, disp = 0, counted = true}}> : (index, index, index) -> vector<4xf32>
    %next = "tgc.vec"(%acc, %v) <{op = "add"}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
    "tgc.yield"(%next) : (vector<4xf32>) -> ()
  }) : (index, index, vector<4xf32>) -> vector<4xf32>
  %all = "tgc.reduce"(%sum) <{op = "add"}> : (vector<4xf32>) -> vector<4xf32>
  %one = "tgc.const"() <{value = 1}> : () -> index
  "tgc.store"(%y, %all, %one) <{dtype = "f32", at = {indexed = false, scale = 1, disp = 0, counted = true}}> : (index, vector<4xf32>, index) -> ()
  "tgc.return"() : () -> ()
}) : () -> ()
// -----
// f32[1 2 3 4 5 6 7]
// f32[28]
