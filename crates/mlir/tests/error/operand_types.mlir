// One type per operand.
%0 = "t.c"() : () -> i32
"t.op"(%0, %0) : (i32) -> ()
// -----
// line 3:18: expected 2 operand types, found 1
