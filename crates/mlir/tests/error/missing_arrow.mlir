// The arrow separates operand and result types.
"t.op"() ({
  "t.inner"() : ()
}) : () -> ()
// -----
// line 4:1: expected `->` between operand and result types, found `}`
