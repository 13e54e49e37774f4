// Names are text.
"t.op"() {a = @"\FF"} : () -> ()
// -----
// line 2:15: expected text in UTF-8, found `@"\FF"`
