//! Registers and flags.

use crate::lanes::Vector;
use crate::problem::{Problem, Run};
use iced_x86::ConditionCode;

pub const RAX: usize = 0;
pub const RCX: usize = 1;
pub const RDX: usize = 2;
pub const RSP: usize = 4;
pub const RSI: usize = 6;
pub const RDI: usize = 7;

/// General registers that a function leaves as they were (System V AMD64): rbx, rsp, rbp and r12 to r15.
pub const KEPT: [usize; 7] = [3, RSP, 5, 12, 13, 14, 15];
const NAMES: [&str; 16] = [
    "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
    "r15",
];

pub fn name(register: usize) -> &'static str {
    NAMES[register]
}

/// What registers hold that nobody has set: no address, and as a float a NaN.
const RUBBISH: u64 = 0xfff5_dead_fff5_dead;

/// The status flags; `None` where the last instruction leaves one undefined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    pub carry: Option<bool>,
    pub zero: Option<bool>,
    pub sign: Option<bool>,
    pub overflow: Option<bool>,
}

impl Flags {
    /// Of a result of 64 bits.
    pub fn of(result: u64, carry: Option<bool>, overflow: Option<bool>) -> Flags {
        Flags { carry, zero: Some(result == 0), sign: Some((result as i64) < 0), overflow }
    }

    /// Errors: a flag that the condition asks is undefined.
    pub fn hold(&self, condition: ConditionCode) -> Run<bool> {
        use ConditionCode as C;
        let asked = |flag: Option<bool>| flag.ok_or_else(|| Problem::new("asks a flag that is undefined"));
        let less = || -> Run<bool> { Ok(asked(self.sign)? != asked(self.overflow)?) };
        Ok(match condition {
            C::o => asked(self.overflow)?,
            C::no => !asked(self.overflow)?,
            C::b => asked(self.carry)?,
            C::ae => !asked(self.carry)?,
            C::e => asked(self.zero)?,
            C::ne => !asked(self.zero)?,
            C::be => asked(self.carry)? || asked(self.zero)?,
            C::a => !(asked(self.carry)? || asked(self.zero)?),
            C::s => asked(self.sign)?,
            C::ns => !asked(self.sign)?,
            C::l => less()?,
            C::ge => !less()?,
            C::le => less()? || asked(self.zero)?,
            C::g => !(less()? || asked(self.zero)?),
            C::None | C::p | C::np => return Err(Problem::new("asks no flag that is kept")),
        })
    }
}

#[derive(Clone, Debug)]
pub struct State {
    pub general: [u64; 16],
    pub vectors: [Vector; 32],
    pub masks: [u64; 8],
    pub flags: Flags,
}

impl State {
    /// Rubbish everywhere, but for the upper halves of registers that legacy instructions reach: those are clear.
    pub fn new() -> State {
        let mut vector = Vector::ZERO;
        (0..8).for_each(|i| vector.set(i, RUBBISH));
        let mut vectors = [vector; 32];
        vectors[..16].iter_mut().for_each(|vector| *vector = vector.low(16));
        State { general: [RUBBISH; 16], vectors, masks: [RUBBISH; 8], flags: Flags::default() }
    }

    /// What a call of a function may leave behind: rubbish in all but [`KEPT`].
    pub fn after_call(&mut self, result: u64) {
        let mut left = State::new();
        KEPT.into_iter().for_each(|register| left.general[register] = self.general[register]);
        left.general[RAX] = result;
        *self = left;
    }

    /// Whether bits 128 and up of a register that legacy instructions reach are set: an SSE instruction after them is slow.
    pub fn has_upper_halves(&self) -> bool {
        self.vectors[..16].iter().any(|vector| vector.0[16..].iter().any(|byte| *byte != 0))
    }
}
