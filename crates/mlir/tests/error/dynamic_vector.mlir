// Vectors have no dynamic sizes.
"t.op"() : () -> vector<?xf32>
// -----
// line 2:25: expected a dimension, found `?`
