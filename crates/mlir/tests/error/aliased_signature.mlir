// A signature through an alias is a function type.
!t = i32
"t.op"() : !t
// -----
// line 3:12: expected a function type `(...) -> ...` or its alias, found `!t`
