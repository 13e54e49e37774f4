// One type per named result.
%0:3 = "t.c"() : () -> i32
// -----
// line 2:18: expected 3 result types, found 1
