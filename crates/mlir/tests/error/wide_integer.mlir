// Integer types end at 2^24 - 1 bits.
"t.op"() : () -> i16777216
// -----
// line 2:18: expected an integer type of at most 16777215 bits, found `i16777216`
