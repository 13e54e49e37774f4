// An alias may be all punctuation; `#-` keeps away from a `}`, with which it would close the metadata.
#- = 3 : i64
#$ = 4 : i64
"t.op"() {a = #-
} : () -> ()
"t.op"() {a = [#-], b = {c = #- , d = #-
}, e = #$} : () -> ()
// -----
#- = 3 : i64
#$ = 4 : i64
"t.op"() {a = #- } : () -> ()
"t.op"() {a = [#- ], b = {c = #- , d = #- }, e = #$} : () -> ()
