// Queries, keys and values that lie side by side become heads of one axis; where parts of a head are cut they stay, and so do readers other than attention.
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "z"], result_names = ["y", "other"]}> ({
  ^bb0(%x: tensor<?x?x96xf32, {dims = ["b", "n"]}>, %z: tensor<?x?x100xf32, {dims = ["b", "n"]}>):
    %s0 = "tgn.slice"(%x) <{starts = [0, 0, 0], sizes = ["b", "n", 32], steps = [1, 1, 1]}> : (tensor<?x?x96xf32, {dims = ["b", "n"]}>) -> tensor<?x?x32xf32, {dims = ["b", "n"]}> loc("slice0")
    %r0 = "tgn.reshape"(%s0) <{shape = ["b", "n", 2, 16]}> : (tensor<?x?x32xf32, {dims = ["b", "n"]}>) -> tensor<?x?x2x16xf32, {dims = ["b", "n"]}> loc("heads0")
    %t0 = "tgn.transpose"(%r0) <{perm = [0, 2, 1, 3]}> : (tensor<?x?x2x16xf32, {dims = ["b", "n"]}>) -> tensor<?x2x?x16xf32, {dims = ["b", "n"]}> loc("transposed0")
    %s1 = "tgn.slice"(%x) <{starts = [0, 0, 32], sizes = ["b", "n", 32], steps = [1, 1, 1]}> : (tensor<?x?x96xf32, {dims = ["b", "n"]}>) -> tensor<?x?x32xf32, {dims = ["b", "n"]}> loc("slice1")
    %r1 = "tgn.reshape"(%s1) <{shape = ["b", "n", 2, 16]}> : (tensor<?x?x32xf32, {dims = ["b", "n"]}>) -> tensor<?x?x2x16xf32, {dims = ["b", "n"]}> loc("heads1")
    %t1 = "tgn.transpose"(%r1) <{perm = [0, 2, 1, 3]}> : (tensor<?x?x2x16xf32, {dims = ["b", "n"]}>) -> tensor<?x2x?x16xf32, {dims = ["b", "n"]}> loc("transposed1")
    %s2 = "tgn.slice"(%x) <{starts = [0, 0, 64], sizes = ["b", "n", 32], steps = [1, 1, 1]}> : (tensor<?x?x96xf32, {dims = ["b", "n"]}>) -> tensor<?x?x32xf32, {dims = ["b", "n"]}> loc("slice2")
    %r2 = "tgn.reshape"(%s2) <{shape = ["b", "n", 2, 16]}> : (tensor<?x?x32xf32, {dims = ["b", "n"]}>) -> tensor<?x?x2x16xf32, {dims = ["b", "n"]}> loc("heads2")
    %t2 = "tgn.transpose"(%r2) <{perm = [0, 2, 1, 3]}> : (tensor<?x?x2x16xf32, {dims = ["b", "n"]}>) -> tensor<?x2x?x16xf32, {dims = ["b", "n"]}> loc("transposed2")
    %s3 = "tgn.slice"(%z) <{starts = [0, 0, 8], sizes = ["b", "n", 32], steps = [1, 1, 1]}> : (tensor<?x?x100xf32, {dims = ["b", "n"]}>) -> tensor<?x?x32xf32, {dims = ["b", "n"]}> loc("slice3")
    %r3 = "tgn.reshape"(%s3) <{shape = ["b", "n", 2, 16]}> : (tensor<?x?x32xf32, {dims = ["b", "n"]}>) -> tensor<?x?x2x16xf32, {dims = ["b", "n"]}> loc("heads3")
    %t3 = "tgn.transpose"(%r3) <{perm = [0, 2, 1, 3]}> : (tensor<?x?x2x16xf32, {dims = ["b", "n"]}>) -> tensor<?x2x?x16xf32, {dims = ["b", "n"]}> loc("transposed3")
    %a = "tgn.attention"(%t0, %t1, %t2) <{scale = 2.5e-1 : f64, causal = false, window = 0, softcap = 0.0e0 : f64}> : (tensor<?x2x?x16xf32, {dims = ["b", "n"]}>, tensor<?x2x?x16xf32, {dims = ["b", "n"]}>, tensor<?x2x?x16xf32, {dims = ["b", "n"]}>) -> tensor<?x2x?x16xf32, {dims = ["b", "n"]}> loc("attention")
    %o = "tgn.attention"(%a, %t3, %t3) <{scale = 2.5e-1 : f64, causal = false, window = 0, softcap = 0.0e0 : f64}> : (tensor<?x2x?x16xf32, {dims = ["b", "n"]}>, tensor<?x2x?x16xf32, {dims = ["b", "n"]}>, tensor<?x2x?x16xf32, {dims = ["b", "n"]}>) -> tensor<?x2x?x16xf32, {dims = ["b", "n"]}> loc("other")
    %s4 = "tgn.slice"(%x) <{starts = [0, 0, 32], sizes = ["b", "n", 32], steps = [1, 1, 1]}> : (tensor<?x?x96xf32, {dims = ["b", "n"]}>) -> tensor<?x?x32xf32, {dims = ["b", "n"]}> loc("slice4")
    %r4 = "tgn.reshape"(%s4) <{shape = ["b", "n", 2, 16]}> : (tensor<?x?x32xf32, {dims = ["b", "n"]}>) -> tensor<?x?x2x16xf32, {dims = ["b", "n"]}> loc("heads4")
    "tgn.return"(%o, %r4) : (tensor<?x2x?x16xf32, {dims = ["b", "n"]}>, tensor<?x?x2x16xf32, {dims = ["b", "n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {axis = 0, input = 0}, n = {axis = 1, input = 0}}} : () -> ()
// -----
// transposed0: transpose(reshape(slice(x))) => transpose(slice(reshape(x))) where attention reads heads
// transposed1: transpose(reshape(slice(x))) => transpose(slice(reshape(x))) where attention reads heads
// transposed2: transpose(reshape(slice(x))) => transpose(slice(reshape(x))) where attention reads heads
"builtin.module"() ({
  "tgn.func"() <{sym_name = "main", arg_names = ["x", "z"], result_names = ["y", "other"]}> ({
  ^bb0(%0: tensor<?x?x96xf32, {dims = ["b", "n"]}>, %1: tensor<?x?x100xf32, {dims = ["b", "n"]}>):
    %18 = "tgn.reshape"(%0) <{shape = ["b", "n", 6, 16]}> : (tensor<?x?x96xf32, {dims = ["b", "n"]}>) -> tensor<?x?x6x16xf32, {dims = ["b", "n"]}> loc("transposed0")
    %19 = "tgn.slice"(%18) <{starts = [0, 0, 0, 0], sizes = ["b", "n", 2, 16], steps = [1, 1, 1, 1]}> : (tensor<?x?x6x16xf32, {dims = ["b", "n"]}>) -> tensor<?x?x2x16xf32, {dims = ["b", "n"]}> loc("transposed0")
    %20 = "tgn.transpose"(%19) <{perm = [0, 2, 1, 3]}> : (tensor<?x?x2x16xf32, {dims = ["b", "n"]}>) -> tensor<?x2x?x16xf32, {dims = ["b", "n"]}> loc(fused["transposed0", "slice0", "heads0"])
    %21 = "tgn.reshape"(%0) <{shape = ["b", "n", 6, 16]}> : (tensor<?x?x96xf32, {dims = ["b", "n"]}>) -> tensor<?x?x6x16xf32, {dims = ["b", "n"]}> loc("transposed1")
    %22 = "tgn.slice"(%21) <{starts = [0, 0, 2, 0], sizes = ["b", "n", 2, 16], steps = [1, 1, 1, 1]}> : (tensor<?x?x6x16xf32, {dims = ["b", "n"]}>) -> tensor<?x?x2x16xf32, {dims = ["b", "n"]}> loc("transposed1")
    %23 = "tgn.transpose"(%22) <{perm = [0, 2, 1, 3]}> : (tensor<?x?x2x16xf32, {dims = ["b", "n"]}>) -> tensor<?x2x?x16xf32, {dims = ["b", "n"]}> loc(fused["transposed1", "slice1", "heads1"])
    %24 = "tgn.reshape"(%0) <{shape = ["b", "n", 6, 16]}> : (tensor<?x?x96xf32, {dims = ["b", "n"]}>) -> tensor<?x?x6x16xf32, {dims = ["b", "n"]}> loc("transposed2")
    %25 = "tgn.slice"(%24) <{starts = [0, 0, 4, 0], sizes = ["b", "n", 2, 16], steps = [1, 1, 1, 1]}> : (tensor<?x?x6x16xf32, {dims = ["b", "n"]}>) -> tensor<?x?x2x16xf32, {dims = ["b", "n"]}> loc("transposed2")
    %26 = "tgn.transpose"(%25) <{perm = [0, 2, 1, 3]}> : (tensor<?x?x2x16xf32, {dims = ["b", "n"]}>) -> tensor<?x2x?x16xf32, {dims = ["b", "n"]}> loc(fused["transposed2", "slice2", "heads2"])
    %11 = "tgn.slice"(%1) <{starts = [0, 0, 8], sizes = ["b", "n", 32], steps = [1, 1, 1]}> : (tensor<?x?x100xf32, {dims = ["b", "n"]}>) -> tensor<?x?x32xf32, {dims = ["b", "n"]}> loc("slice3")
    %12 = "tgn.reshape"(%11) <{shape = ["b", "n", 2, 16]}> : (tensor<?x?x32xf32, {dims = ["b", "n"]}>) -> tensor<?x?x2x16xf32, {dims = ["b", "n"]}> loc("heads3")
    %13 = "tgn.transpose"(%12) <{perm = [0, 2, 1, 3]}> : (tensor<?x?x2x16xf32, {dims = ["b", "n"]}>) -> tensor<?x2x?x16xf32, {dims = ["b", "n"]}> loc("transposed3")
    %14 = "tgn.attention"(%20, %23, %26) <{scale = 2.5e-1 : f64, causal = false, window = 0, softcap = 0.0e0 : f64}> : (tensor<?x2x?x16xf32, {dims = ["b", "n"]}>, tensor<?x2x?x16xf32, {dims = ["b", "n"]}>, tensor<?x2x?x16xf32, {dims = ["b", "n"]}>) -> tensor<?x2x?x16xf32, {dims = ["b", "n"]}> loc("attention")
    %15 = "tgn.attention"(%14, %13, %13) <{scale = 2.5e-1 : f64, causal = false, window = 0, softcap = 0.0e0 : f64}> : (tensor<?x2x?x16xf32, {dims = ["b", "n"]}>, tensor<?x2x?x16xf32, {dims = ["b", "n"]}>, tensor<?x2x?x16xf32, {dims = ["b", "n"]}>) -> tensor<?x2x?x16xf32, {dims = ["b", "n"]}> loc("other")
    %16 = "tgn.slice"(%0) <{starts = [0, 0, 32], sizes = ["b", "n", 32], steps = [1, 1, 1]}> : (tensor<?x?x96xf32, {dims = ["b", "n"]}>) -> tensor<?x?x32xf32, {dims = ["b", "n"]}> loc("slice4")
    %17 = "tgn.reshape"(%16) <{shape = ["b", "n", 2, 16]}> : (tensor<?x?x32xf32, {dims = ["b", "n"]}>) -> tensor<?x?x2x16xf32, {dims = ["b", "n"]}> loc("heads4")
    "tgn.return"(%15, %17) : (tensor<?x2x?x16xf32, {dims = ["b", "n"]}>, tensor<?x?x2x16xf32, {dims = ["b", "n"]}>) -> ()
  }) : () -> ()
}) {tgn.symbols = {b = {input = 0, axis = 0}, n = {input = 0, axis = 1}}} : () -> ()
