//! The scalar half of x86-64 code: general registers, the flags of comparisons, the stack, argument words.

use super::decode::{End, Program, access_bytes, elements};
use super::{Call, Observer};
use iced_x86::{ConditionCode, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register};
use tegula_base::Diagnostic;
use tegula_perf::cpu::sampler::Access;

/// Where the argument block and the top of the stack are taken to be.
const ARGS: u64 = 0x1000;
const STACK_TOP: u64 = 0x7ff0_0000_0000;
const STACK_WORDS: usize = 1 << 14;
const RSP: u8 = 4;
const NONE: u8 = u8::MAX;

/// `base + index * scale + disp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Memory {
    base: u8,
    index: u8,
    scale: u8,
    disp: i64,
}

impl Memory {
    /// The address that an instruction reads, writes or asks for.
    pub(super) fn of(instruction: &Instruction) -> Option<Memory> {
        let named = (0..instruction.op_count()).any(|i| instruction.op_kind(i) == OpKind::Memory);
        if !named || matches!(instruction.mnemonic(), Mnemonic::Lea | Mnemonic::Nop) {
            return None;
        }
        Some(Memory::named(instruction))
    }

    fn named(instruction: &Instruction) -> Memory {
        let number = |register: Register| match register.is_gpr() {
            true => register.full_register().number() as u8,
            // A constant behind the code, or lanes of which each has its own.
            false => NONE,
        };
        Memory {
            base: number(instruction.memory_base()),
            index: number(instruction.memory_index()),
            scale: instruction.memory_index_scale() as u8,
            disp: instruction.memory_displacement64() as i64,
        }
    }
}

/// Signed comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    Eq,
    Ne,
    Lt,
    Ge,
    Le,
    Gt,
    Negative,
}

impl Condition {
    pub(super) fn of(code: ConditionCode) -> Option<Condition> {
        Some(match code {
            ConditionCode::e => Condition::Eq,
            ConditionCode::ne => Condition::Ne,
            ConditionCode::l => Condition::Lt,
            ConditionCode::ge => Condition::Ge,
            ConditionCode::le => Condition::Le,
            ConditionCode::g => Condition::Gt,
            ConditionCode::s => Condition::Negative,
            _ => return None,
        })
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Source {
    Register(u8),
    Value(i64),
    Memory(Memory),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Copy,
    Signed,
    Add,
    Sub,
    And,
    Or,
    Xor,
    Multiply,
    Left,
    Right,
    Low,
    Negate,
    Lea,
}

/// One scalar operation. `bytes` is the width of what is read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scalar {
    Op {
        what: What,
        to: u8,
        a: Source,
        b: Source,
        bytes: u8,
        flags: bool,
    },
    Store {
        to: Memory,
        from: Source,
    },
    Compare {
        a: Source,
        b: Source,
    },
    Test {
        a: Source,
        b: Source,
    },
    Move {
        condition: Condition,
        to: u8,
        from: Source,
    },
    Set {
        condition: Condition,
        to: u8,
    },
    Push(u8),
    Pop(u8),
    Divide {
        signed: bool,
        by: Source,
    },
    /// From lanes or data: nothing that control flow depends on.
    Unknown(u8),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Access { memory: Memory, bytes: u32, count: u16, prefetch: bool },
    Scalar(Scalar),
}

impl Scalar {
    /// Appends what an instruction does that is no branch.
    pub(super) fn steps(
        instruction: &Instruction,
        factory: &mut InstructionInfoFactory,
        steps: &mut Vec<Step>,
    ) {
        if let Some(memory) = Memory::of(instruction) {
            let prefetch = instruction.mnemonic() == Mnemonic::Prefetcht1;
            steps.push(Step::Access {
                memory,
                bytes: access_bytes(instruction).max(1) as u32,
                count: elements(instruction),
                prefetch,
            });
        }
        if let Some(scalar) = Scalar::of(instruction) {
            steps.push(Step::Scalar(scalar));
            return;
        }
        for used in factory.info(instruction).used_registers() {
            let writes = !matches!(used.access(), OpAccess::Read | OpAccess::CondRead | OpAccess::None);
            if used.register().is_gpr() && writes && used.register() != Register::RSP {
                steps.push(Step::Scalar(Scalar::Unknown(used.register().full_register().number() as u8)));
            }
        }
    }

