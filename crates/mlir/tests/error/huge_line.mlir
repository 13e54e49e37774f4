// Line numbers fit 32 bits.
"t.op"() : () -> () loc("f":4294967296:1)
// -----
// line 2:29: expected a line number below 2^32, found `4294967296`
