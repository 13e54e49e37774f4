//! `sim-x86` against this processor: every form of every instruction that it simulates and the processor has, on
//! random registers and memory, bit for bit, flags included. Addresses, branches, the stack and divisions are left to the
//! tests of the simulator by hand, and to whole kernels.

use crate::call;

use call::{Guarded, Loaded};
use iced_x86::{Code, Encoder, Instruction, Mnemonic, OpKind, Register};
use std::collections::{BTreeMap, BTreeSet};
use tegula_sim_x86::{Call, Kernel, Stopped};
use tegula_target_cpu::count::Program;
use tegula_target_cpu::exec::VecMemory;
use tegula_testkit::random::Rng;

/// Runs of each form.
const ROUNDS: u64 = 12;
const IN_BYTES: usize = 2048;
const OUT_BYTES: usize = 1024;
/// Where a memory operand and a gather's elements lie in the input.
const OPERAND: i64 = 1024;
/// Vector registers that are loaded before and stored after; the last one holds small numbers, for gathers.
const VECTORS: u32 = 5;
const INDICES: u32 = 4;
const GENERAL: [Register; 4] = [Register::R10, Register::R11, Register::RAX, Register::RDX];

/// One form: an encoding with a kind for each of its operands.
#[derive(Clone)]
struct Form {
    instruction: Instruction,
    wide: bool,
}

impl Form {
    fn name(&self) -> String {
        format!("{:?} as `{}`", self.instruction.code(), self.instruction)
    }
}

/// Registers for an operand; only those of which the encoding's name speaks. All operands may be one register.
fn registers_of(position: u32, name: &str, is_one: bool) -> impl Iterator<Item = Register> {
    let position = if is_one { 0 } else { position };
    let general = position % 2;
    let all = [
        ("xmm", Register::XMM0 + position),
        ("ymm", Register::YMM0 + position),
        ("zmm", Register::ZMM0 + position),
        ("k", Register::K1 + position),
        ("64", Register::R10 + general),
        ("32", Register::R10D + general),
        ("16", Register::R10W + general),
        ("8", Register::R10L + general),
    ];
    all.into_iter().filter(|(word, _)| name.contains(*word)).map(|(_, register)| register)
}

fn set_memory(instruction: &mut Instruction, position: u32, index: Register) {
    instruction.set_op_kind(position, OpKind::Memory);
    instruction.set_memory_base(Register::R8);
    instruction.set_memory_index(index);
    instruction.set_memory_index_scale(if index == Register::None { 1 } else { 4 });
    instruction.set_memory_displacement64(OPERAND as u64);
    instruction.set_memory_displ_size(1);
}

fn is_encoded(instruction: &Instruction) -> bool {
    Encoder::new(64).encode(instruction, 0).is_ok()
}

/// All ways to fill the operands of an encoding that an encoder takes.
fn operands(code: Code, is_one: bool) -> Vec<Instruction> {
    let mut start = Instruction::default();
    start.set_code(code);
    let name = format!("{code:?}");
    let (has_immediate, is_gather) = (name.contains("imm"), name.contains("_vm"));
    let mut partial = vec![start];
    for position in 0..start.op_count() {
        let mut next = Vec::new();
        for before in &partial {
            for register in registers_of(position, &name, is_one) {
                let mut form = *before;
                form.set_op_kind(position, OpKind::Register);
                form.set_op_register(position, register);
                next.push(form);
            }
            let has_memory = (0..position).any(|i| before.op_kind(i) == OpKind::Memory);
            for index in [Register::None, Register::XMM4, Register::YMM4, Register::ZMM4] {
                if !has_memory && is_gather == (index != Register::None) {
                    let mut form = *before;
                    set_memory(&mut form, position, index);
                    next.push(form);
                }
            }
            for kind in
                [OpKind::Immediate8, OpKind::Immediate8to64, OpKind::Immediate32to64, OpKind::Immediate64]
            {
                if has_immediate {
                    let mut form = *before;
                    form.set_op_kind(position, kind);
                    next.push(form);
                }
            }
        }
        partial = next;
    }
    partial.into_iter().filter(is_encoded).collect()
}