    fn of(instruction: &Instruction) -> Option<Scalar> {
        use Mnemonic as M;
        let source = |i: u32| match instruction.op_kind(i) {
            OpKind::Register => Source::Register(instruction.op_register(i).full_register().number() as u8),
            OpKind::Memory => Source::Memory(Memory::named(instruction)),
            _ => Source::Value(instruction.immediate(i) as i64),
        };
        let is_register = |i: u32| instruction.op_kind(i) == OpKind::Register;
        let to = || instruction.op_register(0).full_register().number() as u8;
        let bytes = |i: u32| match instruction.op_kind(i) {
            OpKind::Register => instruction.op_register(i).size() as u8,
            OpKind::Memory => instruction.memory_size().size() as u8,
            _ => instruction.op_register(0).size() as u8,
        };
        let op = |what, a, b, flags| Scalar::Op { what, to: to(), a, b, bytes: bytes(0), flags };
        let nothing = Source::Value(0);
        Some(match instruction.mnemonic() {
            M::Mov if !is_register(0) => Scalar::Store { to: Memory::named(instruction), from: source(1) },
            M::Mov => op(What::Copy, source(1), nothing, false),
            M::Movzx => Scalar::Op {
                what: What::Copy,
                to: to(),
                a: source(1),
                b: nothing,
                bytes: bytes(1),
                flags: false,
            },
            M::Movsx | M::Movsxd => Scalar::Op {
                what: What::Signed,
                to: to(),
                a: source(1),
                b: nothing,
                bytes: bytes(1),
                flags: false,
            },
            M::Add => op(What::Add, source(0), source(1), true),
            M::Sub => op(What::Sub, source(0), source(1), true),
            M::And => op(What::And, source(0), source(1), true),
            M::Or => op(What::Or, source(0), source(1), true),
            M::Xor => op(What::Xor, source(0), source(1), true),
            M::Imul if instruction.op_count() == 3 => op(What::Multiply, source(1), source(2), true),
            M::Imul => op(What::Multiply, source(0), source(1), true),
            M::Shl => op(What::Left, source(0), source(1), true),
            M::Sar => op(What::Right, source(0), source(1), true),
            M::Shlx => op(What::Left, source(1), source(2), false),
            M::Sarx => op(What::Right, source(1), source(2), false),
            M::Bzhi => op(What::Low, source(1), source(2), true),
            M::Neg => op(What::Negate, source(0), nothing, true),
            M::Lea => op(What::Lea, Source::Memory(Memory::named(instruction)), nothing, false),
            M::Cmp => Scalar::Compare { a: source(0), b: source(1) },
            M::Test => Scalar::Test { a: source(0), b: source(1) },
            M::Push => Scalar::Push(to()),
            M::Pop => Scalar::Pop(to()),
            M::Idiv => Scalar::Divide { signed: true, by: source(0) },
            M::Div => Scalar::Divide { signed: false, by: source(0) },
            // Before a division, which looks at nothing but the dividend.
            M::Cqo => return None,
            _ => {
                let condition = Condition::of(instruction.condition_code())?;
                let name = format!("{:?}", instruction.mnemonic());
                match name.starts_with("Set") {
                    true => Scalar::Set { condition, to: to() },
                    false => Scalar::Move { condition, to: to(), from: source(1) },
                }
            }
        })
    }
}

/// What the flags came from.
#[derive(Clone, Copy)]
enum Flags {
    Compared(i64, i64),
    Result(i64),
}

struct State<'a> {
    registers: [u64; 16],
    flags: Flags,
    stack: Vec<u64>,
    words: &'a [u64],
}

