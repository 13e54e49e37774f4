//! Schedule function to flat instructions: slots for values, jumps for regions, moves for region arguments.
//!
//! Before: any function. After: every slot that an instruction names exists, or an error says which op breaks
//! which rule. A loop's results share the slots of its carried values: a result is read only after the loop,
//! and before the loop is entered again.

use super::convert::{Conversion, conversion};
use super::lanes::{self, Apply};
use super::program::{Active, Addressing, Executable, Files, Inst, MaskOp, Place, Reg, Slot, Spread};
use crate::schedule::{Address, CpuFunc, CpuOp, CpuType, Elem, VecOp, calls};
use tegula_base::{DType, EntityId};
use tegula_ir::op::OpRules;
use tegula_ir::{Op, OpId, RegionId, Value};

impl Executable {
    /// Errors: the op that breaks a rule of the level, and the rule.
    pub fn new(func: &CpuFunc) -> Result<Executable> {
        let places = vec![None; func.value_count()];
        let mut cx = Flattener {
            func,
            places,
            insts: vec![],
            origins: vec![],
            files: Files::default(),
            shuffles: vec![],
            tables: vec![],
        };
        if !func.args(func.body()).is_empty() {
            return Err("a kernel's body has no arguments".into());
        }
        cx.region(func.body())?;
        Ok(Executable {
            insts: cx.insts,
            origins: cx.origins,
            initial: cx.files,
            shuffles: cx.shuffles,
            tables: cx.tables,
        })
    }
}

struct Flattener<'a> {
    func: &'a CpuFunc,
    places: Vec<Option<Place>>,
    insts: Vec<Inst>,
    origins: Vec<(OpId, &'static str)>,
    files: Files,
    shuffles: Vec<Vec<u32>>,
    tables: Vec<Vec<u32>>,
}

type Result<T> = std::result::Result<T, String>;

/// Words of a vector that count, in its file.
fn words(elem: Elem, lanes: u32) -> usize {
    let bytes = elem.bytes() * lanes as usize;
    if elem.bytes() == 8 { bytes / 8 } else { bytes.div_ceil(4) }
}

