// A comparison fuses with its branch; division uses rax and rdx.
"builtin.module"() ({
  "tgc.func"() <{sym_name = "branch", arg_names = [], result_names = []}> ({
    %0 = "tgc.arg"() <{word = 1}> : () -> index
    %1 = "tgc.arg"() <{word = 2}> : () -> index
    %2 = "tgc.const"() <{value = 7}> : () -> index
    %4 = "tgc.const"() <{value = 5}> : () -> index
    %3 = "tgc.index"(%0, %2) <{op = "lt"}> : (index, index) -> index
    %7 = "tgc.if"(%3) ({
      %5 = "tgc.index"(%0, %4) <{op = "mul"}> : (index, index) -> index
      "tgc.yield"(%5) : (index) -> ()
    }, {
      %6 = "tgc.index"(%0, %2) <{op = "floordiv"}> : (index, index) -> index
      "tgc.yield"(%6) : (index) -> ()
    }) : (index) -> index
    %8 = "tgc.index"(%7, %0) <{op = "min"}> : (index, index) -> index
    %9 = "tgc.splat"(%8) <{elem = "i64", lanes = 1}> : (index) -> vector<1xi64>
    "tgc.store"(%1, %9) <{dtype = "i64", at = {indexed = false, scale = 1, disp = 0, counted = false}}> : (index, vector<1xi64>) -> ()
    "tgc.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// avx2: frame 0, spills 0
//     mov r9d, 7
//     mov r8d, 0
//     ; op0 tgc.arg
//     mov rsi, [rdi+8]
//     ; op1 tgc.arg
//     mov rcx, [rdi+0x10]
//     ; op5 tgc.if
//     cmp rsi, 7
//     jge L0
//     ; op6 tgc.index
//     lea rdi, [rsi+rsi*4]
//     ; op5 tgc.if
//     jmp L1
// L0:
//     ; op8 tgc.index
//     mov rax, rsi
//     cqo
//     idiv r9
//     mov rdi, rax
//     mov rax, rdi
//     imul rax, r9
//     mov rdx, rsi
//     sub rdx, rax
//     mov rax, rdx
//     xor rax, r9
//     sar rax, 0x3f
//     test rdx, rdx
//     cmove rax, r8
//     add rdi, rax
// L1:
//     ; op10 tgc.index
//     cmp rdi, rsi
//     cmovg rdi, rsi
//     ; op11 tgc.splat
//     vmovq xmm0, rdi
//     vpbroadcastq xmm0, xmm0
//     ; op12 tgc.store
//     vmovsd [rcx], xmm0
//     ; op13 tgc.return
//     vzeroupper
//     ret
// avx512: frame 0, spills 0
//     mov r9d, 7
//     mov r8d, 0
//     ; op0 tgc.arg
//     mov rsi, [rdi+8]
//     ; op1 tgc.arg
//     mov rcx, [rdi+0x10]
//     ; op5 tgc.if
//     cmp rsi, 7
//     jge L0
//     ; op6 tgc.index
//     lea rdi, [rsi+rsi*4]
//     ; op5 tgc.if
//     jmp L1
// L0:
//     ; op8 tgc.index
//     mov rax, rsi
//     cqo
//     idiv r9
//     mov rdi, rax
//     mov rax, rdi
//     imul rax, r9
//     mov rdx, rsi
//     sub rdx, rax
//     mov rax, rdx
//     xor rax, r9
//     sar rax, 0x3f
//     test rdx, rdx
//     cmove rax, r8
//     add rdi, rax
// L1:
//     ; op10 tgc.index
//     cmp rdi, rsi
//     cmovg rdi, rsi
//     ; op11 tgc.splat
//     vpbroadcastq xmm0, rdi
//     ; op12 tgc.store
//     vmovsd [rcx], xmm0
//     ; op13 tgc.return
//     vzeroupper
//     ret
