// Foreign characters are shown whole.
"t.op"() ✗ : () -> ()
// -----
// line 2:10: expected MLIR text, found `✗`
