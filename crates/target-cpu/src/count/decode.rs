//! Machine code to blocks: instructions for the model of a core, and the scalar half to run.

use super::classes;
use super::scalar::{Condition, Memory, Scalar, Step};
use iced_x86::{
    CpuidFeature, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic,
    OpAccess, Register,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use tegula_base::Diagnostic;
use tegula_perf::cpu::{self, Inst};

/// Instructions that are entered at the first alone and left at the last.
#[derive(Clone, Debug)]
pub struct Block {
    pub insts: Vec<Inst>,
    pub(super) steps: Vec<Step>,
    pub(super) end: End,
    /// The number of its first access in the kernel.
    pub first_access: usize,
}

/// How a block is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Next(usize),
    Branch { condition: Condition, then: usize, next: usize },
    Return,
}

/// A kernel's code in blocks; the first is its entry.
#[derive(Clone, Debug)]
pub struct Program {
    pub blocks: Vec<Block>,
    /// Instructions that name an address.
    pub accesses: usize,
    /// Instruction set extensions of its instructions, spelled as in machine files; those that every x86-64 processor with
    /// AVX has are not among them.
    pub features: BTreeSet<String>,
}

impl Program {
    /// Reads code that starts at its first byte and may have constants behind it.
    /// Errors: internal, where the bytes are no code that kernels have.
    pub fn decode(code: &[u8]) -> Result<Program, Diagnostic> {
        let broken = |at: u64, what: &str| Diagnostic::internal(format!("machine code at byte {at}: {what}"));
        let instructions = reachable(code).map_err(|at| broken(at, "no instruction"))?;
        let mut starts: BTreeSet<u64> = BTreeSet::from([0]);
        for instruction in instructions.values() {
            match instruction.flow_control() {
                FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                    starts.insert(instruction.near_branch_target());
                    starts.insert(instruction.next_ip());
                }
                _ => {}
            }
        }
        let starts: Vec<u64> = starts.into_iter().filter(|start| instructions.contains_key(start)).collect();
        let number =
            |at: u64| starts.binary_search(&at).map_err(|_| broken(at, "a branch into an instruction"));
        let mut factory = InstructionInfoFactory::new();
        let (mut blocks, mut accesses) = (Vec::with_capacity(starts.len()), 0);
        for (index, &start) in starts.iter().enumerate() {
            let mut block = Block { insts: vec![], steps: vec![], end: End::Return, first_access: accesses };
            let until = starts.get(index + 1).copied().unwrap_or(u64::MAX);
            for instruction in instructions.range(start..until).map(|(_, instruction)| instruction) {
                let inst = abstracted(instruction, &mut factory);
                accesses += usize::from(inst.accesses);
                block.insts.push(inst);
                block.end = match instruction.flow_control() {
                    FlowControl::Return => End::Return,
                    FlowControl::UnconditionalBranch => End::Next(number(instruction.near_branch_target())?),
                    FlowControl::ConditionalBranch => End::Branch {
                        condition: Condition::of(instruction.condition_code())
                            .ok_or_else(|| broken(instruction.ip(), "a branch on another condition"))?,
                        then: number(instruction.near_branch_target())?,
                        next: number(instruction.next_ip())?,
                    },
                    _ => {
                        Scalar::steps(instruction, &mut factory, &mut block.steps);
                        match starts.binary_search(&instruction.next_ip()) {
                            Ok(next) => End::Next(next),
                            Err(_) => End::Return,
                        }
                    }
                };
            }
            blocks.push(block);
        }
        let features = instructions.values().flat_map(extensions).collect();
        Ok(Program { blocks, accesses, features })
    }

    /// Numbers of ways into blocks: by the block before and whether its branch is taken, and one for the entry.
    pub fn ways(&self) -> usize {
        2 * self.blocks.len() + 1
    }
}

/// All instructions that the entry leads to, by their place.
fn reachable(code: &[u8]) -> Result<BTreeMap<u64, Instruction>, u64> {
    let mut found = BTreeMap::new();
    let mut open = VecDeque::from([0u64]);
    let mut decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    while let Some(start) = open.pop_front() {
        if found.contains_key(&start) {
            continue;
        }
        decoder.set_position(start as usize).map_err(|_| start)?;
        decoder.set_ip(start);
        loop {
            let instruction = decoder.decode();
            if instruction.is_invalid() {
                return Err(instruction.ip());
            }
            let flow = instruction.flow_control();
            let is_new = found.insert(instruction.ip(), instruction).is_none();
            if matches!(flow, FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch) {
                open.push_back(instruction.near_branch_target());
            }
            if !is_new || matches!(flow, FlowControl::UnconditionalBranch | FlowControl::Return) {
                break;
            }
        }
    }
    Ok(found)
}