impl State<'_> {
    fn address(&self, memory: Memory) -> u64 {
        let register = |n: u8| if n == NONE { 0 } else { self.registers[n as usize] };
        let index = register(memory.index).wrapping_mul(u64::from(memory.scale));
        register(memory.base).wrapping_add(index).wrapping_add(memory.disp as u64)
    }

    fn stack_place(address: u64) -> Option<usize> {
        let below = STACK_TOP.checked_sub(address)?;
        (below.is_multiple_of(8) && below / 8 < STACK_WORDS as u64).then_some((below / 8) as usize)
    }

    fn word(&self, address: u64) -> u64 {
        if let Some(place) = State::stack_place(address) {
            return self.stack[place];
        }
        let place = address.wrapping_sub(ARGS);
        if place.is_multiple_of(8) { self.words.get((place / 8) as usize).copied().unwrap_or(0) } else { 0 }
    }

    fn value(&self, source: Source) -> i64 {
        match source {
            Source::Register(n) => self.registers[n as usize] as i64,
            Source::Value(value) => value,
            Source::Memory(memory) => self.word(self.address(memory)) as i64,
        }
    }

    fn holds(&self, condition: Condition) -> bool {
        let (order, negative) = match self.flags {
            Flags::Compared(a, b) => (a.cmp(&b), a.wrapping_sub(b) < 0),
            Flags::Result(value) => (value.cmp(&0), value < 0),
        };
        match condition {
            Condition::Eq => order.is_eq(),
            Condition::Ne => order.is_ne(),
            Condition::Lt => order.is_lt(),
            Condition::Ge => order.is_ge(),
            Condition::Le => order.is_le(),
            Condition::Gt => order.is_gt(),
            Condition::Negative => negative,
        }
    }

    fn set(&mut self, register: u8, value: i64) {
        self.registers[register as usize] = value as u64;
    }

    fn store(&mut self, address: u64, value: u64) {
        if let Some(place) = State::stack_place(address) {
            self.stack[place] = value;
        }
    }

    fn run(&mut self, scalar: Scalar) {
        match scalar {
            Scalar::Op { what, to, a, b, bytes, flags } => {
                let value = self.op(what, a, b, bytes);
                self.set(to, value);
                if flags {
                    self.flags = Flags::Result(value);
                }
            }
            Scalar::Store { to, from } => self.store(self.address(to), self.value(from) as u64),
            Scalar::Compare { a, b } => self.flags = Flags::Compared(self.value(a), self.value(b)),
            Scalar::Test { a, b } => self.flags = Flags::Result(self.value(a) & self.value(b)),
            Scalar::Move { condition, to, from } => {
                if self.holds(condition) {
                    self.set(to, self.value(from));
                }
            }
            Scalar::Set { condition, to } => self.set(to, i64::from(self.holds(condition))),
            Scalar::Push(register) => {
                self.registers[RSP as usize] -= 8;
                self.store(self.registers[RSP as usize], self.registers[register as usize]);
            }
            Scalar::Pop(register) => {
                let value = self.word(self.registers[RSP as usize]);
                self.registers[RSP as usize] += 8;
                self.set(register, value as i64);
            }
            Scalar::Divide { signed, by } => self.divide(signed, self.value(by)),
            Scalar::Unknown(register) => self.set(register, 0),
        }
    }

    fn op(&self, what: What, a: Source, b: Source, bytes: u8) -> i64 {
        if what == What::Lea {
            return match a {
                Source::Memory(memory) => self.address(memory) as i64,
                other => self.value(other),
            };
        }
        let (x, y) = (self.value(a), self.value(b));
        let spare = 64 - 8 * u32::from(bytes.clamp(1, 8));
        match what {
            What::Copy | What::Lea => ((x as u64) << spare >> spare) as i64,
            What::Signed => x << spare >> spare,
            What::Add => x.wrapping_add(y),
            What::Sub => x.wrapping_sub(y),
            What::And => x & y,
            What::Or => x | y,
            What::Xor if bytes == 4 => ((x ^ y) as u32).into(),
            What::Xor => x ^ y,
            What::Multiply => x.wrapping_mul(y),
            What::Left => x.wrapping_shl(y as u32),
            What::Right => x.wrapping_shr(y as u32),
            What::Low => match y & 0xff {
                n @ 0..=63 => x & ((1 << n) - 1),
                _ => x,
            },
            What::Negate => x.wrapping_neg(),
        }
    }

    /// rax by an operand: quotient in rax, remainder in rdx.
    fn divide(&mut self, signed: bool, by: i64) {
        let a = self.registers[0] as i64;
        let (quotient, remainder) = match (signed, by) {
            (_, 0) => (0, 0),
            (true, _) => (a.wrapping_div(by), a.wrapping_rem(by)),
            (false, _) => ((a as u64 / by as u64) as i64, (a as u64 % by as u64) as i64),
        };
        self.set(0, quotient);
        self.set(2, remainder);
    }
}

impl Program {
    /// Runs a call; `observer` is told of each block.
    /// Errors: internal, where the code does not come to an end in `most` blocks.
    pub fn run(&self, call: &Call, observer: &mut impl Observer, most: u64) -> Result<(), Diagnostic> {
        let mut state = State {
            registers: [0; 16],
            flags: Flags::Result(0),
            stack: vec![0; STACK_WORDS],
            words: call.words,
        };
        for (register, value) in [(7, ARGS), (6, call.scratch), (2, call.begin), (1, call.end)] {
            state.registers[register] = value;
        }
        // As after a call: one word below a multiple of 16.
        state.registers[RSP as usize] = STACK_TOP - 4096 - 8;
        let mut accesses: Vec<Access> = Vec::new();
        let (mut block, mut way) = (0, 2 * self.blocks.len());
        for _ in 0..most {
            accesses.clear();
            for step in &self.blocks[block].steps {
                match *step {
                    Step::Scalar(scalar) => state.run(scalar),
                    Step::Access { memory, bytes, count, prefetch } => {
                        let address = state.address(memory);
                        for _ in 0..count {
                            accesses.push(Access { address, bytes, prefetch });
                        }
                    }
                }
            }
            let (taken, next) = match self.blocks[block].end {
                End::Return => (false, None),
                End::Next(next) => (false, Some(next)),
                End::Branch { condition, then, next } => match state.holds(condition) {
                    true => (true, Some(then)),
                    false => (false, Some(next)),
                },
            };
            let goes_on = observer.block(block, &accesses, way, taken);
            let Some(next) = next.filter(|_| goes_on) else { return Ok(()) };
            way = 2 * block + usize::from(taken);
            block = next;
        }
        Err(Diagnostic::internal("a kernel's code does not end where its sizes say"))
    }
}
