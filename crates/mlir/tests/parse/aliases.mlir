// Aliases move to the top, each before its use; a signature may be spelled through one.
!elem = f32
#enc = #d.encoding<1>
!row = tensor<4x!elem, #enc>
#inf = 0x7F800000 : !elem
#zero = dense<0.0> : !row
!again = !row
!fn = (!row) -> (!again, !again)
#verbatim = #d.holds<!again, "!fn">
%0 = "t.make"() {inf = #inf, zero = #zero, verbatim = #verbatim} : () -> !row
%1:2 = "t.call"(%0) : !fn
#late = [#zero, i32]
!late = i64
"t.late"() {late = #late, ty = !late} : () -> ()
// -----
#enc = #d.encoding<1>
!elem = f32
#inf = 0x7F800000 : !elem
!row = tensor<4x!elem, #enc>
#zero = dense<0.0> : !row
!again = !row
#verbatim = #d.holds<!again, "!fn">
#late = [#zero, i32]
!fn = (!row) -> (!again, !again)
!late = i64
%0 = "t.make"() {inf = #inf, zero = #zero, verbatim = #verbatim} : () -> !row
%1:2 = "t.call"(%0) : (!row) -> (!again, !again)
"t.late"() {late = #late, ty = !late} : () -> ()
