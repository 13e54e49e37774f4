// What needs a size does not join a kernel that runs before the size is bound.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<40xi64>):
    %1 = "tgn.elementwise"(%0) <{f = "abs"}> : (tensor<40xi64>) -> tensor<40xi64> loc("a")
    %2, %3 = "tgn.non_zero"(%1) : (tensor<40xi64>) -> (tensor<1x40xi64>, tensor<i64>) loc("nz")
    "tgn.bind"(%3) <{symbol = "nonzero"}> : (tensor<i64>) -> () loc("nz")
    %5 = "tgn.sizes"() <{dims = ["nonzero"]}> : () -> tensor<1xi64> loc("s")
    %6 = "tgn.elementwise"(%1, %5) <{f = "add"}> : (tensor<40xi64>, tensor<1xi64>) -> tensor<40xi64> loc("y")
    "tgn.return"(%6) : (tensor<40xi64>) -> ()
  }) : () -> ()
}) {tgn.symbols = {nonzero = {upper = 40, max = 40}}} : () -> ()
// -----
// y: not fused into abs "a": a size gets its value between them
// s: fused sizes into add "y"
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<40xi64>):
    %6 = "tgn.kernel"(%0) <{class = "map"}> ({
    ^bb0(%7: tensor<40xi64>):
      %8 = "tgn.elementwise"(%7) <{f = "abs"}> : (tensor<40xi64>) -> tensor<40xi64> loc("a")
      "tgn.yield"(%8) : (tensor<40xi64>) -> ()
    }) : (tensor<40xi64>) -> tensor<40xi64> loc("a")
    %2, %3 = "tgn.non_zero"(%6) : (tensor<40xi64>) -> (tensor<1x40xi64>, tensor<i64>) loc("nz")
    "tgn.bind"(%3) <{symbol = "nonzero"}> : (tensor<i64>) -> () loc("nz")
    %9 = "tgn.kernel"(%0) <{class = "map"}> ({
    ^bb0(%10: tensor<40xi64>):
      %11 = "tgn.elementwise"(%10) <{f = "abs"}> : (tensor<40xi64>) -> tensor<40xi64> loc("a")
      %4 = "tgn.sizes"() <{dims = ["nonzero"]}> : () -> tensor<1xi64> loc("s")
      %5 = "tgn.elementwise"(%11, %4) <{f = "add"}> : (tensor<40xi64>, tensor<1xi64>) -> tensor<40xi64> loc("y")
      "tgn.yield"(%5) : (tensor<40xi64>) -> ()
    }) : (tensor<40xi64>) -> tensor<40xi64> loc(fused["y", "a", "s"])
    "tgn.return"(%9) : (tensor<40xi64>) -> ()
  }) : () -> ()
}) {tgn.symbols = {nonzero = {upper = 40, max = 40}}} : () -> ()
