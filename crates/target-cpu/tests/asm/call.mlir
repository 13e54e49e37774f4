// What lives across a call waits in the frame.
"builtin.module"() ({
  "tgc.func"() <{sym_name = "call", arg_names = [], result_names = []}> ({
    %0 = "tgc.arg"() <{word = 1}> : () -> index
    %1 = "tgc.arg"() <{word = 2}> : () -> index
    %2 = "tgc.load"(%0) <{dtype = "f32", lanes = 4, at = {indexed = false, scale = 1, disp = 0, counted = false}}> : (index) -> vector<4xf32>
    %3 = "tgc.load"(%0) <{dtype = "f32", lanes = 4, at = {indexed = false, scale = 1, disp = 16, counted = false}}> : (index) -> vector<4xf32>
    %4 = "tgc.call"(%2, %3) <{function = "f32.pow"}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
    %5 = "tgc.vec"(%4, %2) <{op = "mul"}> : (vector<4xf32>, vector<4xf32>) -> vector<4xf32>
    "tgc.store"(%1, %5) <{dtype = "f32", at = {indexed = false, scale = 1, disp = 0, counted = false}}> : (index, vector<4xf32>) -> ()
    "tgc.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
// -----
// avx2: frame 192, spills 1
//     push rbx
//     push rbp
//     push r12
//     push r13
//     push r14
//     mov rax, rsp
//     sub rsp, 0xc0
//     and rsp, 0xffffffffffffffc0
//     mov [rsp+0xb8], rax
//     ; op0 tgc.arg
//     mov rax, [rdi+8]
//     ; op1 tgc.arg
//     mov rbx, [rdi+0x10]
//     ; op2 tgc.load
//     vmovups xmm0, [rax]
//     vmovups [rsp+0x80], xmm0
//     ; op3 tgc.load
//     vmovups xmm0, [rax+0x10]
//     ; op4 tgc.call
//     vmovups xmm1, [rsp+0x80]
//     vmovups [rsp], xmm1
//     vmovups [rsp+0x40], xmm0
//     mov rbp, [rdi]
//     mov r12d, 0
// L0:
//     mov r13d, [rsp+r12*4]
//     mov r14d, [rsp+r12*4+0x40]
//     mov rdi, r13
//     mov rsi, r14
//     vzeroupper
//     call qword ptr [rbp]
//     mov r13, rax
//     mov [rsp+r12*4], r13d
//     add r12, 1
//     cmp r12, 4
//     jl L0
//     vmovups xmm0, [rsp]
//     ; op5 tgc.vec
//     vmulps xmm0, xmm0, [rsp+0x80]
//     ; op6 tgc.store
//     vmovups [rbx], xmm0
//     ; op7 tgc.return
//     vzeroupper
//     mov rsp, [rsp+0xb8]
//     pop r14
//     pop r13
//     pop r12
//     pop rbp
//     pop rbx
//     ret
// avx512: frame 192, spills 1
//     push rbx
//     push rbp
//     push r12
//     push r13
//     push r14
//     mov rax, rsp
//     sub rsp, 0xc0
//     and rsp, 0xffffffffffffffc0
//     mov [rsp+0xb8], rax
//     ; op0 tgc.arg
//     mov rax, [rdi+8]
//     ; op1 tgc.arg
//     mov rbx, [rdi+0x10]
//     ; op2 tgc.load
//     vmovups xmm0, [rax]
//     vmovups [rsp+0x80], xmm0
//     ; op3 tgc.load
//     vmovups xmm0, [rax+0x10]
//     ; op4 tgc.call
//     vmovups xmm1, [rsp+0x80]
//     vmovups [rsp], xmm1
//     vmovups [rsp+0x40], xmm0
//     mov rbp, [rdi]
//     mov r12d, 0
// L0:
//     mov r13d, [rsp+r12*4]
//     mov r14d, [rsp+r12*4+0x40]
//     mov rdi, r13
//     mov rsi, r14
//     vzeroupper
//     call qword ptr [rbp]
//     mov r13, rax
//     mov [rsp+r12*4], r13d
//     add r12, 1
//     cmp r12, 4
//     jl L0
//     vmovups xmm0, [rsp]
//     ; op5 tgc.vec
//     vmulps xmm0, xmm0, [rsp+0x80]
//     ; op6 tgc.store
//     vmovups [rbx], xmm0
//     ; op7 tgc.return
//     vzeroupper
//     mov rsp, [rsp+0xb8]
//     pop r14
//     pop r13
//     pop r12
//     pop rbp
//     pop rbx
//     ret
