// A cast through a type that holds all numbers is one cast. Not through floats to an integer of less room: floats saturate
// there, integers wrap.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["word", "byte", "half"], result_names = ["stays", "widens", "saturates", "wraps"]}> ({
  ^bb0(%0: tensor<8xi16>, %1: tensor<8xi8>, %2: tensor<8xf16>):
    %3 = "tgn.elementwise"(%0) <{f = "cast:f32"}> : (tensor<8xi16>) -> tensor<8xf32>
    %4 = "tgn.elementwise"(%3) <{f = "cast:u8"}> : (tensor<8xf32>) -> tensor<8xui8>
    %5 = "tgn.elementwise"(%1) <{f = "cast:f32"}> : (tensor<8xi8>) -> tensor<8xf32>
    %6 = "tgn.elementwise"(%5) <{f = "cast:i16"}> : (tensor<8xf32>) -> tensor<8xi16>
    %7 = "tgn.elementwise"(%2) <{f = "cast:f32"}> : (tensor<8xf16>) -> tensor<8xf32>
    %8 = "tgn.elementwise"(%7) <{f = "cast:u8"}> : (tensor<8xf32>) -> tensor<8xui8>
    %9 = "tgn.elementwise"(%0) <{f = "cast:i64"}> : (tensor<8xi16>) -> tensor<8xi64>
    %10 = "tgn.elementwise"(%9) <{f = "cast:u8"}> : (tensor<8xi64>) -> tensor<8xui8>
    "tgn.return"(%4, %6, %8, %10) : (tensor<8xui8>, tensor<8xi16>, tensor<8xui8>, tensor<8xui8>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// cast(exact cast(x)) => cast(x)
// cast(exact cast(x)) => cast(x)
// cast(exact cast(x)) => cast(x)
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["word", "byte", "half"], result_names = ["stays", "widens", "saturates", "wraps"]}> ({
  ^bb0(%0: tensor<8xi16>, %1: tensor<8xi8>, %2: tensor<8xf16>):
    %3 = "tgn.elementwise"(%0) <{f = "cast:f32"}> : (tensor<8xi16>) -> tensor<8xf32>
    %4 = "tgn.elementwise"(%3) <{f = "cast:u8"}> : (tensor<8xf32>) -> tensor<8xui8>
    %11 = "tgn.elementwise"(%1) <{f = "cast:i16"}> : (tensor<8xi8>) -> tensor<8xi16>
    %12 = "tgn.elementwise"(%2) <{f = "cast:u8"}> : (tensor<8xf16>) -> tensor<8xui8>
    %13 = "tgn.elementwise"(%0) <{f = "cast:u8"}> : (tensor<8xi16>) -> tensor<8xui8>
    "tgn.return"(%4, %11, %12, %13) : (tensor<8xui8>, tensor<8xi16>, tensor<8xui8>, tensor<8xui8>) -> ()
  }) : () -> ()
}) : () -> ()