impl Flattener<'_> {
    // --- places ----------------------------------------------------------------------------------------

    fn new_place(&mut self, ty: CpuType) -> Place {
        let files = &mut self.files;
        match ty {
            CpuType::Index => Place::Index(push(&mut files.index, 0)),
            CpuType::Mask { .. } => Place::Mask(push(&mut files.mask, 0)),
            CpuType::Vector { elem, .. } if elem.bytes() == 8 => {
                Place::Vector(Reg::V64(push(&mut files.v64, [0; 8])))
            }
            CpuType::Vector { .. } => Place::Vector(Reg::V32(push(&mut files.v32, [0; 16]))),
        }
    }

    fn define(&mut self, value: Value) -> Place {
        let place = self.new_place(*self.func.ty(value));
        self.places[value.index()] = Some(place);
        place
    }

    fn place(&self, value: Value) -> Result<Place> {
        self.places[value.index()].ok_or_else(|| format!("{value} is used before it is made"))
    }

    fn index(&self, value: Value) -> Result<Slot> {
        match self.place(value)? {
            Place::Index(slot) => Ok(slot),
            _ => Err(format!("{value} is no index")),
        }
    }

    fn reg(&self, value: Value) -> Result<Reg> {
        match self.place(value)? {
            Place::Vector(reg) => Ok(reg),
            _ => Err(format!("{value} is no vector")),
        }
    }

    fn v32(&self, value: Value) -> Result<Slot> {
        match self.reg(value)? {
            Reg::V32(slot) => Ok(slot),
            Reg::V64(_) => Err(format!("{value} has 64-bit lanes")),
        }
    }

    fn v64(&self, value: Value) -> Result<Slot> {
        match self.reg(value)? {
            Reg::V64(slot) => Ok(slot),
            Reg::V32(_) => Err(format!("{value} has lanes below 64 bits")),
        }
    }

    fn mask(&self, value: Value) -> Result<Slot> {
        match self.place(value)? {
            Place::Mask(slot) => Ok(slot),
            _ => Err(format!("{value} is no mask")),
        }
    }

    fn vector_type(&self, value: Value) -> Result<(Elem, u32)> {
        match *self.func.ty(value) {
            CpuType::Vector { elem, lanes } => Ok((elem, lanes.into())),
            _ => Err(format!("{value} is no vector")),
        }
    }

    fn emit(&mut self, op: OpId, inst: Inst) -> usize {
        self.insts.push(inst);
        self.origins.push((op, self.func.kind(op).name()));
        self.insts.len() - 1
    }

    // --- regions ---------------------------------------------------------------------------------------

    /// All ops of a region but its terminator; that one.
    fn region(&mut self, region: RegionId) -> Result<OpId> {
        let func = self.func;
        let Some((&last, ops)) = func.ops_in(region).split_last() else {
            return Err("a region is empty".into());
        };
        for &op in ops {
            self.op(op).map_err(|error| format!("{op}: {error}"))?;
        }
        let fits = match func.kind(last) {
            CpuOp::Yield {} => func.owner(region).is_some(),
            CpuOp::Return {} => func.owner(region).is_none(),
            _ => false,
        };
        if !fits || !func.results(last).is_empty() {
            return Err(format!("{last}: a region ends in `yield`, the body in `return`"));
        }
        CpuOp::check(func, last).map_err(|error| format!("{last}: {error}"))?;
        if func.owner(region).is_none() {
            self.emit(last, Inst::Stop);
        }
        Ok(last)
    }

    /// Moves that happen at once: sources are read before any target is written.
    fn moves(&mut self, op: OpId, targets: &[Place], sources: &[Value]) -> Result<()> {
        let mut pairs = Vec::new();
        for (&d, &source) in targets.iter().zip(sources) {
            let s = self.place(source)?;
            if d != s {
                pairs.push((d, s, *self.func.ty(source)));
            }
        }
        let clash = pairs.iter().any(|(_, s, _)| pairs.iter().any(|(d, ..)| d == s));
        if clash {
            for pair in &mut pairs {
                let spare = self.new_place(pair.2);
                self.emit(op, Inst::Move { d: spare, s: pair.1 });
                pair.1 = spare;
            }
        }
        for (d, s, _) in pairs {
            self.emit(op, Inst::Move { d, s });
        }
        Ok(())
    }

    fn for_loop(&mut self, op: OpId, step: i64) -> Result<()> {
        let func = self.func;
        let (operands, body) = (func.operands(op), func.regions_of(op)[0]);
        let hi = self.index(operands[1])?;
        let args = func.args(body);
        let Place::Index(iv) = self.define(args[0]) else {
            return Err("the induction variable is no index".into());
        };
        let carried: Vec<Place> = args[1..].iter().map(|arg| self.define(*arg)).collect();
        self.moves(op, &[Place::Index(iv)], &operands[..1])?;
        self.moves(op, &carried, &operands[2..])?;
        let test = self.emit(op, Inst::LoopTest { iv, hi, exit: 0 });
        let last = self.region(body)?;
        self.moves(last, &carried, func.operands(last))?;
        self.emit(op, Inst::LoopStep { iv, step, test });
        let exit = self.insts.len();
        self.insts[test] = Inst::LoopTest { iv, hi, exit };
        for (result, place) in func.results(op).iter().zip(carried) {
            self.places[result.index()] = Some(place);
        }
        Ok(())
    }

    fn branch(&mut self, op: OpId) -> Result<()> {
        let func = self.func;
        let c = self.index(func.operand(op, 0))?;
        let results: Vec<Place> = func.results(op).iter().map(|result| self.define(*result)).collect();
        let split = self.emit(op, Inst::JumpIfZero { c, to: 0 });
        let &[then, other] = func.regions_of(op) else {
            return Err("a branch has two regions".into());
        };
        let last = self.region(then)?;
        self.moves(last, &results, func.operands(last))?;
        let skip = self.emit(op, Inst::Jump { to: 0 });
        self.insts[split] = Inst::JumpIfZero { c, to: self.insts.len() };
        let last = self.region(other)?;
        self.moves(last, &results, func.operands(last))?;
        self.insts[skip] = Inst::Jump { to: self.insts.len() };
        Ok(())
    }

    // --- ops -------------------------------------------------------------------------------------------

    fn op(&mut self, op: OpId) -> Result<()> {
        let func = self.func;
        if CpuOp::check(func, op)?.as_slice() != func.result_types(op) {
            return Err("the result types do not follow from the operands".into());
        }
        match func.kind(op) {
            CpuOp::For { step, .. } => {
                if func.args(func.regions_of(op)[0]).is_empty() {
                    return Err("the loop has no body".into());
                }
                self.for_loop(op, *step)
            }
            CpuOp::If {} => self.branch(op),
            CpuOp::Yield {} | CpuOp::Return {} => Err("a terminator stands within a region".into()),
            CpuOp::Prefetch { .. } => Ok(()),
            CpuOp::Store { .. } | CpuOp::StoreStrided { .. } | CpuOp::Scatter { .. } => self.store(op),
            _ => self.simple(op),
        }
    }

    /// An op with one result, no regions.
    fn simple(&mut self, op: OpId) -> Result<()> {
        let func = self.func;
        let operands = func.operands(op);
        let result = self.define(func.result(op));
        let inst = match result {
            Place::Index(d) => self.index_op(op, d, operands)?,
            Place::Mask(d) => self.mask_op(op, d, operands)?,
            Place::Vector(d) => self.vector_op(op, d, operands)?,
        };
        if let Some(inst) = inst {
            self.emit(op, inst);
        }
        Ok(())
    }

    fn index_op(&mut self, op: OpId, d: Slot, operands: &[Value]) -> Result<Option<Inst>> {
        Ok(Some(match self.func.kind(op) {
            CpuOp::Const { value } => {
                self.files.index[d as usize] = *value;
                return Ok(None);
            }
            CpuOp::Arg { word } => Inst::Arg { d, word: *word },
            CpuOp::Scratch {} => Inst::Scratch { d },
            CpuOp::Begin {} => Inst::Begin { d },
            CpuOp::End {} => Inst::End { d },
            CpuOp::Index { op } => {
                Inst::Index { op: *op, d, a: self.index(operands[0])?, b: self.index(operands[1])? }
            }
            CpuOp::IndexSelect {} => {
                let [c, a, b] =
                    [self.index(operands[0])?, self.index(operands[1])?, self.index(operands[2])?];
                Inst::IndexSelect { d, c, a, b }
            }
            CpuOp::Extract { lane } => {
                let (elem, _) = self.vector_type(operands[0])?;
                Inst::Extract { d, s: self.reg(operands[0])?, elem, lane: *lane as usize }
            }
            other => return Err(format!("`{}` makes no index", other.name())),
        }))
    }

    fn mask_op(&mut self, op: OpId, d: Slot, operands: &[Value]) -> Result<Option<Inst>> {
        Ok(Some(match self.func.kind(op) {
            CpuOp::Compare { op } => {
                let (elem, lanes) = self.vector_type(operands[0])?;
                let n = lanes as usize;
                let undefined = || format!("no `{}` of {}", op.name(), elem.name());
                if elem.bytes() == 8 {
                    let f = lanes::compare64(*op, elem).ok_or_else(undefined)?;
                    Inst::Test64 { f, d, a: self.v64(operands[0])?, b: self.v64(operands[1])?, n }
                } else {
                    let f = lanes::compare32(*op, elem).ok_or_else(undefined)?;
                    Inst::Test32 { f, d, a: self.v32(operands[0])?, b: self.v32(operands[1])?, n }
                }
            }
            CpuOp::Select {} => {
                let [m, a, b] = [self.mask(operands[0])?, self.mask(operands[1])?, self.mask(operands[2])?];
                Inst::SelectMask { d, m, a, b }
            }
            CpuOp::MaskOp { op } => {
                let op = match op {
                    VecOp::And => MaskOp::And,
                    VecOp::Or => MaskOp::Or,
                    VecOp::Xor => MaskOp::Xor,
                    VecOp::AndNot => MaskOp::AndNot,
                    other => return Err(format!("no `{}` of masks", other.name())),
                };
                Inst::MaskOp { op, d, a: self.mask(operands[0])?, b: self.mask(operands[1])? }
            }
            CpuOp::MaskFirst { lanes } => {
                Inst::MaskFirst { d, s: self.index(operands[0])?, n: *lanes as usize }
            }
            other => return Err(format!("`{}` makes no mask", other.name())),
        }))
    }

    fn vector_op(&mut self, op: OpId, d: Reg, operands: &[Value]) -> Result<Option<Inst>> {
        let (elem, lanes) = self.vector_type(self.func.result(op))?;
        let n = lanes as usize;
        Ok(Some(match self.func.kind(op) {
            CpuOp::Load { dtype, at, .. } => {
                let at = self.addressing(at, operands)?;
                Inst::Load { d, dtype: *dtype, n, at, spread: Spread::Consecutive }
            }
            CpuOp::LoadMasked { dtype, at, .. } => {
                let mask = self.mask(operands[1 + usize::from(at.indexed)])?;
                let at = Addressing { active: Active::Masked(mask), ..self.addressing(at, operands)? };
                Inst::Load { d, dtype: *dtype, n, at, spread: Spread::Consecutive }
            }
            CpuOp::LoadSplat { dtype, at, .. } => {
                Inst::LoadSplat { d, dtype: *dtype, n, at: self.addressing(at, operands)? }
            }
            CpuOp::LoadStrided { dtype, at, .. } => {
                let stride = operands[1 + usize::from(at.indexed)];
                let spread = Spread::Strided(self.index(stride)?);
                Inst::Load { d, dtype: *dtype, n, at: self.addressing(at, operands)?, spread }
            }
            CpuOp::Gather { dtype, at, .. } => {
                let spread = Spread::Offsets(self.reg(operands[1])?);
                Inst::Load { d, dtype: *dtype, n, at: self.addressing(at, operands)?, spread }
            }
            CpuOp::LookUp { at, .. } => {
                let spread = Spread::Offsets(self.reg(operands[1])?);
                Inst::Load { d, dtype: DType::U8, n, at: self.addressing(at, operands)?, spread }
            }
            CpuOp::LoadRaw { elem, at, .. } => {
                Inst::LoadRaw { d, size: elem.bytes(), n, at: self.addressing(at, operands)? }
            }
            CpuOp::LoadWords { at, .. } => {
                let Reg::V32(d) = d else { return Err("words are in 32-bit lanes".into()) };
                Inst::LoadWords { d, n, at: self.addressing(at, operands)? }
            }
            CpuOp::VecConst { bits, .. } => {
                let lanes: Vec<u64> = vec![*bits as u64; n];
                self.preset(d, elem, &lanes);
                return Ok(None);
            }
            CpuOp::Iota { .. } => {
                let lanes: Vec<u64> = (0..n as u64).collect();
                self.preset(d, elem, &lanes);
                return Ok(None);
            }
            CpuOp::Splat { elem, .. } => Inst::Splat { d, elem: *elem, n, s: self.index(operands[0])? },
            CpuOp::Vec { op } => {
                let n = words(elem, lanes);
                let undefined = || format!("no `{}` of {}", op.name(), elem.name());
                match d {
                    Reg::V32(d) => {
                        self.map32(lanes::vec32(*op, elem).ok_or_else(undefined)?, d, operands, n)?
                    }
                    Reg::V64(d) => {
                        self.map64(lanes::vec64(*op, elem).ok_or_else(undefined)?, d, operands, n)?
                    }
                }
            }
            CpuOp::Select {} => {
                let m = self.mask(operands[0])?;
                match d {
                    // Masks have at most one bit a word: narrow lanes are not selected by masks of bytes.
                    Reg::V32(_) if elem.bytes() < 4 => return Err(format!("no `select` of {}", elem.name())),
                    Reg::V32(d) => {
                        Inst::Select32 { d, m, a: self.v32(operands[1])?, b: self.v32(operands[2])?, n }
                    }
                    Reg::V64(d) => {
                        Inst::Select64 { d, m, a: self.v64(operands[1])?, b: self.v64(operands[2])?, n }
                    }
                }
            }
            CpuOp::MaskToVec {} => match d {
                Reg::V32(d) => Inst::MaskToVec { d, m: self.mask(operands[0])?, n },
                Reg::V64(_) => return Err("a mask becomes i32 lanes".into()),
            },
            CpuOp::Convert { op, elem: to } => {
                let (from, _) = self.vector_type(operands[0])?;
                let found = conversion(*op, from, *to);
                let found =
                    found.ok_or_else(|| format!("no `{}` of {} to {}", op.name(), from.name(), to.name()))?;
                let n = words(elem, lanes);
                match (found, d) {
                    (Conversion::Keep32(f), Reg::V32(d)) => {
                        Inst::Map32x1 { f, d, a: self.v32(operands[0])?, n }
                    }
                    (Conversion::Keep64(f), Reg::V64(d)) => {
                        Inst::Map64x1 { f, d, a: self.v64(operands[0])?, n }
                    }
                    (Conversion::Widen(f), Reg::V64(d)) => Inst::Widen { f, d, a: self.v32(operands[0])?, n },
                    (Conversion::Narrow(f), Reg::V32(d)) => {
                        Inst::Narrow { f, d, a: self.v64(operands[0])?, n }
                    }
                    _ => return Err(format!("`{}` to other lanes", op.name())),
                }
            }
            CpuOp::Reduce { op } => {
                let undefined = || format!("no `{}` of {}", op.name(), elem.name());
                let combine = lanes::combiner(*op);
                match d {
                    Reg::V32(d) => match lanes::vec32(combine, elem) {
                        Some(Apply::Two(f)) => Inst::Reduce32 { f, d, a: self.v32(operands[0])?, n },
                        _ => return Err(undefined()),
                    },
                    Reg::V64(d) => match lanes::vec64(combine, elem) {
                        Some(Apply::Two(f)) => Inst::Reduce64 { f, d, a: self.v64(operands[0])?, n },
                        _ => return Err(undefined()),
                    },
                }
            }
            CpuOp::Shuffle { lanes: picks } => {
                let (_, n) = self.vector_type(operands[0])?;
                self.shuffles.push(picks.clone());
                let (a, b) = (self.reg(operands[0])?, self.reg(operands[1])?);
                let picks = self.shuffles.len() - 1;
                Inst::Shuffle { d, a, b, size: elem.bytes(), n: n as usize, picks }
            }
            CpuOp::Tabulated { bits } => {
                self.tables.push(bits.clone());
                let (Reg::V32(d), places) = (d, self.v32(operands[0])?) else {
                    return Err("tables are of 32-bit lanes".into());
                };
                Inst::Tabulated { d, places, table: self.tables.len() - 1 }
            }
            CpuOp::DotU8S8 {} => self.dot(lanes::dot_u8s8, d, operands, n)?,
            CpuOp::DotU8S8Pairs {} => self.dot(lanes::dot_u8s8_pairs, d, operands, n)?,
            CpuOp::DotWords {} => self.dot(lanes::dot_words, d, operands, n)?,
            CpuOp::DotBf16 {} => self.dot(lanes::dot_bf16, d, operands, n)?,
            CpuOp::Call { function } => {
                let f = calls::function(function).ok_or_else(|| format!("no function `{function}`"))?;
                let b = operands.get(1).map(|b| self.reg(*b)).transpose()?;
                Inst::Call { f, d, a: self.reg(operands[0])?, b, n }
            }
            other => return Err(format!("`{}` makes no vector", other.name())),
        }))
    }

    fn map32(&self, apply: Apply<u32>, d: Slot, operands: &[Value], n: usize) -> Result<Inst> {
        let a = self.v32(operands[0])?;
        Ok(match apply {
            Apply::One(f) => Inst::Map32x1 { f, d, a, n },
            Apply::Two(f) => Inst::Map32x2 { f, d, a, b: self.v32(operands[1])?, n },
            Apply::Three(f) => {
                Inst::Map32x3 { f, d, a, b: self.v32(operands[1])?, c: self.v32(operands[2])?, n }
            }
        })
    }

    fn map64(&self, apply: Apply<u64>, d: Slot, operands: &[Value], n: usize) -> Result<Inst> {
        let a = self.v64(operands[0])?;
        Ok(match apply {
            Apply::One(f) => Inst::Map64x1 { f, d, a, n },
            Apply::Two(f) => Inst::Map64x2 { f, d, a, b: self.v64(operands[1])?, n },
            Apply::Three(f) => {
                Inst::Map64x3 { f, d, a, b: self.v64(operands[1])?, c: self.v64(operands[2])?, n }
            }
        })
    }

    fn dot(&self, f: lanes::Apply3<u32>, d: Reg, operands: &[Value], n: usize) -> Result<Inst> {
        match d {
            Reg::V32(d) => self.map32(Apply::Three(f), d, operands, n),
            Reg::V64(_) => Err("a dot product has 32-bit lanes".into()),
        }
    }

    fn store(&mut self, op: OpId) -> Result<()> {
        let func = self.func;
        let operands = func.operands(op);
        let first = |at: &Address| 1 + usize::from(at.indexed);
        let (dtype, at, spread) = match func.kind(op) {
            CpuOp::Store { dtype, at } => (*dtype, at, Spread::Consecutive),
            CpuOp::StoreStrided { dtype, at } => {
                (*dtype, at, Spread::Strided(self.index(operands[first(at) + 1])?))
            }
            CpuOp::Scatter { dtype, at } => (*dtype, at, Spread::Offsets(self.reg(operands[2])?)),
            other => return Err(format!("`{}` stores nothing", other.name())),
        };
        let value = operands[first(at)];
        let (_, n) = self.vector_type(value)?;
        let at = self.addressing(at, operands)?;
        self.emit(op, Inst::Store { s: self.reg(value)?, dtype, n: n as usize, at, spread });
        Ok(())
    }

    fn addressing(&self, at: &Address, operands: &[Value]) -> Result<Addressing> {
        let active = match operands.last().filter(|_| at.counted) {
            Some(count) => Active::First(self.index(*count)?),
            None => Active::All,
        };
        Ok(Addressing {
            base: self.index(operands[0])?,
            index: if at.indexed { Some(self.index(operands[1])?) } else { None },
            scale: at.scale.into(),
            disp: at.disp,
            active,
        })
    }

    /// Sets a vector's lanes once, before the kernel runs.
    fn preset(&mut self, d: Reg, elem: Elem, lanes: &[u64]) {
        let size = elem.bytes();
        let mut bytes = [0; 64];
        for (lane, bits) in bytes.chunks_exact_mut(size).zip(lanes) {
            lane.copy_from_slice(&bits.to_le_bytes()[..size]);
        }
        match d {
            Reg::V32(slot) => self.files.v32[slot as usize] = super::step::words32(&bytes),
            Reg::V64(slot) => self.files.v64[slot as usize] = super::step::words64(&bytes),
        }
    }
}

fn push<T>(file: &mut Vec<T>, item: T) -> Slot {
    file.push(item);
    (file.len() - 1) as Slot
}
