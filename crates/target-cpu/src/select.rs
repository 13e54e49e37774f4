//! Chooses x86-64 instructions for a kernel on the schedule level.
//!
//! Before: the function is checked, and every vector fits one register of the tier.
//! After: machine IR over virtual registers whose meaning is the kernel's.
//! Method: one forward walk. [`plan`] has decided beforehand what becomes part of another op's operands.
//! Loop-carried values keep one register from the preheader to the results, so that allocation can join the
//! copies at the latch; lanes above a vector's count hold garbage, which no op reads.
//!
//! Masks are `k` registers on AVX-512; on AVX2 vectors of 32-bit lanes, all ones where true.

mod control;
mod convert;
mod count;
mod divide;
mod dot;
mod index;
mod lanes;
mod look_up;
mod made;
mod memory;
mod plan;
mod shuffle;
mod storage;
mod strided;
mod vector;

use crate::isa::{Isa, Width};
use crate::mir::{Arg, Base, Builder, Kind, Mem, Mir, Size, VReg};
use crate::schedule::ops::CpuOp;
use crate::schedule::{CpuFunc, CpuType, Elem};
use crate::tier::{InstructionSet, Tier};
use made::AlreadyMade;
use plan::Plan;
use tegula_base::{Diagnostic, EntityId};
use tegula_ir::{OpId, Value};

/// Registers with which the ABI enters a kernel: rdi, rsi, rdx, rcx.
const ENTRY: [u8; 4] = [7, 6, 2, 1];

type Selected<T> = Result<T, Diagnostic>;

/// Instructions that ops become, seldom more: room for them is taken at once, as moving a growing list takes longer than most of
/// what selection does (2 % of a compilation).
const INSTS_OF_OPS: usize = 2;

/// Selects instructions for a whole kernel.
pub fn select(func: &CpuFunc, set: InstructionSet) -> Selected<Mir> {
    let mut b = Builder::new(ENTRY.len() + INSTS_OF_OPS * func.op_count());
    let entry = ENTRY.map(|register| {
        let reg = b.gpr();
        b.push(Kind::Entry(register), &[Arg::Reg(reg, Size::B64)]);
        reg
    });
    b.mark_prelude();
    let plan = Plan::new(func, set);
    let InstructionSet { tier, byte_dots } = set;
    let values = vec![None; func.value_count()];
    let mut select = Select { func, tier, byte_dots, plan, b, values, entry, made: AlreadyMade::default() };
    select.region(func.body())?;
    Ok(select.b.finish())
}

struct Select<'f> {
    func: &'f CpuFunc,
    tier: Tier,
    /// As of [`InstructionSet`].
    byte_dots: bool,
    plan: Plan,
    b: Builder,
    values: Vec<Option<VReg>>,
    /// Argument block, scratch, begin, end.
    entry: [VReg; 4],
    made: AlreadyMade,
}

