// Dimensions fit 63 bits.
"t.op"() : () -> tensor<9223372036854775808xf32>
// -----
// line 2:25: expected a dimension below 2^63, found `9223372036854775808`
