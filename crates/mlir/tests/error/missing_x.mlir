// Dimensions end with `x`.
"t.op"() : () -> tensor<4,5xf32>
// -----
// line 2:26: expected `x` after a dimension, found `,`