/// With masks and broadcasts, where the encoding has them.
fn variants(form: Instruction) -> Vec<Instruction> {
    let mut all = vec![form];
    let name = format!("{:?}", form.code());
    let has_memory = (0..form.op_count()).any(|i| form.op_kind(i) == OpKind::Memory);
    if has_memory && is_evex(form.code()) && (name.contains("b32") || name.contains("b64")) {
        let mut broadcast = form;
        broadcast.set_is_broadcast(true);
        all.push(broadcast);
    }
    for form in if is_evex(form.code()) { all.clone() } else { vec![] } {
        // Only a vector has lanes that become 0.
        for zeroing in
            [false, true].into_iter().take(1 + usize::from(form.op0_register().is_vector_register()))
        {
            let mut masked = form;
            masked.set_op_mask(Register::K5);
            masked.set_zeroing_masking(zeroing);
            if is_encoded(&masked) {
                all.push(masked);
            }
        }
    }
    all.retain(|form| !form.is_vsib() || is_vex(form.code()) || form.op_mask() != Register::None);
    all
}

fn is_vex(code: Code) -> bool {
    format!("{code:?}").starts_with("VEX_")
}

fn is_evex(code: Code) -> bool {
    format!("{code:?}").starts_with("EVEX_")
}

/// Encodings that may be run as they are: they neither branch nor fault nor use the stack.
fn encodings() -> impl Iterator<Item = Code> {
    use Mnemonic::*;
    let general = [
        Add, Sub, And, Or, Xor, Cmp, Test, Imul, Neg, Shl, Sar, Mov, Movzx, Movsx, Movsxd, Cmove, Cmovne,
        Cmovl, Cmovle, Cmovg, Cmovge, Cmovs, Sete, Setne, Setl, Setle, Setg, Setge, Cqo, Nop,
    ];
    Code::values().filter(move |code| {
        let name = format!("{code:?}");
        let mut instruction = Instruction::default();
        instruction.set_code(*code);
        // No instruction of kernels has more operands.
        instruction.op_count() <= 4
            && (name.starts_with("VEX_") || name.starts_with("EVEX_") || general.contains(&code.mnemonic()))
    })
}

/// Each stores one flag or the relation of two.
const FLAGS: [Code; 6] =
    [Code::Sete_rm8, Code::Setl_rm8, Code::Setb_rm8, Code::Sets_rm8, Code::Seto_rm8, Code::Setle_rm8];

