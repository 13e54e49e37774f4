// Attributes have names.
"t.op"() {"" = 1} : () -> ()
// -----
// line 2:11: expected an attribute name that is not empty, found `""`
