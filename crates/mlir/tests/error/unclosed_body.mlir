// A dialect's body ends.
"t.op"() {
  a = #d.x<1, "a>", (b)
} : () -> ()
// -----
// line 4:1: expected the partner of an earlier bracket, found `}`
