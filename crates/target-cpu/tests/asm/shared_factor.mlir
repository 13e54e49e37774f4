// A row's factor that meets two columns is taken apart once on AVX2.
"builtin.module"() ({
  "tgc.func"() <{sym_name = "shared_factor", arg_names = [], result_names = []}> ({
    %0 = "tgc.arg"() <{word = 1}> : () -> index
    %1 = "tgc.arg"() <{word = 2}> : () -> index
    %2 = "tgc.vec_const"() <{elem = "i32", lanes = 8, bits = 0}> : () -> vector<8xi32>
    %3 = "tgc.load_splat"(%0) <{dtype = "i32", lanes = 8, at = {indexed = false, scale = 1, disp = 0, counted = false}}> : (index) -> vector<8xi32>
    %4 = "tgc.load"(%0) <{dtype = "i32", lanes = 8, at = {indexed = false, scale = 1, disp = 64, counted = false}}> : (index) -> vector<8xi32>
    %5 = "tgc.dot_u8s8"(%2, %3, %4) : (vector<8xi32>, vector<8xi32>, vector<8xi32>) -> vector<8xi32>
    %6 = "tgc.load"(%0) <{dtype = "i32", lanes = 8, at = {indexed = false, scale = 1, disp = 96, counted = false}}> : (index) -> vector<8xi32>
    %7 = "tgc.dot_u8s8"(%5, %3, %6) : (vector<8xi32>, vector<8xi32>, vector<8xi32>) -> vector<8xi32>
    "tgc.store"(%1, %7) <{dtype = "i32", at = {indexed = false, scale = 1, disp = 0, counted = false}}> : (index, vector<8xi32>) -> ()
    "tgc.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// avx2: frame 0, spills 0
//     vpbroadcastd ymm1, [0x74]
//     vpxor xmm0, xmm0, xmm0
//     ; op0 tgc.arg
//     mov rcx, [rdi+8]
//     ; op1 tgc.arg
//     mov rax, [rdi+0x10]
//     ; op3 tgc.load_splat
//     vpbroadcastd ymm4, [rcx]
//     ; op4 tgc.load
//     vmovups ymm3, [rcx+0x40]
//     ; op5 tgc.dot_u8s8
//     vpand ymm2, ymm4, ymm1
//     vpsrlw ymm1, ymm4, 8
//     vpsllw ymm4, ymm3, 8
//     vpsraw ymm4, ymm4, 8
//     vpsraw ymm3, ymm3, 8
//     vpmaddwd ymm4, ymm2, ymm4
//     vpaddd ymm0, ymm0, ymm4
//     vpmaddwd ymm3, ymm1, ymm3
//     vpaddd ymm0, ymm0, ymm3
//     ; op6 tgc.load
//     vmovups ymm3, [rcx+0x60]
//     ; op7 tgc.dot_u8s8
//     vpsllw ymm4, ymm3, 8
//     vpsraw ymm4, ymm4, 8
//     vpsraw ymm3, ymm3, 8
//     vpmaddwd ymm2, ymm2, ymm4
//     vpaddd ymm0, ymm0, ymm2
//     vpmaddwd ymm1, ymm1, ymm3
//     vpaddd ymm0, ymm0, ymm1
//     ; op8 tgc.store
//     vmovups [rax], ymm0
//     ; op9 tgc.return
//     vzeroupper
//     ret
// avx512: frame 0, spills 0
//     vpxor xmm0, xmm0, xmm0
//     ; op0 tgc.arg
//     mov rcx, [rdi+8]
//     ; op1 tgc.arg
//     mov rax, [rdi+0x10]
//     ; op3 tgc.load_splat
//     vpbroadcastd ymm1, [rcx]
//     ; op5 tgc.dot_u8s8
//     vpdpbusd ymm0, ymm1, [rcx+0x40]
//     ; op7 tgc.dot_u8s8
//     vpdpbusd ymm0, ymm1, [rcx+0x60]
//     ; op8 tgc.store
//     vmovups [rax], ymm0
//     ; op9 tgc.return
//     vzeroupper
//     ret
