// A load that is used once is an operand; the carried sum keeps its register.
"builtin.module"() ({
  "tgc.func"() <{sym_name = "sum", arg_names = [], result_names = []}> ({
    %0 = "tgc.const"() <{value = 0}> : () -> index
    %1 = "tgc.const"() <{value = 64}> : () -> index
    %2 = "tgc.arg"() <{word = 1}> : () -> index
    %3 = "tgc.arg"() <{word = 2}> : () -> index
    %4 = "tgc.vec_const"() <{elem = "f32", lanes = 8, bits = 0}> : () -> vector<8xf32>
    %5 = "tgc.for"(%0, %1, %4) <{step = 8, level = "register"}> ({
    ^bb0(%6: index, %7: vector<8xf32>):
      %8 = "tgc.load"(%2, %6) <{dtype = "f32", lanes = 8, at = {indexed = true, scale = 4, disp = 0, counted = false}}> : (index, index) -> vector<8xf32>
      %9 = "tgc.vec"(%7, %8) <{op = "add"}> : (vector<8xf32>, vector<8xf32>) -> vector<8xf32>
      "tgc.yield"(%9) : (vector<8xf32>) -> ()
    }) : (index, index, vector<8xf32>) -> vector<8xf32>
    %10 = "tgc.reduce"(%5) <{op = "add"}> : (vector<8xf32>) -> vector<8xf32>
    "tgc.store"(%3, %10) <{dtype = "f32", at = {indexed = false, scale = 1, disp = 0, counted = false}}> : (index, vector<8xf32>) -> ()
    "tgc.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// avx2: frame 0, spills 0
//     ; op2 tgc.arg
//     mov rcx, [rdi+8]
//     ; op3 tgc.arg
//     mov rax, [rdi+0x10]
//     ; op5 tgc.for
//     mov edx, 0
//     vpxor xmm0, xmm0, xmm0
// L0:
//     ; op7 tgc.vec
//     vaddps ymm0, ymm0, [rcx+rdx*4]
//     ; op5 tgc.for
//     add rdx, 8
//     cmp rdx, 0x40
//     jl L0
//     ; op9 tgc.reduce
//     vextractf128 xmm1, ymm0, 1
//     vaddps xmm0, xmm0, xmm1
//     vpshufd xmm1, xmm0, 0x4e
//     vaddps xmm0, xmm0, xmm1
//     vpshufd xmm1, xmm0, 0xb1
//     vaddps xmm0, xmm0, xmm1
//     vpbroadcastd ymm0, xmm0
//     ; op10 tgc.store
//     vmovups [rax], ymm0
//     ; op11 tgc.return
//     vzeroupper
//     ret
// avx512: frame 0, spills 0
//     ; op2 tgc.arg
//     mov rcx, [rdi+8]
//     ; op3 tgc.arg
//     mov rax, [rdi+0x10]
//     ; op5 tgc.for
//     mov edx, 0
//     vpxor xmm0, xmm0, xmm0
// L0:
//     ; op7 tgc.vec
//     vaddps ymm0, ymm0, [rcx+rdx*4]
//     ; op5 tgc.for
//     add rdx, 8
//     cmp rdx, 0x40
//     jl L0
//     ; op9 tgc.reduce
//     vextractf128 xmm1, ymm0, 1
//     vaddps xmm0, xmm0, xmm1
//     vpshufd xmm1, xmm0, 0x4e
//     vaddps xmm0, xmm0, xmm1
//     vpshufd xmm1, xmm0, 0xb1
//     vaddps xmm0, xmm0, xmm1
//     vpbroadcastd ymm0, xmm0
//     ; op10 tgc.store
//     vmovups [rax], ymm0
//     ; op11 tgc.return
//     vzeroupper
//     ret
