// quantize {scheme = {axis = 1, block = unit, storage = "i8", zero_point = true}} : f32[n,8,h] f32[8] i8[8]
"tgn.func"() <{sym_name = "quantize", arg_names = [], result_names = []}> ({
^bb0(%0: tensor<?x8x?xf32, {dims = ["n", "h"]}>, %1: tensor<8xf32>, %2: tensor<8xi8>):
  %4 = "tgn.reshape"(%1) <{shape = [1, 8, 1]}> : (tensor<8xf32>) -> tensor<1x8x1xf32>
  %5 = "tgn.elementwise"(%0, %4) <{f = "div"}> : (tensor<?x8x?xf32, {dims = ["n", "h"]}>, tensor<1x8x1xf32>) -> tensor<?x8x?xf32, {dims = ["n", "h"]}>
  %6 = "tgn.elementwise"(%5) <{f = "round"}> : (tensor<?x8x?xf32, {dims = ["n", "h"]}>) -> tensor<?x8x?xf32, {dims = ["n", "h"]}>
  %7 = "tgn.reshape"(%2) <{shape = [1, 8, 1]}> : (tensor<8xi8>) -> tensor<1x8x1xi8>
  %8 = "tgn.elementwise"(%7) <{f = "cast:f32"}> : (tensor<1x8x1xi8>) -> tensor<1x8x1xf32>
  %9 = "tgn.elementwise"(%6, %8) <{f = "add"}> : (tensor<?x8x?xf32, {dims = ["n", "h"]}>, tensor<1x8x1xf32>) -> tensor<?x8x?xf32, {dims = ["n", "h"]}>
  %10 = "tgn.elementwise"(%9) <{f = "cast:i8"}> : (tensor<?x8x?xf32, {dims = ["n", "h"]}>) -> tensor<?x8x?xi8, {dims = ["n", "h"]}>
  "tgn.return"(%10) : (tensor<?x8x?xi8, {dims = ["n", "h"]}>) -> ()
}) : () -> ()
