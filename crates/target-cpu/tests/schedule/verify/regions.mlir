// Loops step forwards and carry what they yield; branches agree.
"tgc.func"() <{sym_name = "f", arg_names = [], result_names = []}> ({
  %i = "tgc.const"() <{value = 1}> : () -> index
  %a = "tgc.vec_const"() <{elem = "f32", lanes = 8, bits = 0}> : () -> vector<8xf32>
  "tgc.for"(%i, %i) <{step = 0, level = "l1"}> ({
  ^bb0(%k: index):
    "tgc.yield"() : () -> ()
  }) : (index, index) -> ()
  %0 = "tgc.for"(%i, %i, %a) <{step = 1, level = "l1"}> ({
  ^bb0(%k: index, %c: index):
    "tgc.yield"(%a) : (vector<8xf32>) -> ()
  }) : (index, index, vector<8xf32>) -> vector<8xf32>
  %1 = "tgc.for"(%i, %i, %a) <{step = 1, level = "l1"}> ({
  ^bb0(%k: index, %c: vector<8xf32>):
    "tgc.yield"(%k) : (index) -> ()
  }) : (index, index, vector<8xf32>) -> vector<8xf32>
  %2 = "tgc.if"(%i) ({
    "tgc.yield"(%a) : (vector<8xf32>) -> ()
  }, {
    "tgc.yield"(%i) : (index) -> ()
  }) : (index) -> vector<8xf32>
  "tgc.return"() : () -> ()
}) : () -> ()
// -----
// error[invalid-ir]: for_c4: step 0 is not positive
//   --> function "f": tgc.for
// error[invalid-ir]: for_c5: the body takes an index and the carried values
//   --> function "f": %3 = tgc.for
// error[invalid-ir]: for_c6: the body yields other types than it carries
//   --> function "f": %6 = tgc.for
// error[invalid-ir]: if_c4: the branches yield different types
//   --> function "f": %9 = tgc.if
