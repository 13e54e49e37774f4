// The same through an alias.
!elem = f32
"t.op"() {a = -0x10 : !elem} : () -> ()
// -----
// line 3:15: expected a float literal, with a dot or as hex bits without a sign, as the type is a float, found `-`
