// A region ends.
"t.op"() ({
  "t.in"() : () -> ()
// -----
// line 4:1: expected `}` at the end of a region, found end of text
