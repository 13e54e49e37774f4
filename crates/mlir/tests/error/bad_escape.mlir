// Escapes are few.
"t.op"() {a = "\q"} : () -> ()
// -----
// line 2:15: expected a string with escapes \\, \", \n, \t or two hex digits, found `"\q`
