// A float needs a dot, so that no one mistakes bits for a value.
"t.op"() {a = 5 : f32} : () -> ()
// -----
// line 2:15: expected a float literal, with a dot or as hex bits without a sign, as the type is a float, found `5`
