// A sigil wants a name.
"t.op"(%) : () -> ()
// -----
// line 2:8: expected a name after `%`, found `%`
