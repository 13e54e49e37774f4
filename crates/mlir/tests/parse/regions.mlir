// Regions nest; entry blocks may lack a label, and later blocks may not.
%x = "t.c"() : () -> i32
"t.outer"(%x) ({
^bb0(%a: i32, %b : f32 loc("here")):
"t.if"(%a) ({ "t.yield"() : () -> () }, {}) : (i32) -> ()
"t.br"(%a)[^exit, ^other-1] : (i32) -> ()
^exit(%y: i32):
    "t.end"() : () -> ()
^other-1:
    "t.end"() : () -> ()
}, { ^empty: }, {
  "t.jump"()[^1] : () -> ()
  ^1:
  "t.end"() : () -> ()
}) {after = true} : (i32) -> ()
// -----
%x = "t.c"() : () -> i32
"t.outer"(%x) ({
^bb0(%a: i32, %b: f32 loc("here")):
  "t.if"(%a) ({
    "t.yield"() : () -> ()
  }, {
  }) : (i32) -> ()
  "t.br"(%a)[^exit, ^other-1] : (i32) -> ()
^exit(%y: i32):
  "t.end"() : () -> ()
^other-1:
  "t.end"() : () -> ()
}, {
^empty:
}, {
  "t.jump"()[^1] : () -> ()
^1:
  "t.end"() : () -> ()
}) {after = true} : (i32) -> ()
