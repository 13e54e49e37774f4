// Items stand between commas.
"t.op"() {a = [1 2]} : () -> ()
// -----
// line 2:18: expected `,` or `]` in an array, found `2`
