// Every problem is told, what follows from one is not.
"demo.func"() <{sym_name = "main", arg_names = ["x"], result_names = []}> ({
^bb0(%x: tensor<2xf32>):
  %a = "demo.map"(%x) <{function = "expp"}> : (tensor<2xf32>) -> tensor<2xf32>
  %b = "demo.map"(%a) <{function = "exp"}> : (tensor<2xf32>) -> tensor<2xf32>
  %c = "demo.nothing"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %d = "other.map"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %e = "demo.map"(%y) <{function = "exp"}> : (tensor<2xf32>) -> tensor<2xf32>
  %f = "demo.map"(%x) <{function = "exp"}> : (tensor<3xf32>) -> tensor<2xf32>
  %g = "demo.map"(%x#1) <{function = "exp"}> : (tensor<2xf32>) -> tensor<2xf32>
  %h = "demo.map"(%x) <{function = "exp", speed = 3}> : (tensor<2xf32>) -> tensor<2xf32>
  %i = "demo.map"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %j = "demo.const"() <{value = dense_resource<gone> : tensor<2xf32>}> : () -> tensor<2xf32>
  %x = "demo.map"(%x) <{function = "exp"}> : (tensor<2xf32>) -> tensor<2xf32>
  "demo.if"(%x) ({
    "demo.yield"() : () -> ()
  }) : (tensor<2xf32>) -> ()
  %l = "demo.map"(%x) <{function = "exp"}> : (tensor<2xf32>) -> vector<2xf32>
  "demo.return"() : () -> ()
}) : () -> ()
// -----
// error[ir-text]: attribute `function`: no scalar operation is called `expp`
//   --> line 4:8
// error[ir-text]: `demo.nothing` is no op of this level
//   --> line 6:8
// error[ir-text]: `other.map` is no op of this level (`demo.`)
//   --> line 7:8
// error[ir-text]: `%y` is not defined before its use
//   --> line 8:8
// error[ir-text]: operand `%x` is tensor<2xf32>, used as tensor<3xf32>
//   --> line 9:8
// error[ir-text]: `%x` has 1 results, not #1
//   --> line 10:8
// error[ir-text]: `demo.map` has no attribute `speed`
//   --> line 11:8
// error[ir-text]: attribute `function` is missing
//   --> line 12:8
// error[ir-text]: the text has no bytes for constant `gone`
//   --> line 13:8
// error[ir-text]: `%x` is defined twice
//   --> line 14:8
// error[ir-text]: `if` has 2 regions, found 1
//   --> line 15:3
// error[ir-text]: a tensor type is expected
//   --> line 18:8
