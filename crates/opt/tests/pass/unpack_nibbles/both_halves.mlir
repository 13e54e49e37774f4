// The halves of bytes side by side are a shift by the place.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["b"], result_names = ["y"]}> ({
  ^bb0(%b: tensor<4x6x1xui8>):
    %mask = "tgn.splat"() <{dtype = "u8", shape = [1, 1, 1], bits = 15}> : () -> tensor<1x1x1xui8> loc("mask")
    %four = "tgn.splat"() <{dtype = "u8", shape = [1, 1, 1], bits = 4}> : () -> tensor<1x1x1xui8> loc("four")
    %low = "tgn.elementwise"(%b, %mask) <{f = "and"}> : (tensor<4x6x1xui8>, tensor<1x1x1xui8>) -> tensor<4x6x1xui8> loc("low")
    %high = "tgn.elementwise"(%b, %four) <{f = "shift_right"}> : (tensor<4x6x1xui8>, tensor<1x1x1xui8>) -> tensor<4x6x1xui8> loc("high")
    %y = "tgn.concat"(%low, %high) <{axis = 2}> : (tensor<4x6x1xui8>, tensor<4x6x1xui8>) -> tensor<4x6x2xui8> loc("y")
    "tgn.return"(%y) : (tensor<4x6x2xui8>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// y: concat(and(b, 15), shift_right(b, 4)) => and(shift_right(b, 4 iota), 15)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["b"], result_names = ["y"]}> ({
  ^bb0(%0: tensor<4x6x1xui8>):
    %6 = "tgn.iota"() <{dtype = "u8", shape = [1, 1, 2], axis = 2}> : () -> tensor<1x1x2xui8> loc("y")
    %7 = "tgn.splat"() <{dtype = "u8", shape = [1, 1, 1], bits = 4}> : () -> tensor<1x1x1xui8> loc("y")
    %8 = "tgn.elementwise"(%6, %7) <{f = "mul"}> : (tensor<1x1x2xui8>, tensor<1x1x1xui8>) -> tensor<1x1x2xui8> loc("y")
    %9 = "tgn.elementwise"(%0, %8) <{f = "shift_right"}> : (tensor<4x6x1xui8>, tensor<1x1x2xui8>) -> tensor<4x6x2xui8> loc("high")
    %10 = "tgn.splat"() <{dtype = "u8", shape = [1, 1, 1], bits = 15}> : () -> tensor<1x1x1xui8> loc("y")
    %11 = "tgn.elementwise"(%9, %10) <{f = "and"}> : (tensor<4x6x2xui8>, tensor<1x1x1xui8>) -> tensor<4x6x2xui8> loc(fused["low", "y"])
    "tgn.return"(%11) : (tensor<4x6x2xui8>) -> ()
  }) : () -> ()
}) : () -> ()
