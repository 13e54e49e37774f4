// A bare word is no type.
"t.op"() : () -> tensor<4xfloat>
// -----
// line 2:27: expected a type, found `float`
