//! Machine IR: a linear list of x86-64 instructions over virtual registers, between selection and allocation.
//!
//! Not SSA: a virtual register may be written more than once (loop-carried values, results of branches, two-address
//! forms). Control flow is labels and branches; loops are also listed, innermost last in `loops` of each position.
//! Frame areas and pool constants are named by number; their addresses are known only after allocation.

mod builder;

pub use builder::Builder;

use crate::isa::{Isa, Role, Width};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use tegula_ir::OpId;

/// A virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VReg(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    Gpr,
    Vec,
    /// AVX-512 mask registers.
    Mask,
}

/// The part of a register that an operand names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Size {
    B8,
    B16,
    B32,
    B64,
    X,
    Y,
    Z,
    K,
}

impl From<Width> for Size {
    fn from(width: Width) -> Size {
        match width {
            Width::X => Size::X,
            Width::Y => Size::Y,
            Width::Z => Size::Z,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    Reg(VReg),
    /// An area of the stack frame.
    Frame(u32),
    /// A constant behind the code.
    Pool(u32),
}

/// `base + index * scale + disp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mem {
    pub base: Base,
    pub index: Option<(VReg, Size)>,
    pub scale: u8,
    pub disp: i32,
}

impl Mem {
    pub fn at(base: Base) -> Mem {
        Mem { base, index: None, scale: 1, disp: 0 }
    }

    pub fn plus(self, bytes: i32) -> Mem {
        Mem { disp: self.disp + bytes, ..self }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg {
    Reg(VReg, Size),
    Mem(Mem),
    Imm(i64),
}

/// What a mask operand does with lanes that it turns off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Masking {
    /// They become 0 (in memory: stay untouched).
    Zero,
    /// The destination keeps them.
    Merge,
    /// The instruction itself says (blends, comparisons).
    Plain,
}

/// Condition codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cond {
    Eq,
    Ne,
    Lt,
    Ge,
    Le,
    Gt,
}

impl Cond {
    pub fn negate(self) -> Cond {
        match self {
            Cond::Eq => Cond::Ne,
            Cond::Ne => Cond::Eq,
            Cond::Lt => Cond::Ge,
            Cond::Ge => Cond::Lt,
            Cond::Le => Cond::Gt,
            Cond::Gt => Cond::Le,
        }
    }

    pub fn cmov(self) -> Isa {
        match self {
            Cond::Eq => Isa::Cmove,
            Cond::Ne => Isa::Cmovne,
            Cond::Lt => Isa::Cmovl,
            Cond::Ge => Isa::Cmovge,
            Cond::Le => Isa::Cmovle,
            Cond::Gt => Isa::Cmovg,
        }
    }

