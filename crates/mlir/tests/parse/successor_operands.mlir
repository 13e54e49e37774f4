// Successors with operands. mlir-opt: refuses, it takes them as operands of the operation.
"t.f"() ({
^entry(%a: i32, %b: f32):
  "t.br"()[^next(%a, %b : i32, f32), ^last()] : () -> ()
^next(%c: i32, %d: f32):
  "t.br"()[^last] : () -> ()
^last:
  "t.end"() : () -> ()
}) : () -> ()
// -----
"t.f"() ({
^entry(%a: i32, %b: f32):
  "t.br"()[^next(%a, %b : i32, f32), ^last] : () -> ()
^next(%c: i32, %d: f32):
  "t.br"()[^last] : () -> ()
^last:
  "t.end"() : () -> ()
}) : () -> ()
