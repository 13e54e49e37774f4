// Other parts of bytes stay as they are.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["b"], result_names = ["y"]}> ({
  ^bb0(%b: tensor<4x6x1xui8>):
    %mask = "tgn.splat"() <{dtype = "u8", shape = [1, 1, 1], bits = 7}> : () -> tensor<1x1x1xui8> loc("mask")
    %four = "tgn.splat"() <{dtype = "u8", shape = [1, 1, 1], bits = 4}> : () -> tensor<1x1x1xui8> loc("four")
    %low = "tgn.elementwise"(%b, %mask) <{f = "and"}> : (tensor<4x6x1xui8>, tensor<1x1x1xui8>) -> tensor<4x6x1xui8> loc("low")
    %high = "tgn.elementwise"(%b, %four) <{f = "shift_right"}> : (tensor<4x6x1xui8>, tensor<1x1x1xui8>) -> tensor<4x6x1xui8> loc("high")
    %y = "tgn.concat"(%low, %high) <{axis = 2}> : (tensor<4x6x1xui8>, tensor<4x6x1xui8>) -> tensor<4x6x2xui8> loc("y")
    "tgn.return"(%y) : (tensor<4x6x2xui8>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// unchanged
