// q_conv {window = {size = [1], strides = [1], dilations = [1], low = [0], high = [0]}, groups = 1} : u8[n,3,h] f32[] u8[] i8[8,3,1] f32[8] i8[8] f32[] u8[] i32[8]
"tgn.func"() <{sym_name = "q_conv", arg_names = [], result_names = []}> ({
^bb0(%0: tensor<?x3x?xui8, {dims = ["n", "h"]}>, %1: tensor<f32>, %2: tensor<ui8>, %3: tensor<8x3x1xi8>, %4: tensor<8xf32>, %5: tensor<8xi8>, %6: tensor<f32>, %7: tensor<ui8>, %8: tensor<8xi32>):
  %10 = "tgn.reshape"(%5) <{shape = [8, 1, 1]}> : (tensor<8xi8>) -> tensor<8x1x1xi8>
  %11 = "tgn.elementwise"(%0) <{f = "cast:i32"}> : (tensor<?x3x?xui8, {dims = ["n", "h"]}>) -> tensor<?x3x?xi32, {dims = ["n", "h"]}>
  %12 = "tgn.elementwise"(%2) <{f = "cast:i32"}> : (tensor<ui8>) -> tensor<i32>
  %13 = "tgn.reshape"(%12) <{shape = [1, 1, 1]}> : (tensor<i32>) -> tensor<1x1x1xi32>
  %14 = "tgn.elementwise"(%11, %13) <{f = "sub"}> : (tensor<?x3x?xi32, {dims = ["n", "h"]}>, tensor<1x1x1xi32>) -> tensor<?x3x?xi32, {dims = ["n", "h"]}>
  %15 = "tgn.elementwise"(%3) <{f = "cast:i32"}> : (tensor<8x3x1xi8>) -> tensor<8x3x1xi32>
  %16 = "tgn.elementwise"(%10) <{f = "cast:i32"}> : (tensor<8x1x1xi8>) -> tensor<8x1x1xi32>
  %17 = "tgn.elementwise"(%15, %16) <{f = "sub"}> : (tensor<8x3x1xi32>, tensor<8x1x1xi32>) -> tensor<8x3x1xi32>
  %18 = "tgn.conv"(%14, %17) <{window = {size = [1], strides = [1], dilations = [1], low = [0], high = [0]}, groups = 1, out = "i32"}> : (tensor<?x3x?xi32, {dims = ["n", "h"]}>, tensor<8x3x1xi32>) -> tensor<?x8x?xi32, {dims = ["n", "h"]}>
  %19 = "tgn.reshape"(%8) <{shape = [1, 8, 1]}> : (tensor<8xi32>) -> tensor<1x8x1xi32>
  %20 = "tgn.elementwise"(%18, %19) <{f = "add"}> : (tensor<?x8x?xi32, {dims = ["n", "h"]}>, tensor<1x8x1xi32>) -> tensor<?x8x?xi32, {dims = ["n", "h"]}>
  %21 = "tgn.reshape"(%1) <{shape = [1]}> : (tensor<f32>) -> tensor<1xf32>
  %22 = "tgn.elementwise"(%21, %4) <{f = "mul"}> : (tensor<1xf32>, tensor<8xf32>) -> tensor<8xf32>
  %23 = "tgn.reshape"(%22) <{shape = [1, 8, 1]}> : (tensor<8xf32>) -> tensor<1x8x1xf32>
  %24 = "tgn.elementwise"(%20) <{f = "cast:f32"}> : (tensor<?x8x?xi32, {dims = ["n", "h"]}>) -> tensor<?x8x?xf32, {dims = ["n", "h"]}>
  %25 = "tgn.reshape"(%6) <{shape = [1, 1, 1]}> : (tensor<f32>) -> tensor<1x1x1xf32>
  %26 = "tgn.elementwise"(%23, %25) <{f = "div"}> : (tensor<1x8x1xf32>, tensor<1x1x1xf32>) -> tensor<1x8x1xf32>
  %27 = "tgn.elementwise"(%24, %26) <{f = "mul"}> : (tensor<?x8x?xf32, {dims = ["n", "h"]}>, tensor<1x8x1xf32>) -> tensor<?x8x?xf32, {dims = ["n", "h"]}>
  %28 = "tgn.splat"() <{dtype = "f32", shape = [], bits = 1065353216}> : () -> tensor<f32>
  %29 = "tgn.quantize"(%27, %28, %7) <{scheme = {axis, block, storage = "u8", zero_point = true}}> : (tensor<?x8x?xf32, {dims = ["n", "h"]}>, tensor<f32>, tensor<ui8>) -> tensor<?x8x?xui8, {dims = ["n", "h"]}>
  "tgn.return"(%29) : (tensor<?x8x?xui8, {dims = ["n", "h"]}>) -> ()
}) : () -> ()
