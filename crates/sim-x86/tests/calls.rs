//! What instructions do under masks, and what a call is held to, on code written by hand.

use crate::common;

use common::{BUFFER, Bytes};
use iced_x86::{Code, Encoder, Instruction, MemoryOperand, Register as R};
use std::cell::Cell;
use tegula_sim_x86::{Call, Counters, Kernel, Stopped};

type Made = Result<Instruction, iced_x86::IcedError>;

fn encoded(list: impl IntoIterator<Item = Made>) -> Vec<u8> {
    let (mut encoder, mut place) = (Encoder::new(64), 0);
    for instruction in list {
        place += encoder.encode(&instruction.unwrap(), place).unwrap() as u64;
    }
    encoder.take_buffer()
}

fn run(code: &[u8], memory: &Bytes) -> Result<Counters, Stopped> {
    let kernel = Kernel::new(code).map_err(Stopped::Failed)?;
    kernel.run(&Call { words: &[0, BUFFER], scratch: 0, begin: 0, end: 1 }, memory)
}

fn fails(code: &[u8], memory: &Bytes) -> String {
    match run(code, memory) {
        Err(Stopped::Failed(problem)) => problem.to_string(),
        other => panic!("{other:?}"),
    }
}

fn at(disp: i64) -> MemoryOperand {
    MemoryOperand::with_base_displ(R::R8, disp)
}

/// `r8` is the buffer, `k1` its bytes from 192 on; then the instructions, then the way back.
fn around(own: impl IntoIterator<Item = Made>) -> Vec<u8> {
    let start = [
        Instruction::with2(Code::Mov_r64_rm64, R::R8, MemoryOperand::with_base_displ(R::RDI, 8)),
        Instruction::with2(Code::VEX_Kmovq_kr_km64, R::K1, at(192)),
    ];
    let end = [Ok(Instruction::with(Code::VEX_Vzeroupper)), Ok(Instruction::with(Code::Retnq))];
    encoded(start.into_iter().chain(own).chain(end))
}

fn masked(instruction: Made, zeroing: bool) -> Made {
    let mut instruction = instruction?;
    instruction.set_op_mask(R::K1);
    instruction.set_zeroing_masking(zeroing);
    Ok(instruction)
}

/// Words 0 to 15: 0, 1, ...; 16 to 31: 100, 101, ...; 32 to 47: 9s; 48: the mask 0b1010, above it bits that no lane has.
fn words() -> Vec<u8> {
    let words = (0..16u32).chain(100..116).chain([9; 16]).chain([0b1010, !0]);
    words.flat_map(u32::to_le_bytes).collect()
}

/// `zmm2` by an addition under the mask, stored over words 32 to 47.
fn sums(zeroing: bool, operand: impl Fn() -> Made) -> Vec<u32> {
    let load = |register, disp| Instruction::with2(Code::EVEX_Vmovups_zmm_k1z_zmmm512, register, at(disp));
    let code = around([
        load(R::ZMM2, 128),
        load(R::ZMM0, 0),
        load(R::ZMM1, 64),
        masked(operand(), zeroing),
        Instruction::with2(Code::EVEX_Vmovups_zmmm512_k1z_zmm, at(128), R::ZMM2),
    ]);
    let memory = Bytes::new(words());
    run(&code, &memory).unwrap();
    memory.words()[32..48].to_vec()
}

#[test]
fn lanes_that_are_off_stay_or_become_zero() {
    let sum = || Instruction::with3(Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, R::ZMM2, R::ZMM0, R::ZMM1);
    let merged = sums(false, sum);
    assert_eq!(merged[..6], [9, 102, 9, 106, 9, 9]);
    let zeroed = sums(true, sum);
    assert_eq!(zeroed[..6], [0, 102, 0, 106, 0, 0]);
}

#[test]
fn one_element_stands_for_all_lanes() {
    let sum = || {
        let operand = MemoryOperand::new(R::R8, R::None, 1, 68, 1, true, R::None);
        Instruction::with3(Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, R::ZMM2, R::ZMM0, operand)
    };
    assert_eq!(sums(true, sum)[..6], [0, 102, 0, 104, 0, 0]);
}

#[test]
fn lanes_that_are_off_touch_no_memory() {
    // Four bytes before the buffer's end lies one lane that is off, then one that is outside.
    let load = |disp: i64| {
        let load = Instruction::with2(Code::EVEX_Vmovups_zmm_k1z_zmmm512, R::ZMM0, at(disp));
        let store = Instruction::with2(Code::EVEX_Vmovups_zmmm512_k1z_zmm, at(128), R::ZMM0);
        around([masked(load, true), masked(store, false)])
    };
    let memory = Bytes::new(words());
    run(&load(200 - 16), &memory).unwrap();
    assert_eq!(memory.words()[32..37], [9, 9, 9, !0, 9]);
    let message = fails(&load(200 - 12), &Bytes::new(words()));
    let expected = "`vmovups zmm0{k1}{z},[r8+0BCh]` at byte 0xd of the code: access to 4 bytes at 0x100c8, outside of \
                    the launch's buffers";
    assert_eq!(message, expected);
}

