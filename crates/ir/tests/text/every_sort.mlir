// Attributes, constants, symbols, several results, regions with and without arguments, locations.
"builtin.module"() ({
  "demo.func"() <{sym_name = "main", arg_names = ["x", "which"], result_names = ["a", "b"]}> ({
  ^entry(%x: tensor<?x4xf32, ["n", 4]>, %which: tensor<i1>):
    %w = "demo.const"() <{value = dense_resource<weights> : tensor<2xf32>}> : () -> tensor<2xf32>
    %s:2 = "demo.split"(%x) <{tag = -3}> : (tensor<?x4xf32, ["n", 4]>) -> (tensor<?x4xf32, ["n", 4]>, tensor<?x4xf32, ["n", 4]>) loc("layer.0/split")
    %i = "demo.if"(%which) ({
      "demo.yield"(%s#0) : (tensor<?x4xf32, ["n", 4]>) -> ()
    }, {
      %r = "demo.repeat"(%s#1) <{times = 3}> ({
      ^bb0(%y: tensor<?x4xf32, ["n", 4]>):
        %z = "demo.map"(%y) <{function = "exp"}> : (tensor<?x4xf32, ["n", 4]>) -> tensor<?x4xf32, ["n", 4]>
        "demo.yield"(%z) : (tensor<?x4xf32, ["n", 4]>) -> ()
      }) : (tensor<?x4xf32, ["n", 4]>) -> tensor<?x4xf32, ["n", 4]>
      "demo.yield"(%r) : (tensor<?x4xf32, ["n", 4]>) -> ()
    }) : (tensor<i1>) -> tensor<?x4xf32, ["n", 4]>
    %c = "demo.map"(%i) <{function = "cast:f8e4m3fn:wrap"}> : (tensor<?x4xf32, ["n", 4]>) -> tensor<?x4xf8E4M3FN, ["n", 4]> loc(fused["cast \"q\"", "f.onnx":3:4])
    %k = "demo.sum"(%i) <{axis = 1, keep = true}> : (tensor<?x4xf32, ["n", 4]>) -> tensor<?x1xf32, ["n", 1]>
    "demo.store"(%w) {slot = 0} : (tensor<2xf32>) -> ()
    "demo.return"(%c, %k) : (tensor<?x4xf8E4M3FN, ["n", 4]>, tensor<?x1xf32, ["n", 1]>) -> ()
  }) : () -> ()
  "demo.func"() <{sym_name = "helper", arg_names = [], result_names = []}> ({
    "demo.return"() : () -> ()
  }) : () -> ()
}) {demo.symbols = {n = {input = 0, axis = 0, divisor = 8}, k = {upper = "4*n", max = 100}}} : () -> ()
{-#
  dialect_resources: { builtin: { weights: "0x400000000000803F00000040" } }
#-}
// -----
"builtin.module"() ({
  "demo.func"() <{sym_name = "main", arg_names = ["x", "which"], result_names = ["a", "b"]}> ({
  ^bb0(%0: tensor<?x4xf32, ["n", 4]>, %1: tensor<i1>):
    %2 = "demo.const"() <{value = dense_resource<const0> : tensor<2xf32>}> : () -> tensor<2xf32>
    %3, %4 = "demo.split"(%0) <{tag = -3}> : (tensor<?x4xf32, ["n", 4]>) -> (tensor<?x4xf32, ["n", 4]>, tensor<?x4xf32, ["n", 4]>) loc("layer.0/split")
    %5 = "demo.if"(%1) ({
      "demo.yield"(%3) : (tensor<?x4xf32, ["n", 4]>) -> ()
    }, {
      %6 = "demo.repeat"(%4) <{times = 3}> ({
      ^bb0(%7: tensor<?x4xf32, ["n", 4]>):
        %8 = "demo.map"(%7) <{function = "exp"}> : (tensor<?x4xf32, ["n", 4]>) -> tensor<?x4xf32, ["n", 4]>
        "demo.yield"(%8) : (tensor<?x4xf32, ["n", 4]>) -> ()
      }) : (tensor<?x4xf32, ["n", 4]>) -> tensor<?x4xf32, ["n", 4]>
      "demo.yield"(%6) : (tensor<?x4xf32, ["n", 4]>) -> ()
    }) : (tensor<i1>) -> tensor<?x4xf32, ["n", 4]>
    %9 = "demo.map"(%5) <{function = "cast:f8e4m3fn:wrap"}> : (tensor<?x4xf32, ["n", 4]>) -> tensor<?x4xf8E4M3FN, ["n", 4]> loc(fused["cast \22q\22", "f.onnx:3:4"])
    %10 = "demo.sum"(%5) <{axis = 1, keep = true}> : (tensor<?x4xf32, ["n", 4]>) -> tensor<?x1xf32, ["n", 1]>
    "demo.store"(%2) <{slot = 0}> : (tensor<2xf32>) -> ()
    "demo.return"(%9, %10) : (tensor<?x4xf8E4M3FN, ["n", 4]>, tensor<?x1xf32, ["n", 1]>) -> ()
  }) : () -> ()
  "demo.func"() <{sym_name = "helper", arg_names = [], result_names = []}> ({
    "demo.return"() : () -> ()
  }) : () -> ()
}) {demo.symbols = {k = {upper = "4*n", max = 100}, n = {input = 0, axis = 0, divisor = 8}}} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      const0: "0x400000000000803F00000040"
    }
  }
#-}
