// A counted tail is one mask; the addresses are operands.
"builtin.module"() ({
  "tgc.func"() <{sym_name = "axpy", arg_names = [], result_names = []}> ({
    %0 = "tgc.begin"() : () -> index
    %1 = "tgc.end"() : () -> index
    %2 = "tgc.arg"() <{word = 1}> : () -> index
    %3 = "tgc.arg"() <{word = 2}> : () -> index
    %4 = "tgc.vec_const"() <{elem = "f32", lanes = 8, bits = 1075838976}> : () -> vector<8xf32>
    "tgc.for"(%0, %1) <{step = 8, level = "l1"}> ({
    ^bb0(%5: index):
      %6 = "tgc.index"(%1, %5) <{op = "sub"}> : (index, index) -> index
      %7 = "tgc.load"(%2, %5, %6) <{dtype = "f32", lanes = 8, at = {indexed = true, scale = 4, disp = 0, counted = true}}> : (index, index, index) -> vector<8xf32>
      %8 = "tgc.load"(%3, %5, %6) <{dtype = "f32", lanes = 8, at = {indexed = true, scale = 4, disp = 0, counted = true}}> : (index, index, index) -> vector<8xf32>
      %9 = "tgc.vec"(%7, %4, %8) <{op = "fma"}> : (vector<8xf32>, vector<8xf32>, vector<8xf32>) -> vector<8xf32>
      "tgc.store"(%3, %5, %9, %6) <{dtype = "f32", at = {indexed = true, scale = 4, disp = 0, counted = true}}> : (index, index, vector<8xf32>, index) -> ()
      "tgc.yield"() : () -> ()
    }) : (index, index) -> ()
    "tgc.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// avx2: frame 0, spills 0
//     mov eax, 8
//     mov esi, 0
//     vmovups ymm0, [0xa0]
//     vpbroadcastd ymm1, [0xc0]
//     ; op2 tgc.arg
//     mov r8, [rdi+8]
//     ; op3 tgc.arg
//     mov rdi, [rdi+0x10]
//     ; op5 tgc.for
//     cmp rdx, rcx
//     jge L3
// L0:
//     ; op6 tgc.index
//     mov r9, rcx
//     sub r9, rdx
//     ; op7 tgc.load
//     mov r10, r9
//     cmp r10, 8
//     cmovg r10, rax
//     test r10, r10
//     cmovs r10, rsi
//     vmovd xmm2, r10d
//     vpbroadcastd ymm2, xmm2
//     vpcmpgtd ymm2, ymm2, ymm0
//     vpmaskmovd ymm4, ymm2, [r8+rdx*4]
//     ; op8 tgc.load
//     vpmaskmovd ymm3, ymm2, [rdi+rdx*4]
//     ; op9 tgc.vec
//     vfmadd231ps ymm3, ymm4, ymm1
//     ; op10 tgc.store
//     cmp r9, 8
//     jl L1
//     vmovups [rdi+rdx*4], ymm3
//     jmp L2
// L1:
//     vpmaskmovd [rdi+rdx*4], ymm2, ymm3
// L2:
//     ; op5 tgc.for
//     add rdx, 8
//     cmp rdx, rcx
//     jl L0
// L3:
//     ; op12 tgc.return
//     vzeroupper
//     ret
// avx512: frame 0, spills 0
//     mov eax, 8
//     mov esi, 0
//     mov r8, 0xffffffffffffffff
//     vpbroadcastd ymm0, [0x88]
//     ; op2 tgc.arg
//     mov r9, [rdi+8]
//     ; op3 tgc.arg
//     mov rdi, [rdi+0x10]
//     ; op5 tgc.for
//     cmp rdx, rcx
//     jge L1
// L0:
//     ; op6 tgc.index
//     mov r10, rcx
//     sub r10, rdx
//     ; op7 tgc.load
//     cmp r10, 8
//     cmovg r10, rax
//     test r10, r10
//     cmovs r10, rsi
//     bzhi r10, r8, r10
//     kmovq k1, r10
//     vmovups ymm2{k1}{z}, [r9+rdx*4]
//     ; op8 tgc.load
//     vmovups ymm1{k1}{z}, [rdi+rdx*4]
//     ; op9 tgc.vec
//     vfmadd231ps ymm1, ymm2, ymm0
//     ; op10 tgc.store
//     vmovups [rdi+rdx*4]{k1}, ymm1
//     ; op5 tgc.for
//     add rdx, 8
//     cmp rdx, rcx
//     jl L0
// L1:
//     ; op12 tgc.return
//     vzeroupper
//     ret