/// Code that loads registers, runs the instruction and stores them, and those flags.
fn program(form: &Form, immediate: u64, flags: &[Code]) -> Vec<u8> {
    let at = |base: Register, disp: i64| iced_x86::MemoryOperand::with_base_displ(base, disp);
    let mut list = vec![
        Instruction::with2(Code::Mov_r64_rm64, Register::R8, at(Register::RDI, 8)),
        Instruction::with2(Code::Mov_r64_rm64, Register::R9, at(Register::RDI, 16)),
    ];
    for i in 0..VECTORS {
        let (load, register) = match form.wide {
            true => (Code::EVEX_Vmovups_zmm_k1z_zmmm512, Register::ZMM0 + i),
            false => (Code::VEX_Vmovups_ymm_ymmm256, Register::YMM0 + i),
        };
        list.push(Instruction::with2(load, register, at(Register::R8, 64 * i64::from(i))));
    }
    for i in 0..if form.wide { 5 } else { 0 } {
        let place = at(Register::R8, 512 + 8 * i64::from(i));
        list.push(Instruction::with2(Code::VEX_Kmovq_kr_km64, Register::K1 + i as u32, place));
    }
    for (i, register) in GENERAL.into_iter().enumerate() {
        list.push(Instruction::with2(Code::Mov_r64_rm64, register, at(Register::R8, 576 + 8 * i as i64)));
    }
    // Any flags, none of which is undefined.
    list.push(Instruction::with2(Code::Cmp_rm64_r64, Register::R10, Register::R11));
    let mut own = form.instruction;
    for i in 0..own.op_count() {
        match own.op_kind(i) {
            OpKind::Immediate8 => own.set_immediate8(immediate as u8),
            OpKind::Immediate8to64 => own.set_immediate8to64(i64::from(immediate as i8)),
            OpKind::Immediate32to64 => own.set_immediate32to64(i64::from(immediate as i32)),
            OpKind::Immediate64 => own.set_immediate64(immediate),
            _ => {}
        }
    }
    list.push(Ok(own));
    for (i, set) in flags.iter().enumerate() {
        list.push(Instruction::with1(*set, at(Register::R9, 640 + i as i64)));
    }
    for (i, register) in GENERAL.into_iter().enumerate() {
        list.push(Instruction::with2(Code::Mov_rm64_r64, at(Register::R9, 576 + 8 * i as i64), register));
    }
    for i in 0..if form.wide { 5 } else { 0 } {
        let place = at(Register::R9, 512 + 8 * i64::from(i));
        list.push(Instruction::with2(Code::VEX_Kmovq_m64_kr, place, Register::K1 + i as u32));
    }
    for i in 0..VECTORS {
        let (store, register) = match form.wide {
            true => (Code::EVEX_Vmovups_zmmm512_k1z_zmm, Register::ZMM0 + i),
            false => (Code::VEX_Vmovups_ymmm256_ymm, Register::YMM0 + i),
        };
        list.push(Instruction::with2(store, at(Register::R9, 64 * i64::from(i)), register));
    }
    list.push(Ok(Instruction::with(Code::VEX_Vzeroupper)));
    list.push(Ok(Instruction::with(Code::Retnq)));
    let mut encoder = Encoder::new(64);
    for instruction in list {
        let instruction = instruction.expect("an instruction of this test");
        encoder.encode(&instruction, 0).unwrap_or_else(|error| panic!("{}: {error}", form.name()));
    }
    encoder.take_buffer()
}

/// Numbers of all sizes, floats among them with NaN, infinities, zeros and denormals.
fn input(rng: &mut Rng) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..IN_BYTES / 8)
        .flat_map(|_| {
            let word = match rng.below(6) {
                0 => rng.bits(),
                1 => u64::from((rng.below(2000) as f32 * 0.37 - 300.0).to_bits()) * 0x1_0000_0001,
                2 => (rng.below(2000) as f64 * 0.37 - 300.0).to_bits(),
                3 => {
                    let few = [
                        0u32,
                        1,
                        0x8000_0000,
                        0x7f80_0000,
                        0xff80_0000,
                        0x7fc0_1234,
                        0x7f80_0001,
                        0x0000_1234,
                    ];
                    let any = |rng: &mut Rng| u64::from(few[rng.below(8)]);
                    any(rng) | any(rng) << 32
                }
                4 => {
                    let few = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 5e-324, 3e9, 1e19, -1e40];
                    few[rng.below(8)].to_bits()
                }
                _ => rng.below(300) as u64,
            };
            word.to_le_bytes()
        })
        .collect();
    // Indices of elements behind the operand's place.
    let indices = &mut bytes[64 * INDICES as usize..64 * (INDICES as usize + 1)];
    indices.chunks_exact_mut(8).for_each(|word| word.copy_from_slice(&(rng.below(200) as u64).to_le_bytes()));
    bytes
}

fn simulate(code: &[u8], input: &[u8]) -> Result<(Vec<u8>, Vec<u8>), String> {
    let kernel = Kernel::new(code).map_err(|problem| problem.to_string())?;
    let memory = VecMemory::new();
    let (from, to) = (memory.add(input.to_vec()), memory.add(vec![0xa5; OUT_BYTES]));
    let call = Call { words: &[0, from, to], scratch: 0, begin: 0, end: 1 };
    match kernel.run(&call, &memory) {
        Ok(_) => Ok((memory.bytes(from), memory.bytes(to))),
        Err(Stopped::Failed(problem)) => Err(problem.to_string()),
        Err(Stopped::ByCaller) => unreachable!("nobody stops the run"),
    }
}

