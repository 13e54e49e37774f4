// A name is gone at the end of its region, and free again.
"demo.func"() <{sym_name = "main", arg_names = ["c"], result_names = []}> ({
^bb0(%c: tensor<i1>):
  "demo.if"(%c) ({
    %a = "demo.map"(%c) <{function = "not"}> : (tensor<i1>) -> tensor<i1>
    "demo.yield"() : () -> ()
  }, {
    %a = "demo.map"(%c) <{function = "not"}> : (tensor<i1>) -> tensor<i1>
    "demo.yield"() : () -> ()
  }) : (tensor<i1>) -> ()
  "demo.return"(%a) : (tensor<i1>) -> ()
}) : () -> ()
// -----
// error[ir-text]: `%a` is not defined before its use
//   --> line 11:3