/// Extensions that came after AVX, as the decoder's own table has them: whoever emitted the instruction did not ask it.
fn extensions(instruction: &Instruction) -> impl Iterator<Item = String> {
    use CpuidFeature::{AVX, CMOV, INTEL386, INTEL8086, MULTIBYTENOP, SSE, SSE2, X64};
    let is_old = |feature: &CpuidFeature| {
        matches!(*feature, INTEL8086 | INTEL386 | MULTIBYTENOP | CMOV | SSE | SSE2 | X64 | AVX)
    };
    let later = instruction.cpuid_features().iter().filter(move |feature| !is_old(feature));
    later.map(|feature| format!("{feature:?}").replace('_', "").to_ascii_lowercase())
}

/// Lanes that a gather reads; its memory operand is one element.
pub(super) fn elements(instruction: &Instruction) -> u16 {
    if !instruction.is_vsib() {
        return 1;
    }
    let bytes = |register: Register| register.size();
    let index = bytes(instruction.memory_index()) / if instruction.is_vsib64() { 8 } else { 4 };
    let element = instruction.memory_size().element_size().max(1);
    index.min(bytes(instruction.op0_register()) / element) as u16
}

/// Bytes of one access: a broadcast and a lane of a gather read one element.
pub(super) fn access_bytes(instruction: &Instruction) -> usize {
    let size = instruction.memory_size();
    match size.is_broadcast() || instruction.is_vsib() {
        true => size.element_size(),
        false => size.size(),
    }
}

/// Whether a mask turns lanes off: a mask register, or a vector's signs as on AVX2.
fn is_masked(instruction: &Instruction) -> bool {
    use Mnemonic::{Vmaskmovpd, Vmaskmovps, Vpmaskmovd, Vpmaskmovq};
    instruction.op_mask() != Register::None
        || matches!(instruction.mnemonic(), Vmaskmovpd | Vmaskmovps | Vpmaskmovd | Vpmaskmovq)
}

/// The instruction as the model of a core sees it.
fn abstracted(instruction: &Instruction, factory: &mut InstructionInfoFactory) -> Inst {
    let info = factory.info(instruction);
    let mut inst = Inst {
        unit: classes::unit_of(instruction),
        bytes: classes::bytes_of(instruction),
        memory_bytes: access_bytes(instruction),
        reads: Default::default(),
        address: Default::default(),
        writes: Default::default(),
        loads: false,
        stores: false,
        masked: is_masked(instruction),
        accesses: 0,
        branches: instruction.flow_control() == FlowControl::ConditionalBranch,
    };
    let idiom = classes::is_zeroing(instruction);
    for used in info.used_registers() {
        let Some(register) = register_of(used.register()) else { continue };
        let (reads, writes) = directions(used.access());
        let addresses =
            used.register() == instruction.memory_base() || used.register() == instruction.memory_index();
        if reads && !idiom {
            match addresses && !inst.address.contains(&register) {
                true => inst.address.push(register),
                false => inst.reads.push(register),
            }
        }
        if writes {
            inst.writes.push(register);
        }
    }
    if instruction.rflags_read() != 0 {
        inst.reads.push(cpu::Register::FLAGS);
    }
    if instruction.rflags_modified() != 0 {
        inst.writes.push(cpu::Register::FLAGS);
    }
    for memory in info.used_memory() {
        let (reads, writes) = directions(memory.access());
        inst.loads |= reads;
        inst.stores |= writes;
    }
    if Memory::of(instruction).is_some() {
        inst.accesses = elements(instruction);
    }
    inst
}

fn directions(access: OpAccess) -> (bool, bool) {
    match access {
        OpAccess::None | OpAccess::NoMemAccess => (false, false),
        OpAccess::Read | OpAccess::CondRead => (true, false),
        OpAccess::Write | OpAccess::CondWrite => (false, true),
        OpAccess::ReadWrite | OpAccess::ReadCondWrite => (true, true),
    }
}

fn register_of(register: Register) -> Option<cpu::Register> {
    let number = register.full_register().number() as u8;
    match register {
        Register::RSP | Register::RIP | Register::None => None,
        _ if register.is_gpr() => Some(cpu::Register::general(number)),
        _ if register.is_vector_register() => Some(cpu::Register::vector(number)),
        _ if register.is_k() => Some(cpu::Register::mask(number)),
        _ => None,
    }
}
