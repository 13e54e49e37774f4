// Names in a dictionary differ, however they are spelled.
"t.op"() {a = 1, b, "\61" = 2} : () -> ()
// -----
// line 2:21: expected each attribute name once, found `"\61"`