#[test]
fn a_call_is_counted() {
    let code = around([Instruction::with2(Code::VEX_Vmovups_ymm_ymmm256, R::YMM0, at(0))]);
    // The argument, the mask, the vector and the return address; the return address once more.
    let expected = Counters { instructions: 5, bytes_read: 8 + 8 + 32 + 8, bytes_written: 8 };
    assert_eq!(run(&code, &Bytes::new(words())).unwrap(), expected);
}

#[test]
fn a_kernel_keeps_what_it_must() {
    let rbx =
        encoded([Instruction::with2(Code::Mov_r64_rm64, R::RBX, R::RDX), Ok(Instruction::with(Code::Retnq))]);
    let memory = Bytes::new(words());
    assert!(fails(&rbx, &memory).contains("another value in rbx"));
    let upper = encoded([
        Instruction::with2(Code::Mov_r64_rm64, R::R8, MemoryOperand::with_base_displ(R::RDI, 8)),
        Instruction::with2(Code::VEX_Vmovups_ymm_ymmm256, R::YMM0, at(0)),
        Ok(Instruction::with(Code::Retnq)),
    ]);
    assert!(fails(&upper, &memory).contains("upper halves"));
}

#[test]
fn arguments_are_only_read() {
    let place = MemoryOperand::with_base(R::RDI);
    let code =
        encoded([Instruction::with2(Code::Mov_rm64_r64, place, R::RDX), Ok(Instruction::with(Code::Retnq))]);
    assert!(fails(&code, &Bytes::new(words())).ends_with("to the argument block, not the launch's buffers"));
}

#[test]
fn what_is_undefined_decides_nothing() {
    // The sign of a product is undefined, the branch that asks for it leads to the return.
    let product = Instruction::with2(Code::Imul_r64_rm64, R::RAX, R::RDX);
    let branch = Instruction::with_branch(Code::Js_rel8_64, 6);
    let code = encoded([product, branch, Ok(Instruction::with(Code::Retnq))]);
    let message = fails(&code, &Bytes::new(words()));
    assert!(message.contains("asks a flag that is undefined"), "{message}");
}

#[test]
fn functions_are_called_and_leave_rubbish() {
    let table = || MemoryOperand::with_base_displ(R::RAX, 0);
    let call = |aligned: bool| {
        encoded([
            Instruction::with2(Code::Mov_r64_rm64, R::RAX, MemoryOperand::with_base(R::RDI)),
            Instruction::with2(Code::Sub_rm64_imm8, R::RSP, if aligned { 8 } else { 16 }),
            Instruction::with1(Code::Call_rm64, table()),
            Instruction::with2(Code::Add_rm64_imm8, R::RSP, if aligned { 8 } else { 16 }),
            // What was in a register before the call is no address any more.
            Instruction::with2(Code::Mov_r64_rm64, R::R8, MemoryOperand::with_base_displ(R::RDI, 8)),
            Ok(Instruction::with(Code::Retnq)),
        ])
    };
    let memory = Bytes::new(words());
    assert!(fails(&call(false), &memory).contains("not aligned"));
    assert!(fails(&call(true), &memory).contains("`mov r8,[rdi+8]`"));
}

/// `r8` is the buffer and `r9` its word 4; then the instructions, which leave `r10`, stored over word 0.
fn left_in_r10(own: impl IntoIterator<Item = Made>) -> u64 {
    let start = [
        Instruction::with2(Code::Mov_r64_rm64, R::R8, MemoryOperand::with_base_displ(R::RDI, 8)),
        Instruction::with2(Code::Mov_r32_rm32, R::R9D, at(16)),
    ];
    let end = [Instruction::with2(Code::Mov_rm64_r64, at(0), R::R10), Ok(Instruction::with(Code::Retnq))];
    let memory = Bytes::new(words());
    run(&encoded(start.into_iter().chain(own).chain(end)), &memory).unwrap();
    u64::from(memory.words()[0]) | u64::from(memory.words()[1]) << 32
}

