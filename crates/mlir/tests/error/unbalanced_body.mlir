// Brackets in a dialect's body pair up.
"t.op"() {a = #d.x<[1, 2)>} : () -> ()
// -----
// line 2:25: expected the partner of an earlier bracket, found `)`
