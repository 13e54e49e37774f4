// A large window's maximum is taken along one axis after the other. Small windows, windows side by side, rows alone and means stay.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "tiles", "v"], result_names = ["y", "small", "beside", "row", "mean", "cube"]}> ({
  ^bb0(%x: tensor<1x2x?x20xf32, {dims = ["h"]}>, %tiles: tensor<1x1x8x20xf32>, %v: tensor<1x1x9x10x11xf32>):
    %y = "tgn.pool"(%x) <{kind = "max", window = {size = [13, 7], strides = [1, 2], dilations = [1, 2], low = [6, 6], high = [6, 6]}}> : (tensor<1x2x?x20xf32, {dims = ["h"]}>) -> tensor<1x2x?x10xf32, {dims = ["h"]}> loc("y")
    %small = "tgn.pool"(%x) <{kind = "max", window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}}> : (tensor<1x2x?x20xf32, {dims = ["h"]}>) -> tensor<1x2x?x20xf32, {dims = ["h"]}> loc("small")
    %beside = "tgn.pool"(%tiles) <{kind = "max", window = {size = [4, 4], strides = [4, 4], dilations = [1, 1], low = [0, 0], high = [0, 0]}}> : (tensor<1x1x8x20xf32>) -> tensor<1x1x2x5xf32> loc("beside")
    %row = "tgn.pool"(%x) <{kind = "max", window = {size = [1, 19], strides = [1, 1], dilations = [1, 1], low = [0, 9], high = [0, 9]}}> : (tensor<1x2x?x20xf32, {dims = ["h"]}>) -> tensor<1x2x?x20xf32, {dims = ["h"]}> loc("row")
    %mean = "tgn.pool"(%x) <{kind = "average", window = {size = [13, 13], strides = [1, 1], dilations = [1, 1], low = [6, 6], high = [6, 6]}}> : (tensor<1x2x?x20xf32, {dims = ["h"]}>) -> tensor<1x2x?x20xf32, {dims = ["h"]}> loc("mean")
    %cube = "tgn.pool"(%v) <{kind = "max", window = {size = [3, 4, 5], strides = [1, 2, 3], dilations = [1, 1, 1], low = [1, 0, 2], high = [0, 1, 2]}}> : (tensor<1x1x9x10x11xf32>) -> tensor<1x1x8x4x4xf32> loc("cube")
    "tgn.return"(%y, %small, %beside, %row, %mean, %cube) : (tensor<1x2x?x10xf32, {dims = ["h"]}>, tensor<1x2x?x20xf32, {dims = ["h"]}>, tensor<1x1x2x5xf32>, tensor<1x2x?x20xf32, {dims = ["h"]}>, tensor<1x2x?x20xf32, {dims = ["h"]}>, tensor<1x1x8x4x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// y: decomposed pool: the target takes its decomposition
// cube: decomposed pool: the target takes its decomposition
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "tiles", "v"], result_names = ["y", "small", "beside", "row", "mean", "cube"]}> ({
  ^bb0(%0: tensor<1x2x?x20xf32, {dims = ["h"]}>, %1: tensor<1x1x8x20xf32>, %2: tensor<1x1x9x10x11xf32>):
    %9 = "tgn.pool"(%0) <{kind = "max", window = {size = [1, 7], strides = [1, 2], dilations = [1, 2], low = [0, 6], high = [0, 6]}}> : (tensor<1x2x?x20xf32, {dims = ["h"]}>) -> tensor<1x2x?x10xf32, {dims = ["h"]}> loc("y")
    %10 = "tgn.pool"(%9) <{kind = "max", window = {size = [13, 1], strides = [1, 1], dilations = [1, 1], low = [6, 0], high = [6, 0]}}> : (tensor<1x2x?x10xf32, {dims = ["h"]}>) -> tensor<1x2x?x10xf32, {dims = ["h"]}> loc("y")
    %4 = "tgn.pool"(%0) <{kind = "max", window = {size = [3, 3], strides = [1, 1], dilations = [1, 1], low = [1, 1], high = [1, 1]}}> : (tensor<1x2x?x20xf32, {dims = ["h"]}>) -> tensor<1x2x?x20xf32, {dims = ["h"]}> loc("small")
    %5 = "tgn.pool"(%1) <{kind = "max", window = {size = [4, 4], strides = [4, 4], dilations = [1, 1], low = [0, 0], high = [0, 0]}}> : (tensor<1x1x8x20xf32>) -> tensor<1x1x2x5xf32> loc("beside")
    %6 = "tgn.pool"(%0) <{kind = "max", window = {size = [1, 19], strides = [1, 1], dilations = [1, 1], low = [0, 9], high = [0, 9]}}> : (tensor<1x2x?x20xf32, {dims = ["h"]}>) -> tensor<1x2x?x20xf32, {dims = ["h"]}> loc("row")
    %7 = "tgn.pool"(%0) <{kind = "average", window = {size = [13, 13], strides = [1, 1], dilations = [1, 1], low = [6, 6], high = [6, 6]}}> : (tensor<1x2x?x20xf32, {dims = ["h"]}>) -> tensor<1x2x?x20xf32, {dims = ["h"]}> loc("mean")
    %11 = "tgn.pool"(%2) <{kind = "max", window = {size = [1, 1, 5], strides = [1, 1, 3], dilations = [1, 1, 1], low = [0, 0, 2], high = [0, 0, 2]}}> : (tensor<1x1x9x10x11xf32>) -> tensor<1x1x9x10x4xf32> loc("cube")
    %12 = "tgn.pool"(%11) <{kind = "max", window = {size = [3, 4, 1], strides = [1, 2, 1], dilations = [1, 1, 1], low = [1, 0, 0], high = [0, 1, 0]}}> : (tensor<1x1x9x10x4xf32>) -> tensor<1x1x8x4x4xf32> loc("cube")
    "tgn.return"(%10, %4, %5, %6, %7, %12) : (tensor<1x2x?x10xf32, {dims = ["h"]}>, tensor<1x2x?x20xf32, {dims = ["h"]}>, tensor<1x1x2x5xf32>, tensor<1x2x?x20xf32, {dims = ["h"]}>, tensor<1x2x?x20xf32, {dims = ["h"]}>, tensor<1x1x8x4x4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