#[test]
fn addresses_stack_and_divisions() {
    let address = MemoryOperand::with_base_index_scale_displ_size(R::R9, R::R9, 8, -3, 1);
    assert_eq!(left_in_r10([Instruction::with2(Code::Lea_r64_m, R::R10, address)]), 4 + 4 * 8 - 3);
    let stack = [Instruction::with1(Code::Push_r64, R::R9), Instruction::with1(Code::Pop_r64, R::R10)];
    assert_eq!(left_in_r10(stack), 4);
    let divided = |divide: Code, result: R| {
        left_in_r10([
            Instruction::with2(Code::Mov_r64_imm64, R::RAX, -19i64),
            Ok(Instruction::with(Code::Cqo)),
            Instruction::with1(divide, R::R9),
            Instruction::with2(Code::Mov_r64_rm64, R::R10, result),
        ]) as i64
    };
    assert_eq!([divided(Code::Idiv_rm64, R::RAX), divided(Code::Idiv_rm64, R::RDX)], [-4, -3]);
}

#[test]
fn quotients_that_fit_no_register_stop_the_run() {
    let by_zero = encoded([
        Instruction::with2(Code::Xor_r32_rm32, R::EDX, R::EDX),
        Instruction::with2(Code::Xor_r32_rm32, R::ECX, R::ECX),
        Instruction::with1(Code::Div_rm64, R::RCX),
        Ok(Instruction::with(Code::Retnq)),
    ]);
    assert!(fails(&by_zero, &Bytes::new(words())).contains("`div rcx`"));
}

#[test]
fn a_loop_counts_down() {
    // mov r9d, [r8+16]; sub r9, 1; jne back; xor r10, r10; add r10, 7.
    let back = 4 + 4;
    let code = [
        Instruction::with2(Code::Sub_rm64_imm8, R::R9, 1),
        Instruction::with_branch(Code::Jne_rel8_64, back),
        Instruction::with2(Code::Xor_r32_rm32, R::R10D, R::R10D),
        Instruction::with2(Code::Add_rm64_imm8, R::R10, 7),
    ];
    assert_eq!(left_in_r10(code), 7);
}

/// Ways to leave that a processor has and kernels have not, and instructions of other widths.
#[test]
fn other_instructions_are_refused_when_the_code_is_read() {
    let others: [&[u8]; 9] = [
        // retf, iretq, ret 8, far call, loope, jp, `add eax, ecx`, `push 5`, `div ecx`.
        &[0xcb],
        &[0x48, 0xcf],
        &[0xc2, 8, 0],
        &[0xff, 0x18, 0xc3],
        &[0xe1, 0, 0xc3],
        &[0x7a, 0, 0xc3],
        &[0x01, 0xc8, 0xc3],
        &[0x6a, 5, 0xc3],
        &[0xf7, 0xf1, 0xc3],
    ];
    for code in others {
        let problem = Kernel::new(code).err().unwrap_or_else(|| panic!("{code:02x?}"));
        assert!(problem.to_string().contains("is not simulated"), "{problem}");
    }
}

#[test]
fn endless_loops_can_be_stopped() {
    // A jump to itself.
    let result = run(&[0xeb, 0xfe], &Bytes::new(words()));
    assert_eq!(result, Err(Stopped::ByCaller));
}

/// Any bytes are refused or run without a panic.
#[test]
fn damaged_code_does_not_panic() {
    let whole = around([
        Instruction::with2(Code::EVEX_Vmovups_zmm_k1z_zmmm512, R::ZMM2, at(128)),
        Instruction::with3(Code::EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32, R::ZMM2, R::ZMM2, at(0)),
        Instruction::with3(Code::EVEX_Vextractf32x4_xmmm128_k1z_zmm_imm8, R::XMM0, R::ZMM2, 1),
        Instruction::with2(Code::Mov_rm64_r64, at(0), R::RDX),
        Instruction::with2(Code::Sar_rm64_imm8, R::RDX, 3),
    ]);
    let state = Cell::new(0x2545_f491_4f6c_dd1du64);
    let next = || {
        state.set(state.get() ^ state.get() << 13);
        state.set(state.get() ^ state.get() >> 7);
        state.set(state.get() ^ state.get() << 17);
        state.get()
    };
    let mut ran = 0;
    for round in 0..40_000 {
        let mut code = whole.clone();
        match round % 2 {
            0 => code.iter_mut().for_each(|byte| *byte = next() as u8),
            _ => (0..1 + next() % 3).for_each(|_| {
                let place = next() as usize % code.len();
                code[place] = next() as u8;
            }),
        }
        let memory = Bytes::new(words());
        *memory.questions.lock().unwrap() = 2;
        ran += u32::from(Kernel::new(&code).is_ok());
        let _ = run(&code, &memory);
    }
    assert!(ran > 1000, "only {ran} of them were code");
}