impl Select<'_> {
    fn op(&mut self, op: OpId) -> Selected<()> {
        self.b.op = Some(op);
        self.b.release_areas();
        let func = self.func;
        if self.plan.is_absorbed(op) || self.plan.is_dead(func, op) {
            return Ok(());
        }
        match func.kind(op) {
            // Constants are made where they are needed.
            CpuOp::Const { .. } | CpuOp::VecConst { .. } | CpuOp::Iota { .. } => {}
            CpuOp::Arg { word } => {
                let source = Mem { disp: 8 * *word as i32, ..Mem::at(Base::Reg(self.entry[0])) };
                let reg = self.load_word(source);
                self.define(op, reg);
            }
            CpuOp::Scratch {} => self.define(op, self.entry[1]),
            CpuOp::Begin {} => self.define(op, self.entry[2]),
            CpuOp::End {} => self.define(op, self.entry[3]),
            CpuOp::Index { op: kind } => self.index(op, *kind)?,
            CpuOp::IndexSelect {} => self.index_select(op)?,
            CpuOp::For { step, .. } => self.for_loop(op, *step)?,
            CpuOp::If {} => self.if_else(op)?,
            // Their owners place them.
            CpuOp::Yield {} => {}
            CpuOp::Return {} => {
                self.b.push(Kind::Return, &[]);
            }
            CpuOp::Load { dtype, lanes, at } => self.load(op, *dtype, *lanes, *at)?,
            CpuOp::LoadMasked { dtype, lanes, at } => self.load_masked(op, *dtype, *lanes, *at)?,
            CpuOp::LoadSplat { dtype, lanes, .. } => self.load_splat(op, *dtype, *lanes)?,
            CpuOp::LoadStrided { dtype, lanes, at } => self.load_strided(op, *dtype, *lanes, *at)?,
            CpuOp::LookUp { lanes, at } => self.look_up(op, *lanes, *at)?,
            CpuOp::Gather { dtype, lanes, at } => self.gather(op, *dtype, *lanes, *at)?,
            CpuOp::LoadRaw { elem, lanes, at } => self.load_raw(op, *elem, *lanes, *at)?,
            CpuOp::LoadWords { lanes, .. } => self.load_words(op, *lanes)?,
            CpuOp::Store { dtype, at } => self.store(op, *dtype, *at)?,
            CpuOp::StoreStrided { dtype, at } => self.store_strided(op, *dtype, *at)?,
            CpuOp::Scatter { dtype, at } => self.scatter(op, *dtype, *at)?,
            CpuOp::Prefetch { .. } => self.prefetch(op)?,
            CpuOp::Splat { elem, lanes } => self.splat(op, *elem, *lanes)?,
            CpuOp::Vec { op: kind } => self.vec(op, *kind)?,
            CpuOp::Compare { op: kind } => self.compare(op, *kind)?,
            CpuOp::Select {} => self.select_lanes(op)?,
            CpuOp::MaskOp { op: kind } => self.mask_op(op, *kind)?,
            CpuOp::MaskFirst { lanes } => {
                let mask = self.count_mask(func.operand(op, 0), *lanes)?;
                self.define(op, mask);
            }
            CpuOp::MaskToVec {} => self.mask_to_vec(op)?,
            CpuOp::Convert { op: kind, elem } => self.convert(op, *kind, *elem)?,
            CpuOp::Extract { lane } => self.extract(op, *lane)?,
            CpuOp::Reduce { op: kind } => self.reduce(op, *kind)?,
            CpuOp::Shuffle { lanes } => self.shuffle(op, lanes)?,
            CpuOp::Tabulated { bits } => self.tabulated(op, bits)?,
            CpuOp::DotU8S8 {} => self.dot_u8s8(op)?,
            CpuOp::DotU8S8Pairs {} => self.dot_u8s8_pairs(op)?,
            CpuOp::DotWords {} => self.dot_words(op)?,
            CpuOp::DotBf16 {} => self.dot_bf16(op)?,
            CpuOp::Call { function } => self.call(op, function)?,
        }
        Ok(())
    }

    // --- values ----------------------------------------------------------------------------------------

    fn define(&mut self, op: OpId, reg: VReg) {
        let result = self.func.result(op);
        self.values[result.index()] = Some(reg);
    }

    /// The register of a value; constants are made on first use.
    fn reg(&mut self, value: Value) -> Selected<VReg> {
        if let Some(reg) = self.values[value.index()] {
            return Ok(reg);
        }
        let reg = match self.func.def_op(value).map(|op| self.func.kind(op)) {
            Some(CpuOp::Const { value }) => self.index_constant(*value),
            Some(CpuOp::VecConst { elem, lanes, bits }) => {
                let width = self.width(*elem, *lanes)?;
                self.splat_constant(*elem, width, *bits)
            }
            Some(CpuOp::Iota { elem, lanes }) => {
                let width = self.width(*elem, *lanes)?;
                self.iota(*elem, width)
            }
            _ => return Err(self.internal(&format!("{value} is used before it is defined"))),
        };
        self.values[value.index()] = Some(reg);
        Ok(reg)
    }

    fn operand(&mut self, op: OpId, i: usize) -> Selected<VReg> {
        self.reg(self.func.operand(op, i))
    }

    /// A constant index that fits an instruction's immediate.
    fn immediate(&self, value: Value) -> Option<i64> {
        plan::const_of(self.func, value).filter(|c| i32::try_from(*c).is_ok())
    }

    /// A fresh register for a value of type `ty`.
    fn fresh(&mut self, ty: CpuType) -> Selected<VReg> {
        Ok(match ty {
            CpuType::Index => self.b.gpr(),
            CpuType::Vector { elem, lanes } => {
                let width = self.width(elem, u32::from(lanes))?;
                self.b.vec(width)
            }
            CpuType::Mask { .. } if self.tier == Tier::Avx512 => self.b.mask(),
            CpuType::Mask { lanes } => {
                let width = self.width(Elem::I32, u32::from(lanes))?;
                self.b.vec(width)
            }
        })
    }

    /// The register width of so many lanes on this tier.
    fn width(&self, elem: Elem, lanes: u32) -> Selected<Width> {
        match Width::of_bytes(elem.bytes() * lanes as usize) {
            Some(Width::Z) if self.tier == Tier::Avx2 => None,
            width => width,
        }
        .ok_or_else(|| self.internal(&format!("vector<{lanes}x{}> is wider than a register", elem.name())))
    }

    /// Element, lanes and register width of a vector value.
    fn shape(&self, value: Value) -> Selected<(Elem, u32, Width)> {
        match *self.func.ty(value) {
            CpuType::Vector { elem, lanes } => {
                Ok((elem, u32::from(lanes), self.width(elem, u32::from(lanes))?))
            }
            CpuType::Mask { lanes } => {
                // As AVX2 holds it; AVX-512 code does not ask for the width.
                let width = Width::of_bytes(4 * usize::from(lanes)).unwrap_or(Width::Z);
                Ok((Elem::I32, u32::from(lanes), width))
            }
            CpuType::Index => Err(self.internal(&format!("{value} is an index where a vector is expected"))),
        }
    }

    fn internal(&self, what: &str) -> Diagnostic {
        let error = Diagnostic::internal(format!("selecting x86-64 code for `{}`: {what}", self.func.name));
        match self.b.op {
            Some(op) => error.note(format!("{op} = tgc.{}", tegula_ir::Op::name(self.func.kind(op)))),
            None => error,
        }
    }

    // --- short forms of instructions -------------------------------------------------------------------

    /// `dst = isa a, b` of one width.
    fn vv(&mut self, isa: Isa, width: Width, a: VReg, b: VReg) -> VReg {
        let (dst, size) = (self.b.vec(width), Size::from(width));
        self.b.isa(isa, width, &[Arg::Reg(dst, size), Arg::Reg(a, size), Arg::Reg(b, size)]);
        dst
    }

    /// `dst = isa a, b, immediate`.
    fn vvi(&mut self, isa: Isa, width: Width, a: VReg, b: VReg, immediate: i64) -> VReg {
        let (dst, size) = (self.b.vec(width), Size::from(width));
        let args = [Arg::Reg(dst, size), Arg::Reg(a, size), Arg::Reg(b, size), Arg::Imm(immediate)];
        self.b.isa(isa, width, &args);
        dst
    }

    /// `dst = isa a`.
    fn v(&mut self, isa: Isa, width: Width, a: VReg) -> VReg {
        self.v_sized(isa, width, width, width, a)
    }

    /// `dst = isa a, immediate`.
    fn vi(&mut self, isa: Isa, width: Width, a: VReg, immediate: i64) -> VReg {
        let (dst, size) = (self.b.vec(width), Size::from(width));
        self.b.isa(isa, width, &[Arg::Reg(dst, size), Arg::Reg(a, size), Arg::Imm(immediate)]);
        dst
    }

    /// `dst = isa a` where the widths of the two differ.
    fn v_sized(&mut self, isa: Isa, width: Width, to: Width, from: Width, a: VReg) -> VReg {
        let dst = self.b.vec(to);
        self.b.isa(isa, width, &[Arg::Reg(dst, to.into()), Arg::Reg(a, from.into())]);
        dst
    }

    /// `dst = isa [source]`.
    fn v_load(&mut self, isa: Isa, width: Width, source: Mem) -> VReg {
        let dst = self.b.vec(width);
        self.b.isa(isa, width, &[Arg::Reg(dst, width.into()), Arg::Mem(source)]);
        dst
    }

    /// A 64-bit word from memory.
    fn load_word(&mut self, source: Mem) -> VReg {
        let reg = self.b.gpr();
        self.b.isa(Isa::Mov, Width::X, &[Arg::Reg(reg, Size::B64), Arg::Mem(source)]);
        reg
    }

    /// `isa dst, source` on general registers, 64 bits each.
    fn g(&mut self, isa: Isa, dst: VReg, source: Arg) {
        self.b.isa(isa, Width::X, &[Arg::Reg(dst, Size::B64), source]);
    }

    fn zero(&mut self, width: Width) -> VReg {
        let reg = self.b.vec(width);
        self.b.push(Kind::Zero, &[Arg::Reg(reg, width.into())]);
        reg
    }

    /// A constant in every lane.
    fn splat_constant(&mut self, elem: Elem, width: Width, bits: i64) -> VReg {
        let n = elem.bytes();
        let bytes = bits.to_le_bytes()[..n].to_vec();
        if bytes.iter().all(|byte| *byte == 0) {
            return self.b.constant(Kind::Zero, width.into(), None);
        }
        let isa = match n {
            1 => Isa::Vpbroadcastb,
            2 => Isa::Vpbroadcastw,
            4 => Isa::Vpbroadcastd,
            _ => Isa::Vpbroadcastq,
        };
        let source = self.b.pool(bytes);
        self.b.constant(Kind::Isa(isa, width), width.into(), Some(Arg::Mem(source)))
    }

    fn splat_i32(&mut self, width: Width, value: i32) -> VReg {
        self.splat_constant(Elem::I32, width, i64::from(value))
    }

    fn splat_i64(&mut self, width: Width, value: i64) -> VReg {
        self.splat_constant(Elem::I64, width, value)
    }

    /// A constant of a whole register.
    fn vector_constant(&mut self, width: Width, mut bytes: Vec<u8>) -> VReg {
        bytes.resize(width.bytes(), 0);
        let source = self.b.pool(bytes);
        self.b.constant(Kind::Isa(Isa::VmovupsLoad, width), width.into(), Some(Arg::Mem(source)))
    }

    fn iota(&mut self, elem: Elem, width: Width) -> VReg {
        let n = elem.bytes();
        let lanes = 0..(width.bytes() / n) as u64;
        self.vector_constant(width, lanes.flat_map(|i| i.to_le_bytes()[..n].to_vec()).collect())
    }

    fn index_constant(&mut self, value: i64) -> VReg {
        // A 32-bit move clears the upper half and is the shortest.
        let (isa, size) = match value {
            0..=0x7fff_ffff => (Isa::Mov32, Size::B32),
            _ if i32::try_from(value).is_ok() => (Isa::Mov, Size::B64),
            _ => (Isa::MovI, Size::B64),
        };
        self.b.constant(Kind::Isa(isa, Width::X), size, Some(Arg::Imm(value)))
    }
}
