// A vector wider than the tier's registers is the lowering's fault.
"builtin.module"() ({
  "tgc.func"() <{sym_name = "too_wide", arg_names = [], result_names = []}> ({
    %0 = "tgc.arg"() <{word = 1}> : () -> index
    %1 = "tgc.arg"() <{word = 2}> : () -> index
    %2 = "tgc.load"(%0) <{dtype = "f32", lanes = 16, at = {indexed = false, scale = 1, disp = 0, counted = false}}> : (index) -> vector<16xf32>
    "tgc.store"(%1, %2) <{dtype = "f32", at = {indexed = false, scale = 1, disp = 0, counted = false}}> : (index, vector<16xf32>) -> ()
    "tgc.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// avx2: error[internal]: selecting x86-64 code for `too_wide`: vector<16xf32> is wider than a register
// note: op2 = tgc.load
// avx512: frame 0, spills 0
//     ; op0 tgc.arg
//     mov rcx, [rdi+8]
//     ; op1 tgc.arg
//     mov rax, [rdi+0x10]
//     ; op2 tgc.load
//     vmovups zmm0, [rcx]
//     ; op3 tgc.store
//     vmovups [rax], zmm0
//     ; op4 tgc.return
//     vzeroupper
//     ret
