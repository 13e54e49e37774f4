//! An instruction ready to run: what it does and to which operands.

use crate::exec::Machine;
use crate::problem::{Problem, Run};
use iced_x86::{ConditionCode, Instruction, OpKind, Register};

/// What an instruction does to registers and memory.
pub type Act = fn(&mut Machine, &Inst) -> Run<()>;

#[derive(Clone, Copy)]
pub enum Kind {
    Act(Act),
    /// To the instruction of that number.
    Jump(usize),
    /// There if the instruction's condition holds.
    Branch(usize),
    /// Of the function whose address the operand holds.
    Call,
    Return,
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    None,
    General { number: usize, bytes: usize },
    Vector(usize),
    Mask(usize),
    Memory { address: Address, bytes: usize },
    Immediate(i64),
}

/// `base + index * scale + disp`. Of a gather the index is a vector register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    pub base: Option<usize>,
    pub index: Option<usize>,
    pub scale: u64,
    pub disp: u64,
}

#[derive(Clone, Copy)]
pub struct Inst {
    pub kind: Kind,
    pub operands: [Operand; 4],
    /// Of the widest vector, in a register or in memory.
    pub bytes: usize,
    /// Lanes that are off keep their value, or become 0.
    pub mask: Option<usize>,
    pub zeroing: bool,
    /// The memory operand is one element for all lanes.
    pub broadcast: bool,
    /// Of a gather: indices have 8 bytes, not 4; how many the index register holds.
    pub wide_index: bool,
    pub gathered: usize,
    pub condition: ConditionCode,
}

impl Inst {
    /// Errors: operands, prefixes or roundings that kernels do not use.
    pub fn new(instruction: &Instruction, kind: Kind, code: u64) -> Run<Inst> {
        let refused = |what: &str| Err(Problem::new(format!("{what} is not simulated")));
        if instruction.rounding_control() != iced_x86::RoundingControl::None
            || instruction.suppress_all_exceptions()
        {
            return refused("a rounding of its own");
        }
        if instruction.has_lock_prefix() || instruction.has_rep_prefix() || instruction.has_repne_prefix() {
            return refused("a prefix of that kind");
        }
        if instruction.segment_prefix() != Register::None {
            return refused("a segment");
        }
        let narrow = |register: Register| register.is_gpr32() || register == Register::EIP;
        if narrow(instruction.memory_base()) || narrow(instruction.memory_index()) {
            return refused("an address of 32 bits");
        }
        let mut operands = [Operand::None; 4];
        if instruction.op_count() > 4 {
            return refused("an instruction of so many operands");
        }
        let mut bytes = 0;
        for i in 0..instruction.op_count() {
            operands[i as usize] = match instruction.op_kind(i) {
                OpKind::Register => {
                    let register = instruction.op_register(i);
                    if register.is_vector_register() {
                        bytes = bytes.max(register.size());
                    }
                    match of_register(register) {
                        Some(operand) => operand,
                        None => return refused(&format!("register {register:?}")),
                    }
                }
                OpKind::Memory => {
                    // Narrowing from memory: no register is as wide as what is read.
                    let mut whole = *instruction;
                    whole.set_is_broadcast(false);
                    bytes = bytes.max(whole.memory_size().size());
                    let bytes = instruction.memory_size().size();
                    Operand::Memory { address: address(instruction, code), bytes }
                }
                OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64 => Operand::None,
                _ => match instruction.try_immediate(i) {
                    Ok(value) => Operand::Immediate(value as i64),
                    Err(_) => return refused("an operand"),
                },
            };
        }
        let mask = Some(instruction.op_mask()).filter(|mask| *mask != Register::None);
        Ok(Inst {
            kind,
            operands,
            bytes,
            mask: mask.map(|mask| mask.number()),
            zeroing: instruction.zeroing_masking(),
            broadcast: instruction.is_broadcast(),
            wide_index: instruction.is_vsib64(),
            gathered: match instruction.is_vsib() {
                true => instruction.memory_index().size() / if instruction.is_vsib64() { 8 } else { 4 },
                false => 0,
            },
            condition: instruction.condition_code(),
        })
    }

    /// The last operand's value. Errors: it is no immediate.
    pub fn immediate(&self) -> Run<i64> {
        let last = self.operands.iter().rev().find(|operand| **operand != Operand::None);
        match last {
            Some(Operand::Immediate(value)) => Ok(*value),
            _ => Err(Problem::new("an immediate operand is missing")),
        }
    }
}

fn of_register(register: Register) -> Option<Operand> {
    let number = register.number();
    // ah to bh have numbers behind those of the low bytes.
    let is_high = matches!(register, Register::AH | Register::CH | Register::DH | Register::BH);
    if register.is_gpr() && !is_high {
        return Some(Operand::General { number: register.full_register().number(), bytes: register.size() });
    }
    if register.is_vector_register() {
        return Some(Operand::Vector(number));
    }
    register.is_k().then_some(Operand::Mask(number))
}

fn address(instruction: &Instruction, code: u64) -> Address {
    let number = |register: Register| (register != Register::None).then(|| register.number());
    let disp = instruction.memory_displacement64();
    if instruction.is_ip_rel_memory_operand() {
        // The decoder has added the instruction pointer, which counts from the code's start.
        return Address { base: None, index: None, scale: 1, disp: code.wrapping_add(disp) };
    }
    Address {
        base: number(instruction.memory_base()),
        index: number(instruction.memory_index()),
        scale: u64::from(instruction.memory_index_scale()),
        disp,
    }
}
