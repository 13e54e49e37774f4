// A string inside a dialect's body follows the rules of strings.
"t.op"() {a = #d.x<
  "open>
} : () -> ()
// -----
// line 3:3: expected `"` at the end of the string, found `"open>`
