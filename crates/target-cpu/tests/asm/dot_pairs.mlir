// Pairs of products in 16 bits: a vector that one product reads comes from memory, one that two read is loaded once.
"builtin.module"() ({
  "tgc.func"() <{sym_name = "dot", arg_names = [], result_names = []}> ({
    %0 = "tgc.arg"() <{word = 1}> : () -> index
    %1 = "tgc.arg"() <{word = 2}> : () -> index
    %2 = "tgc.vec_const"() <{elem = "i32", lanes = 8, bits = 0}> : () -> vector<8xi32>
    %3 = "tgc.load_splat"(%0) <{dtype = "i32", lanes = 8, at = {indexed = false, scale = 1, disp = 0, counted = false}}> : (index) -> vector<8xi32>
    %4 = "tgc.load_raw"(%0) <{elem = "i32", lanes = 8, at = {indexed = false, scale = 1, disp = 64, counted = false}}> : (index) -> vector<8xi32>
    %5 = "tgc.dot_u8s8_pairs"(%2, %3, %4) : (vector<8xi32>, vector<8xi32>, vector<8xi32>) -> vector<8xi32>
    %6 = "tgc.load_raw"(%0) <{elem = "i32", lanes = 8, at = {indexed = false, scale = 1, disp = 96, counted = false}}> : (index) -> vector<8xi32>
    %7 = "tgc.dot_u8s8_pairs"(%5, %3, %6) : (vector<8xi32>, vector<8xi32>, vector<8xi32>) -> vector<8xi32>
    %8 = "tgc.dot_u8s8_pairs"(%7, %3, %6) : (vector<8xi32>, vector<8xi32>, vector<8xi32>) -> vector<8xi32>
    "tgc.store"(%1, %8) <{dtype = "i32", at = {indexed = false, scale = 1, disp = 0, counted = false}}> : (index, vector<8xi32>) -> ()
    "tgc.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// avx2: frame 0, spills 0
//     vpbroadcastd ymm1, [0x50]
//     vpxor xmm0, xmm0, xmm0
//     ; op0 tgc.arg
//     mov rcx, [rdi+8]
//     ; op1 tgc.arg
//     mov rax, [rdi+0x10]
//     ; op3 tgc.load_splat
//     vpbroadcastd ymm2, [rcx]
//     ; op5 tgc.dot_u8s8_pairs
//     vpmaddubsw ymm3, ymm2, [rcx+0x40]
//     vpmaddwd ymm3, ymm3, ymm1
//     vpaddd ymm0, ymm0, ymm3
//     ; op6 tgc.load_raw
//     vmovups ymm3, [rcx+0x60]
//     ; op7 tgc.dot_u8s8_pairs
//     vpmaddubsw ymm4, ymm2, ymm3
//     vpmaddwd ymm4, ymm4, ymm1
//     vpaddd ymm0, ymm0, ymm4
//     ; op8 tgc.dot_u8s8_pairs
//     vpmaddubsw ymm2, ymm2, ymm3
//     vpmaddwd ymm1, ymm2, ymm1
//     vpaddd ymm0, ymm0, ymm1
//     ; op9 tgc.store
//     vmovups [rax], ymm0
//     ; op10 tgc.return
//     vzeroupper
//     ret
// avx512: frame 0, spills 0
//     vpbroadcastd ymm1, [0x50]
//     vpxor xmm0, xmm0, xmm0
//     ; op0 tgc.arg
//     mov rcx, [rdi+8]
//     ; op1 tgc.arg
//     mov rax, [rdi+0x10]
//     ; op3 tgc.load_splat
//     vpbroadcastd ymm2, [rcx]
//     ; op5 tgc.dot_u8s8_pairs
//     vpmaddubsw ymm3, ymm2, [rcx+0x40]
//     vpmaddwd ymm3, ymm3, ymm1
//     vpaddd ymm0, ymm0, ymm3
//     ; op6 tgc.load_raw
//     vmovups ymm3, [rcx+0x60]
//     ; op7 tgc.dot_u8s8_pairs
//     vpmaddubsw ymm4, ymm2, ymm3
//     vpmaddwd ymm4, ymm4, ymm1
//     vpaddd ymm0, ymm0, ymm4
//     ; op8 tgc.dot_u8s8_pairs
//     vpmaddubsw ymm2, ymm2, ymm3
//     vpmaddwd ymm1, ymm2, ymm1
//     vpaddd ymm0, ymm0, ymm1
//     ; op9 tgc.store
//     vmovups [rax], ymm0
//     ; op10 tgc.return
//     vzeroupper
//     ret
