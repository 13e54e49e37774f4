// Storage types widen when loaded and narrow when stored.
"builtin.module"() ({
  "tgc.func"() <{sym_name = "halves", arg_names = [], result_names = []}> ({
    %0 = "tgc.arg"() <{word = 1}> : () -> index
    %1 = "tgc.arg"() <{word = 2}> : () -> index
    %2 = "tgc.load"(%0) <{dtype = "f16", lanes = 8, at = {indexed = false, scale = 1, disp = 0, counted = false}}> : (index) -> vector<8xf32>
    "tgc.store"(%1, %2) <{dtype = "bf16", at = {indexed = false, scale = 1, disp = 0, counted = false}}> : (index, vector<8xf32>) -> ()
    %3 = "tgc.load"(%0) <{dtype = "u8", lanes = 8, at = {indexed = false, scale = 1, disp = 16, counted = false}}> : (index) -> vector<8xi32>
    "tgc.store"(%1, %3) <{dtype = "i8", at = {indexed = false, scale = 1, disp = 16, counted = false}}> : (index, vector<8xi32>) -> ()
    "tgc.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// avx2: frame 0, spills 0
//     vpbroadcastd ymm6, [0x100]
//     vpbroadcastd ymm5, [0x104]
//     vpbroadcastd ymm4, [0x108]
//     vpbroadcastd ymm3, [0x10c]
//     vpbroadcastd ymm2, [0x110]
//     vmovups ymm1, [0xc0]
//     vmovups ymm0, [0xe0]
//     ; op0 tgc.arg
//     mov rcx, [rdi+8]
//     ; op1 tgc.arg
//     mov rax, [rdi+0x10]
//     ; op2 tgc.load
//     vcvtph2ps ymm7, [rcx]
//     ; op3 tgc.store
//     vpsrld ymm8, ymm7, 0x10
//     vpand ymm6, ymm8, ymm6
//     vpaddd ymm5, ymm7, ymm5
//     vpaddd ymm5, ymm5, ymm6
//     vpor ymm4, ymm7, ymm4
//     vpand ymm3, ymm7, ymm3
//     vpcmpgtd ymm2, ymm3, ymm2
//     vblendvps ymm2, ymm5, ymm4, ymm2
//     vpsrld ymm2, ymm2, 0x10
//     vpshufb ymm1, ymm2, ymm1
//     vextractf128 xmm2, ymm1, 1
//     vpunpcklqdq xmm1, xmm1, xmm2
//     vmovups [rax], xmm1
//     ; op4 tgc.load
//     vpmovzxbd ymm1, [rcx+0x10]
//     ; op5 tgc.store
//     vpshufb ymm0, ymm1, ymm0
//     vextractf128 xmm1, ymm0, 1
//     vpunpckldq xmm0, xmm0, xmm1
//     vmovsd [rax+0x10], xmm0
//     ; op6 tgc.return
//     vzeroupper
//     ret
// avx512: frame 0, spills 0
//     vpbroadcastd ymm4, [0x7c]
//     vpbroadcastd ymm3, [0x80]
//     vpbroadcastd ymm2, [0x84]
//     vpbroadcastd ymm1, [0x88]
//     vpbroadcastd ymm0, [0x8c]
//     ; op0 tgc.arg
//     mov rcx, [rdi+8]
//     ; op1 tgc.arg
//     mov rax, [rdi+0x10]
//     ; op2 tgc.load
//     vcvtph2ps ymm5, [rcx]
//     ; op3 tgc.store
//     vpsrld ymm6, ymm5, 0x10
//     vpand ymm4, ymm6, ymm4
//     vpaddd ymm3, ymm5, ymm3
//     vpaddd ymm3, ymm3, ymm4
//     vpor ymm2, ymm5, ymm2
//     vpand ymm1, ymm5, ymm1
//     vpcmpltd k1, ymm0, ymm1
//     vpblendmd ymm0{k1}, ymm3, ymm2
//     vpsrld ymm0, ymm0, 0x10
//     vpmovdw [rax], ymm0
//     ; op4 tgc.load
//     vpmovzxbd ymm0, [rcx+0x10]
//     ; op5 tgc.store
//     vpmovdb [rax+0x10], ymm0
//     ; op6 tgc.return
//     vzeroupper
//     ret
