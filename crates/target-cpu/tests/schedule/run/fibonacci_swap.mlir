// args: i64x1 range: 0 10
// Carried values that trade places are moved at once.
"tgc.func"() <{sym_name = "fibonacci", arg_names = [], result_names = []}> ({
  %y = "tgc.arg"() <{word = 1}> : () -> index
  %lo = "tgc.begin"() : () -> index
  %hi = "tgc.end"() : () -> index
  %zero = "tgc.const"() <{value = 0}> : () -> index
  %one = "tgc.const"() <{value = 1}> : () -> index
  %a, %b = "tgc.for"(%lo, %hi, %zero, %one) <{step = 1, level = "parallel"}> ({
  ^bb0(%i: index, %p: index, %q: index):
    %r = "tgc.index"(%p, %q) <{op = "add"}> : (index, index) -> index
    "tgc.yield"(%q, %r) : (index, index) -> ()
  }) : (index, index, index, index) -> (index, index)
  %v = "tgc.splat"(%a) <{elem = "i64", lanes = 1}> : (index) -> vector<1xi64>
  "tgc.store"(%y, %v) <{dtype = "i64", at = {indexed = false, scale = 1, disp = 0, counted = false}}> : (index, vector<1xi64>) -> ()
  "tgc.return"() : () -> ()
}) : () -> ()
// -----
// i64[55]
