// The text is no MLIR.
"demo.func"( <{sym_name = "main"}>
// -----
// error[ir-syntax]: expected a value name `%...` as an operand, found `<`
//   --> line 2:14
