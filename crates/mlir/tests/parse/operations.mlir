// Operands, result packs, properties, attributes and signatures of every arity.
%0 = "tgn.arg"() : () -> tensor<4xf32>
%a, %b:2, %c-d = "tgn.many"(%0, %0) <{ axis = 1 , keep }> {note="x"} : (tensor<4xf32>, tensor<4xf32>) -> (i1, i2, i3, i4)
"tgn.use"(%b, %b#1, %b #0, %a#0) : (i2, i3, i2, i1) -> () // a comment at the end
"tgn.function"() : () -> (() -> ())
"tgn.unnamed"() : () -> (i32, i32)
"tgn.escaped\0Aname"() {} : () -> ()
// -----
%0 = "tgn.arg"() : () -> tensor<4xf32>
%a, %b:2, %c-d = "tgn.many"(%0, %0) <{axis = 1, keep}> {note = "x"} : (tensor<4xf32>, tensor<4xf32>) -> (i1, i2, i3, i4)
"tgn.use"(%b#0, %b#1, %b#0, %a) : (i2, i3, i2, i1) -> ()
"tgn.function"() : () -> (() -> ())
"tgn.unnamed"() : () -> (i32, i32)
"tgn.escaped\0Aname"() : () -> ()