    pub fn set(self) -> Isa {
        match self {
            Cond::Eq => Isa::Sete,
            Cond::Ne => Isa::Setne,
            Cond::Lt => Isa::Setl,
            Cond::Ge => Isa::Setge,
            Cond::Le => Isa::Setle,
            Cond::Gt => Isa::Setg,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Isa(Isa, Width),
    /// `(D, U)`: a copy between registers of one class. Allocation removes most.
    Move,
    /// `(D)`: all bits 0, of a vector or mask register.
    Zero,
    /// A branch target; `aligned` ones are heads of innermost loops.
    Label {
        label: Label,
        aligned: bool,
    },
    Jump(Label),
    Branch(Cond, Label),
    /// `(D result, U dividend, U divisor)`: 64-bit division; the divisor is neither 0 nor (signed) -1.
    Divide {
        signed: bool,
        remainder: bool,
    },
    /// `(D result, U table, U a, U b)`: calls word `entry` of the function table.
    Call {
        entry: u32,
    },
    /// `(D)`: the value a general register has on entry.
    Entry(u8),
    Return,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Inst {
    pub kind: Kind,
    pub args: SmallVec<[Arg; 4]>,
    pub mask: Option<(VReg, Masking)>,
    /// The memory operand is one element, repeated.
    pub broadcast: bool,
    pub op: Option<OpId>,
}

impl Inst {
    /// How the instruction treats operand `i`.
    pub fn role(&self, i: usize) -> Role {
        match self.kind {
            Kind::Isa(isa, _) => match isa.role(i) {
                Role::Def if matches!(self.mask, Some((_, Masking::Merge))) => Role::Mod,
                role => role,
            },
            Kind::Move | Kind::Zero | Kind::Divide { .. } | Kind::Call { .. } | Kind::Entry(_) if i == 0 => {
                Role::Def
            }
            _ => Role::Use,
        }
    }

    /// Every register operand with its role; a register may come more than once.
    pub fn visit(&self, mut f: impl FnMut(VReg, Role)) {
        for (i, arg) in self.args.iter().enumerate() {
            match arg {
                Arg::Reg(reg, _) => f(*reg, self.role(i)),
                Arg::Mem(mem) => {
                    if let Base::Reg(reg) = mem.base {
                        f(reg, Role::Use);
                    }
                    if let Some((reg, _)) = mem.index {
                        f(reg, Role::Use);
                    }
                }
                Arg::Imm(_) => {}
            }
        }
        if let Some((reg, _)) = self.mask {
            f(reg, self.mask_role());
        }
    }

    /// Gathers clear their mask as they go; others only read it.
    pub fn mask_role(&self) -> Role {
        match self.kind {
            Kind::Isa(Isa::VpgatherddK | Isa::VpgatherdqK | Isa::VpgatherqdK | Isa::VpgatherqqK, _) => {
                Role::Mod
            }
            _ => Role::Use,
        }
    }

    /// Replaces a register wherever the instruction names it.
    pub fn rename(&mut self, from: VReg, to: VReg) {
        let swap = |reg: &mut VReg| {
            if *reg == from {
                *reg = to;
            }
        };
        for arg in &mut self.args {
            match arg {
                Arg::Reg(reg, _) => swap(reg),
                Arg::Mem(mem) => {
                    if let Base::Reg(reg) = &mut mem.base {
                        swap(reg);
                    }
                    if let Some((reg, _)) = &mut mem.index {
                        swap(reg);
                    }
                }
                Arg::Imm(_) => {}
            }
        }
        if let Some((reg, _)) = &mut self.mask {
            swap(reg);
        }
    }

    pub fn has_memory(&self) -> bool {
        self.args.iter().any(|arg| matches!(arg, Arg::Mem(_)))
    }

    /// Whether the instruction does nothing but write its register results.
    pub fn is_pure(&self) -> bool {
        match self.kind {
            Kind::Isa(isa, _) => matches!(self.args.first(), Some(Arg::Reg(..))) && isa.role(0) != Role::Use,
            Kind::Move | Kind::Zero | Kind::Divide { .. } | Kind::Entry(_) => true,
            Kind::Label { .. } | Kind::Jump(_) | Kind::Branch(..) | Kind::Call { .. } | Kind::Return => false,
        }
    }

    /// Whether running it again anywhere gives the same value: a constant.
    pub fn is_constant(&self) -> bool {
        let constant = |arg: &Arg| match arg {
            Arg::Imm(_) => true,
            Arg::Mem(mem) => matches!(mem.base, Base::Pool(_)) && mem.index.is_none(),
            Arg::Reg(..) => false,
        };
        match self.kind {
            Kind::Zero => true,
            Kind::Isa(isa, _) => {
                isa.role(0) == Role::Def
                    && self.mask.is_none()
                    && self.args.len() == 2
                    && matches!(self.args[0], Arg::Reg(..))
                    && constant(&self.args[1])
            }
            _ => false,
        }
    }
}

/// A loop's place in the list: its label and its backward branch.
#[derive(Clone, Copy, Debug, Hash)]
pub struct Loop {
    pub head: u32,
    pub tail: u32,
    /// Index of the loop around it.
    pub parent: Option<u32>,
}

#[derive(Clone, Copy, Debug, Hash)]
pub struct VRegData {
    pub class: Class,
    /// The widest part that any operand names.
    pub size: Size,
}

/// A kernel as machine IR.
#[derive(Clone, Debug, Default)]
pub struct Mir {
    pub insts: Vec<Inst>,
    pub vregs: Vec<VRegData>,
    pub loops: Vec<Loop>,
    pub n_labels: u32,
    /// Bytes of each frame area; all are 64-byte aligned.
    pub frame: Vec<u32>,
    /// Constants, each aligned to its size.
    pub pool: Vec<Vec<u8>>,
}

impl Mir {
    /// What registers follow from: all but immediates, displacements, sizes of frame areas, values of constants, and where
    /// instructions come from.
    pub fn skeleton(&self) -> Skeleton<'_> {
        Skeleton(self)
    }

    /// What code, constants aside, follows from besides the skeleton.
    pub fn numbers(&self) -> Numbers<'_> {
        Numbers(self)
    }
}

/// See [`Mir::skeleton`].
pub struct Skeleton<'a>(&'a Mir);

impl Hash for Skeleton<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Mir { insts, vregs, loops, n_labels, frame, pool } = self.0;
        insts.len().hash(state);
        for inst in insts {
            let Inst { kind, args, mask, broadcast, op: _ } = inst;
            let (reg, masking) = mask.map_or((0, 0), |(reg, masking)| (reg.0, masking as u8 + 1));
            match *kind {
                Kind::Isa(isa, width) => state.write_u64(word(isa as u32, width as u8, 0)),
                kind => (word(0, 0, 1), kind).hash(state),
            }
            state.write_u64(word(reg, masking, (args.len() as u8) << 1 | u8::from(*broadcast)));
            for arg in args {
                match *arg {
                    Arg::Reg(reg, size) => state.write_u64(word(reg.0, size as u8, 0)),
                    Arg::Mem(Mem { base, index, scale, disp: _ }) => {
                        let (kind, id) = match base {
                            Base::Reg(reg) => (1, reg.0),
                            Base::Frame(area) => (2, area),
                            Base::Pool(constant) => (3, constant),
                        };
                        let (reg, size) = index.map_or((0, 0), |(reg, size)| (reg.0, size as u8 + 1));
                        state.write_u64(word(id, scale, kind));
                        state.write_u64(word(reg, size, 0));
                    }
                    Arg::Imm(_) => state.write_u64(word(0, 0, 4)),
                }
            }
        }
        (vregs, loops, n_labels, frame.len(), pool.len()).hash(state);
        pool.iter().for_each(|constant| constant.len().hash(state));
    }
}

/// Three numbers in one, which a hash takes in one step.
fn word(id: u32, a: u8, b: u8) -> u64 {
    u64::from(id) << 16 | u64::from(a) << 8 | u64::from(b)
}

/// See [`Mir::numbers`].
pub struct Numbers<'a>(&'a Mir);

impl Hash for Numbers<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for arg in self.0.insts.iter().flat_map(|inst| &inst.args) {
            match arg {
                Arg::Reg(..) => {}
                Arg::Mem(mem) => mem.disp.hash(state),
                Arg::Imm(n) => n.hash(state),
            }
        }
        self.0.frame.hash(state);
    }
}
