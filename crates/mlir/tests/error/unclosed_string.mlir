// A string ends on its line.
"t.op"() {a = "open
} : () -> ()
// -----
// line 2:15: expected `"` at the end of the string, found `"open`
