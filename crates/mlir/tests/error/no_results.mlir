// A pack holds a result.
%0:0 = "t.c"() : () -> ()
// -----
// line 2:4: expected at least one result, found `0`
