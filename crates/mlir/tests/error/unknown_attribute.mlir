// A bare word is no attribute.
"t.op"() {a = relu} : () -> ()
// -----
// line 2:15: expected an attribute, found `relu`
