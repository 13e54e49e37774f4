// Functions and symbols that are none.
"builtin.module"() ({
  "demo.func"() <{sym_name = "f", arg_names = [], result_names = []}> ({
    "demo.return"() : () -> ()
  }) : () -> ()
  "demo.func"() <{sym_name = "f", arg_names = [], result_names = []}> ({
    "demo.return"() : () -> ()
  }) : () -> ()
  "demo.func"() <{arg_names = [], result_names = []}> ({
  }) : () -> ()
  "demo.func"() <{sym_name = "g", arg_names = [], result_names = []}> ({
    "demo.return"()[^bb1] : () -> ()
  ^bb1:
    "demo.return"() : () -> ()
  }) : () -> ()
  "func.func"() : () -> ()
}) {demo.symbols = {n = {input = 0, axis = 0, min = 5, max = 3}}} : () -> ()
// -----
// error[ir-text]: symbol `n`: 0 <= min <= max and divisor >= 1 are expected
//   --> line 2:1
// error[ir-text]: function `f` is defined twice
//   --> line 6:3
// error[ir-text]: attribute `sym_name` is missing
//   --> line 9:3
// error[ir-text]: a region has one block here, found 2
//   --> line 11:3
// error[ir-text]: `demo.func` is expected, found `func.func`
//   --> line 16:3