fn run_here(code: &[u8], input: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let (from, to) = (Guarded::new(input), Guarded::new(&[0xa5; OUT_BYTES]));
    Loaded::new(code).run(&[from.address(), to.address()], &mut [0; 64], 0, 1);
    (from.bytes().to_vec(), to.bytes().to_vec())
}

#[test]
fn instructions_do_what_this_processor_does() {
    compare(1080, |code| !is_evex(code));
}

/// Without `vdpbf16ps`, of which `native.rs` has a test of its own: its NaN are not those of other instructions.
#[test]
fn instructions_do_what_this_processor_does_with_masks() {
    let of_the_tier =
        ["avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512vbmi", "avx512vnni"].map(str::to_string);
    if !tegula_runtime::lacking(&of_the_tier).is_empty() {
        eprintln!("not compared: this processor has no AVX-512");
        return;
    }
    compare(1000, |code| is_evex(code) && code.mnemonic() != Mnemonic::Vdpbf16ps);
}

/// Runs each form of these encodings here and simulated; at least so many forms.
fn compare(least: usize, is_one: impl Fn(Code) -> bool) {
    let (mut wrong, mut drawn) = (Vec::new(), 0);
    let (mut compared, mut absent) = (BTreeMap::<String, u64>::new(), BTreeSet::new());
    for code in encodings().filter(|code| is_one(*code)) {
        // Two operands of a gather must not be one register.
        let of_one = if format!("{code:?}").contains("_vm") { vec![] } else { operands(code, true) };
        let forms: BTreeMap<String, Instruction> = operands(code, false)
            .into_iter()
            .chain(of_one)
            .flat_map(variants)
            .map(|instruction| (instruction.to_string(), instruction))
            .collect();
        for instruction in forms.into_values() {
            let has_mask = (0..instruction.op_count()).any(|i| instruction.op_register(i).is_k());
            let form = Form { instruction, wide: is_evex(code) || has_mask };
            let plain = program(&form, 1, &[]);
            // Nothing of it runs if the simulator refuses the instruction.
            if Kernel::new(&plain).is_err() {
                continue;
            }
            let features = Program::decode(&plain).expect("code of this test").features;
            if !tegula_runtime::lacking(&Vec::from_iter(features)).is_empty() {
                absent.insert(form.name());
                continue;
            }
            let zeros = vec![0; IN_BYTES];
            let is_defined = |set: &Code| {
                let ran = simulate(&program(&form, 1, &[*set]), &zeros);
                !ran.is_err_and(|problem| problem.contains("undefined"))
            };
            let flags: Vec<Code> = FLAGS.into_iter().filter(is_defined).collect();
            for round in 0..ROUNDS {
                drawn += 1;
                let mut rng = Rng::new(drawn);
                let (bytes, immediate) = (input(&mut rng), rng.bits());
                let code = program(&form, immediate, &flags);
                let expected = match simulate(&code, &bytes) {
                    Ok(memory) => memory,
                    // An immediate that has no meaning in the simulator.
                    Err(problem) if problem.contains("not simulated") => continue,
                    Err(problem) => panic!("{}: {problem}", form.name()),
                };
                let got = run_here(&code, &bytes);
                *compared.entry(form.name()).or_default() += 1;
                for (what, got, expected) in [("input", &got.0, &expected.0), ("output", &got.1, &expected.1)]
                {
                    if let Some(at) = got.iter().zip(expected).position(|(a, b)| a != b) {
                        let from = at / 8 * 8;
                        wrong.push(format!(
                            "{}, round {round}, immediate {immediate:#x}: {what} differs at byte {at}: the processor \
                             has {:02x?}, the simulator {:02x?}",
                            form.name(),
                            &got[from..from + 8],
                            &expected[from..from + 8]
                        ));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong[..wrong.len().min(20)].join("\n"));
    println!("{} forms compared, {} are not this processor's", compared.len(), absent.len());
    assert!(compared.len() >= least, "only {} forms were compared", compared.len());
}
