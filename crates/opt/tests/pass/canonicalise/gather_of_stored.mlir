// Rows of a quantised table are gathered as they are stored (g), also where two gathers read it (h); not where the whole table is read too (j), nor where factors differ along the table (k).
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "i", "s", "z", "y", "each"], result_names = ["g", "h", "j", "b", "k"]}> ({
  ^bb0(%x: tensor<9x4xui8>, %i: tensor<5xi64>, %s: tensor<f32>, %z: tensor<ui8>, %y: tensor<9x4xi8>, %each: tensor<4xf32>):
    %a = "tgn.dequantize"(%x, %s, %z) <{scheme = {storage = "u8", zero_point = true}}> : (tensor<9x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<9x4xf32>
    %g = "tgn.gather"(%a, %i) <{axis = 0}> : (tensor<9x4xf32>, tensor<5xi64>) -> tensor<5x4xf32> loc("g")
    %h = "tgn.gather"(%a, %i) <{axis = 1}> : (tensor<9x4xf32>, tensor<5xi64>) -> tensor<9x5xf32> loc("h")
    %b = "tgn.dequantize"(%y, %s) <{scheme = {storage = "i8", zero_point = false}}> : (tensor<9x4xi8>, tensor<f32>) -> tensor<9x4xf32>
    %j = "tgn.gather"(%b, %i) <{axis = 0}> : (tensor<9x4xf32>, tensor<5xi64>) -> tensor<5x4xf32> loc("j")
    %c = "tgn.dequantize"(%y, %each) <{scheme = {axis = 1, storage = "i8", zero_point = false}}> : (tensor<9x4xi8>, tensor<4xf32>) -> tensor<9x4xf32>
    %k = "tgn.gather"(%c, %i) <{axis = 0}> : (tensor<9x4xf32>, tensor<5xi64>) -> tensor<5x4xf32> loc("k")
    "tgn.return"(%g, %h, %j, %b, %k) : (tensor<5x4xf32>, tensor<9x5xf32>, tensor<5x4xf32>, tensor<9x4xf32>, tensor<5x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// g: gather(dequantize(x)) => dequantize(gather(x))
// h: gather(dequantize(x)) => dequantize(gather(x))
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "i", "s", "z", "y", "each"], result_names = ["g", "h", "j", "b", "k"]}> ({
  ^bb0(%0: tensor<9x4xui8>, %1: tensor<5xi64>, %2: tensor<f32>, %3: tensor<ui8>, %4: tensor<9x4xi8>, %5: tensor<4xf32>):
    %13 = "tgn.gather"(%0, %1) <{axis = 0}> : (tensor<9x4xui8>, tensor<5xi64>) -> tensor<5x4xui8> loc("g")
    %14 = "tgn.dequantize"(%13, %2, %3) <{scheme = {axis, block, storage = "u8", zero_point = true}}> : (tensor<5x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<5x4xf32> loc("g")
    %15 = "tgn.gather"(%0, %1) <{axis = 1}> : (tensor<9x4xui8>, tensor<5xi64>) -> tensor<9x5xui8> loc("h")
    %16 = "tgn.dequantize"(%15, %2, %3) <{scheme = {axis, block, storage = "u8", zero_point = true}}> : (tensor<9x5xui8>, tensor<f32>, tensor<ui8>) -> tensor<9x5xf32> loc("h")
    %9 = "tgn.dequantize"(%4, %2) <{scheme = {axis, block, storage = "i8", zero_point = false}}> : (tensor<9x4xi8>, tensor<f32>) -> tensor<9x4xf32>
    %10 = "tgn.gather"(%9, %1) <{axis = 0}> : (tensor<9x4xf32>, tensor<5xi64>) -> tensor<5x4xf32> loc("j")
    %11 = "tgn.dequantize"(%4, %5) <{scheme = {axis = 1, block, storage = "i8", zero_point = false}}> : (tensor<9x4xi8>, tensor<4xf32>) -> tensor<9x4xf32>
    %12 = "tgn.gather"(%11, %1) <{axis = 0}> : (tensor<9x4xf32>, tensor<5xi64>) -> tensor<5x4xf32> loc("k")
    "tgn.return"(%14, %16, %10, %9, %12) : (tensor<5x4xf32>, tensor<9x5xf32>, tensor<5x4xf32>, tensor<9x4xf32>, tensor<5x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
