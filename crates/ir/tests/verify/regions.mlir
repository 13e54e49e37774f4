// Terminators stand last, and a region that may not capture does not.
"demo.func"() <{sym_name = "main", arg_names = [], result_names = []}> ({
^bb0(%x: tensor<2xf32>, %c: tensor<i1>):
  %r = "demo.repeat"(%x) <{times = 2}> ({
  ^bb0(%y: tensor<2xf32>):
    %i = "demo.if"(%c) ({
      "demo.yield"(%y) : (tensor<2xf32>) -> ()
    }, {
      "demo.yield"(%x) : (tensor<2xf32>) -> ()
    }) : (tensor<i1>) -> tensor<2xf32>
    "demo.yield"(%i) : (tensor<2xf32>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  "demo.if"(%c) ({
    "demo.yield"() : () -> ()
    "demo.yield"() : () -> ()
  }, {
  }) : (tensor<i1>) -> () loc("choose")
  "demo.store"(%x) <{slot = 1}> : (tensor<2xf32>) -> ()
}) : () -> ()
// -----
// error[invalid-ir]: %1 is from outside of a region that may not capture values
//   --> function "main": %4 = demo.if
// error[invalid-ir]: %0 is from outside of a region that may not capture values
//   --> function "main": demo.yield
// error[invalid-ir]: a terminator stands before the region's end
//   --> function "main": demo.yield
// error[invalid-ir]: a region ends without a terminator
//   --> function "main": demo.if from node "choose"
// error[invalid-ir]: a region ends without a terminator
//   --> function "main": demo.store
