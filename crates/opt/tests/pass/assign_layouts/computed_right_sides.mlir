// Right sides that are no constants are packed by a kernel of their own for enough rows, and by the kernel that writes
// them for any number of rows; narrow ones stay as they are.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "few", "w", "v", "h", "narrow"], result_names = ["y", "z", "t", "s", "u"]}> ({
  ^bb0(%x: tensor<6x4xf32>, %few: tensor<5x4xf32>, %w: tensor<4x20xf32>, %v: tensor<20x4xf32>, %h: tensor<2x4x20xf32>, %narrow: tensor<4x16xf32>):
    %y = "tgn.dot"(%x, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<6x4xf32>, tensor<4x20xf32>) -> tensor<6x20xf32> loc("y")
    %z = "tgn.dot"(%few, %w) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<5x4xf32>, tensor<4x20xf32>) -> tensor<5x20xf32> loc("z")
    %transposed = "tgn.transpose"(%v) <{perm = [1, 0]}> : (tensor<20x4xf32>) -> tensor<4x20xf32> loc("transposed")
    %t = "tgn.dot"(%few, %transposed) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<5x4xf32>, tensor<4x20xf32>) -> tensor<5x20xf32> loc("t")
    %rows = "tgn.reshape"(%x) <{shape = [1, 6, 4]}> : (tensor<6x4xf32>) -> tensor<1x6x4xf32> loc("rows")
    %both = "tgn.broadcast"(%rows) <{shape = [2, 6, 4]}> : (tensor<1x6x4xf32>) -> tensor<2x6x4xf32> loc("both")
    %s = "tgn.dot"(%both, %h) <{dims = {lhs_batch = [0], rhs_batch = [0], lhs_contract = [2], rhs_contract = [1]}, out = "f32"}> : (tensor<2x6x4xf32>, tensor<2x4x20xf32>) -> tensor<2x6x20xf32> loc("s")
    %u = "tgn.dot"(%x, %narrow) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<6x4xf32>, tensor<4x16xf32>) -> tensor<6x16xf32> loc("u")
    "tgn.return"(%y, %z, %t, %s, %u) : (tensor<6x20xf32>, tensor<5x20xf32>, tensor<5x20xf32>, tensor<2x6x20xf32>, tensor<6x16xf32>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// both: not fused into dot "s": `dot` reads buffers
// transposed: not fused into dot "t": `dot` reads buffers
// its layout changes in a kernel of its own
// t: operand 1 is written in the layout wanted
// its layout changes in a kernel of its own
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "few", "w", "v", "h", "narrow"], result_names = ["y", "z", "t", "s", "u"]}> ({
  ^bb0(%0: tensor<6x4xf32>, %1: tensor<5x4xf32>, %2: tensor<4x20xf32>, %3: tensor<20x4xf32>, %4: tensor<2x4x20xf32>, %5: tensor<4x16xf32>):
    %33 = "tgn.kernel"(%2) <{class = "map"}> ({
    ^bb0(%34: tensor<4x20xf32>):
      %35 = "tgn.relayout"(%34) <{layout = ["1/8", "0", "1%8"]}> : (tensor<4x20xf32>) -> tensor<4x20xf32, {layout = ["1/8", "0", "1%8"]}>
      "tgn.yield"(%35) : (tensor<4x20xf32, {layout = ["1/8", "0", "1%8"]}>) -> ()
    }) : (tensor<4x20xf32>) -> tensor<4x20xf32, {layout = ["1/8", "0", "1%8"]}>
    %14 = "tgn.kernel"(%0, %33) <{class = "dot"}> ({
    ^bb0(%15: tensor<6x4xf32>, %16: tensor<4x20xf32, {layout = ["1/8", "0", "1%8"]}>):
      %6 = "tgn.dot"(%15, %16) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<6x4xf32>, tensor<4x20xf32, {layout = ["1/8", "0", "1%8"]}>) -> tensor<6x20xf32> loc("y")
      "tgn.yield"(%6) : (tensor<6x20xf32>) -> ()
    }) : (tensor<6x4xf32>, tensor<4x20xf32, {layout = ["1/8", "0", "1%8"]}>) -> tensor<6x20xf32> loc("y")
    %17 = "tgn.kernel"(%1, %2) <{class = "dot"}> ({
    ^bb0(%18: tensor<5x4xf32>, %19: tensor<4x20xf32>):
      %7 = "tgn.dot"(%18, %19) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<5x4xf32>, tensor<4x20xf32>) -> tensor<5x20xf32> loc("z")
      "tgn.yield"(%7) : (tensor<5x20xf32>) -> ()
    }) : (tensor<5x4xf32>, tensor<4x20xf32>) -> tensor<5x20xf32> loc("z")
    %20 = "tgn.kernel"(%3) <{class = "map"}> ({
    ^bb0(%21: tensor<20x4xf32>):
      %8 = "tgn.transpose"(%21) <{perm = [1, 0]}> : (tensor<20x4xf32>) -> tensor<4x20xf32> loc("transposed")
      "tgn.yield"(%8) : (tensor<4x20xf32>) -> ()
    }) : (tensor<20x4xf32>) -> tensor<4x20xf32, {layout = ["1/8", "0", "1%8"]}> loc("transposed")
    %22 = "tgn.kernel"(%1, %20) <{class = "dot"}> ({
    ^bb0(%23: tensor<5x4xf32>, %24: tensor<4x20xf32, {layout = ["1/8", "0", "1%8"]}>):
      %9 = "tgn.dot"(%23, %24) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<5x4xf32>, tensor<4x20xf32, {layout = ["1/8", "0", "1%8"]}>) -> tensor<5x20xf32> loc("t")
      "tgn.yield"(%9) : (tensor<5x20xf32>) -> ()
    }) : (tensor<5x4xf32>, tensor<4x20xf32, {layout = ["1/8", "0", "1%8"]}>) -> tensor<5x20xf32> loc("t")
    %10 = "tgn.reshape"(%0) <{shape = [1, 6, 4]}> : (tensor<6x4xf32>) -> tensor<1x6x4xf32> loc("rows")
    %25 = "tgn.kernel"(%10) <{class = "map"}> ({
    ^bb0(%26: tensor<1x6x4xf32>):
      %11 = "tgn.broadcast"(%26) <{shape = [2, 6, 4]}> : (tensor<1x6x4xf32>) -> tensor<2x6x4xf32> loc("both")
      "tgn.yield"(%11) : (tensor<2x6x4xf32>) -> ()
    }) : (tensor<1x6x4xf32>) -> tensor<2x6x4xf32> loc("both")
    %36 = "tgn.kernel"(%4) <{class = "map"}> ({
    ^bb0(%37: tensor<2x4x20xf32>):
      %38 = "tgn.relayout"(%37) <{layout = ["0", "2/8", "1", "2%8"]}> : (tensor<2x4x20xf32>) -> tensor<2x4x20xf32, {layout = ["0", "2/8", "1", "2%8"]}>
      "tgn.yield"(%38) : (tensor<2x4x20xf32, {layout = ["0", "2/8", "1", "2%8"]}>) -> ()
    }) : (tensor<2x4x20xf32>) -> tensor<2x4x20xf32, {layout = ["0", "2/8", "1", "2%8"]}>
    %27 = "tgn.kernel"(%25, %36) <{class = "dot"}> ({
    ^bb0(%28: tensor<2x6x4xf32>, %29: tensor<2x4x20xf32, {layout = ["0", "2/8", "1", "2%8"]}>):
      %12 = "tgn.dot"(%28, %29) <{dims = {lhs_batch = [0], rhs_batch = [0], lhs_contract = [2], rhs_contract = [1]}, out = "f32"}> : (tensor<2x6x4xf32>, tensor<2x4x20xf32, {layout = ["0", "2/8", "1", "2%8"]}>) -> tensor<2x6x20xf32> loc("s")
      "tgn.yield"(%12) : (tensor<2x6x20xf32>) -> ()
    }) : (tensor<2x6x4xf32>, tensor<2x4x20xf32, {layout = ["0", "2/8", "1", "2%8"]}>) -> tensor<2x6x20xf32> loc("s")
    %30 = "tgn.kernel"(%0, %5) <{class = "dot"}> ({
    ^bb0(%31: tensor<6x4xf32>, %32: tensor<4x16xf32>):
      %13 = "tgn.dot"(%31, %32) <{dims = {lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0]}, out = "f32"}> : (tensor<6x4xf32>, tensor<4x16xf32>) -> tensor<6x16xf32> loc("u")
      "tgn.yield"(%13) : (tensor<6x16xf32>) -> ()
    }) : (tensor<6x4xf32>, tensor<4x16xf32>) -> tensor<6x16xf32> loc("u")
    "tgn.return"(%14, %17, %22, %27, %30) : (tensor<6x20xf32>, tensor<5x20xf32>, tensor<5x20xf32>, tensor<2x6x20xf32>, tensor<6x16xf32>) -> ()
  }) : () -> ()
}) : () -> ()
