//! Decides before selection what needs no register of its own: addresses, folded loads, fused comparisons, dead ops.
//!
//! Method: ops are visited from last to first, so that every user has decided before its operands are seen.
//! An op without a remaining register use is not selected; an op that its only user absorbs passes its operands on.

use crate::schedule::ops::{CpuOp, IndexOp, VecOp};
use crate::schedule::{Address, CpuFunc, CpuType, Elem};
use crate::tier::{InstructionSet, Tier};
use tegula_base::{DType, EntityId};
use tegula_ir::op::OpRules;
use tegula_ir::{Effects, OpId, Value};

/// `base + index * scale + disp` in schedule values.
#[derive(Clone, Copy, Debug)]
pub struct Mode {
    pub base: Value,
    pub index: Option<Value>,
    pub scale: u8,
    pub disp: i64,
}

pub struct Plan {
    /// Register uses left of each value.
    uses: Vec<u32>,
    /// Ops that their only user absorbs.
    absorbed: Vec<bool>,
    /// Of ops on memory.
    modes: Vec<Option<Mode>>,
}

impl Plan {
    pub fn new(func: &CpuFunc, set: InstructionSet) -> Plan {
        let order = func.walk();
        let epochs = memory_epochs(func, &order);
        let mut plan = Plan {
            uses: vec![0; func.value_count()],
            absorbed: vec![false; func.op_count()],
            modes: vec![None; func.op_count()],
        };
        for &op in order.iter().rev() {
            plan.visit(func, set, op, &epochs);
        }
        plan
    }

    pub fn is_absorbed(&self, op: OpId) -> bool {
        self.absorbed[op.index()]
    }

    /// Whether an op has nothing to do: no effect and no remaining use.
    pub fn is_dead(&self, func: &CpuFunc, op: OpId) -> bool {
        func.kind(op).effects() != Effects::Writes
            && func.kind(op).region_count() == 0
            && func.results(op).iter().all(|v| self.uses[v.index()] == 0)
    }

    pub fn mode(&self, op: OpId) -> Mode {
        self.modes[op.index()].expect("invariant: the op has an address, and is not dead")
    }

    fn visit(&mut self, func: &CpuFunc, set: InstructionSet, op: OpId, epochs: &[u32]) {
        let InstructionSet { tier, byte_dots } = set;
        if self.is_dead(func, op) && !self.is_absorbed(op) {
            return;
        }
        let kind = func.kind(op);
        if let Some(at) = address_of(kind) {
            let mode = match_mode(func, op, at);
            self.modes[op.index()] = Some(mode);
            self.need(mode.base);
            mode.index.into_iter().for_each(|v| self.need(v));
            for &v in &func.operands(op)[1 + usize::from(at.indexed)..] {
                self.need(v);
            }
            return;
        }
        let absorb = match kind {
            CpuOp::Vec { op: vec_op } => joined_and(func, tier, op, *vec_op, epochs)
                .or_else(|| foldable_operand(func, tier, op, *vec_op, epochs)),
            CpuOp::DotU8S8 {} | CpuOp::DotBf16 {} if tier == Tier::Avx512 => {
                fold_load(func, tier, op, 2, true, epochs)
            }
            CpuOp::DotU8S8 {} if byte_dots => fold_raw(func, op, 2, epochs),
            CpuOp::DotU8S8Pairs {} => fold_raw(func, op, 2, epochs),
            CpuOp::If {} | CpuOp::IndexSelect {} => fused_compare(func, op),
            _ => None,
        };
        for (i, &v) in func.operands(op).iter().enumerate() {
            if Some(i) == absorb {
                let def = func.def_op(v).expect("invariant: absorbed values come from ops");
                self.absorbed[def.index()] = true;
            } else if !(takes_immediate(kind, i)
                && const_of(func, v).is_some_and(|c| i32::try_from(c).is_ok()))
            {
                self.need(v);
            }
        }
    }

    fn need(&mut self, v: Value) {
        self.uses[v.index()] += 1;
    }
}

/// The constant an index value is known to be.
pub fn const_of(func: &CpuFunc, value: Value) -> Option<i64> {
    match func.kind(func.def_op(value)?) {
        CpuOp::Const { value } => Some(*value),
        _ => None,
    }
}

/// The address attribute of a memory op.
pub fn address_of(kind: &CpuOp) -> Option<Address> {
    match kind {
        CpuOp::Load { at, .. }
        | CpuOp::LoadMasked { at, .. }
        | CpuOp::LoadSplat { at, .. }
        | CpuOp::LoadStrided { at, .. }
        | CpuOp::Gather { at, .. }
        | CpuOp::LookUp { at, .. }
        | CpuOp::LoadRaw { at, .. }
        | CpuOp::LoadWords { at, .. }
        | CpuOp::Store { at, .. }
        | CpuOp::StoreStrided { at, .. }
        | CpuOp::Scatter { at, .. }
        | CpuOp::Prefetch { at } => Some(*at),
        _ => None,
    }
}

pub fn is_compare(op: IndexOp) -> bool {
    matches!(op, IndexOp::Eq | IndexOp::Ne | IndexOp::Lt | IndexOp::Le)
}

fn takes_immediate(kind: &CpuOp, operand: usize) -> bool {
    match kind {
        CpuOp::Index { op } => match op {
            IndexOp::Add | IndexOp::Mul | IndexOp::And | IndexOp::Or | IndexOp::Xor => true,
            IndexOp::Sub
            | IndexOp::ShiftLeft
            | IndexOp::ShiftRight
            | IndexOp::FloorDiv
            | IndexOp::Mod
            | IndexOp::Eq
            | IndexOp::Ne
            | IndexOp::Lt
            | IndexOp::Le => operand == 1,
            IndexOp::Min | IndexOp::Max => false,
        },
        // The bounds of a loop.
        CpuOp::For { .. } => operand < 2,
        _ => false,
    }
}

/// Matches the arithmetic around an address. What is matched costs nothing: it becomes part of the operand.
fn match_mode(func: &CpuFunc, op: OpId, at: Address) -> Mode {
    let operands = func.operands(op);
    let mut base = operands[0];
    let mut index = at.indexed.then(|| operands[1]);
    let (mut scale, mut disp) = (i64::from(at.scale), at.disp);
    let fits = |disp: i64| i32::try_from(disp).is_ok();
    for _ in 0..8 {
        if let Some((x, c)) = plus_constant(func, base)
            && let Some(sum) = disp.checked_add(c)
            && fits(sum)
        {
            (base, disp) = (x, sum);
        } else if let Some(i) = index
            && let Some((x, c)) = plus_constant(func, i)
            && let Some(sum) = c.checked_mul(scale).and_then(|c| disp.checked_add(c))
            && fits(sum)
        {
            (index, disp) = (Some(x), sum);
        } else if let Some(i) = index
            && let Some((x, c)) = times_constant(func, i)
            && let Some(product) = c.checked_mul(scale)
            && [1, 2, 4, 8].contains(&product)
        {
            (index, scale) = (Some(x), product);
        } else if index.is_none()
            && !matches!(func.kind(op), CpuOp::Gather { .. } | CpuOp::LookUp { .. } | CpuOp::Scatter { .. })
            && let Some(sum) = func.def_op(base)
            && let CpuOp::Index { op: IndexOp::Add } = func.kind(sum)
            && func.users(base).len() == 1
            && func.parent(sum) == func.parent(op)
        {
            (base, index, scale) = (func.operand(sum, 0), Some(func.operand(sum, 1)), 1);
        } else {
            break;
        }
    }
    Mode { base, index, scale: scale as u8, disp }
}

fn plus_constant(func: &CpuFunc, value: Value) -> Option<(Value, i64)> {
    let op = func.def_op(value)?;
    let CpuOp::Index { op: kind } = func.kind(op) else { return None };
    let (a, b) = (func.operand(op, 0), func.operand(op, 1));
    match kind {
        IndexOp::Add => match (const_of(func, a), const_of(func, b)) {
            (_, Some(c)) => Some((a, c)),
            (Some(c), None) => Some((b, c)),
            (None, None) => None,
        },
        IndexOp::Sub => const_of(func, b).and_then(i64::checked_neg).map(|c| (a, c)),
        _ => None,
    }
}

fn times_constant(func: &CpuFunc, value: Value) -> Option<(Value, i64)> {
    let op = func.def_op(value)?;
    let CpuOp::Index { op: kind } = func.kind(op) else { return None };
    let (a, b) = (func.operand(op, 0), func.operand(op, 1));
    match kind {
        IndexOp::Mul => match (const_of(func, a), const_of(func, b)) {
            (_, Some(c)) => Some((a, c)),
            (Some(c), None) => Some((b, c)),
            (None, None) => None,
        },
        IndexOp::ShiftLeft => const_of(func, b).filter(|c| (0..4).contains(c)).map(|c| (a, 1 << c)),
        _ => None,
    }
}

/// A number per op that changes whenever memory may have changed.
fn memory_epochs(func: &CpuFunc, order: &[OpId]) -> Vec<u32> {
    let mut epochs = vec![0; func.op_count()];
    let mut epoch = 0;
    for &op in order {
        epochs[op.index()] = epoch;
        if func.kind(op).effects() == Effects::Writes || func.kind(op).region_count() > 0 {
            epoch += 1;
        }
    }
    epochs
}

fn fused_compare(func: &CpuFunc, op: OpId) -> Option<usize> {
    let cond = func.operand(op, 0);
    let def = func.def_op(cond)?;
    let fuses = matches!(func.kind(def), CpuOp::Index { op } if is_compare(*op))
        && func.users(cond).len() == 1
        && func.parent(def) == func.parent(op);
    fuses.then_some(0)
}

/// Which operand of lane arithmetic is read straight from memory.
fn foldable_operand(func: &CpuFunc, tier: Tier, op: OpId, vec_op: VecOp, epochs: &[u32]) -> Option<usize> {
    let CpuType::Vector { elem, .. } = func.ty(func.result(op)) else { return None };
    let wide_int = *elem == Elem::I64;
    let (commutes, bitwise) = match vec_op {
        VecOp::Add => (true, false),
        VecOp::Mul if elem.is_float() || *elem == Elem::I32 => (true, false),
        VecOp::Sub => (false, false),
        VecOp::Div | VecOp::Min | VecOp::Max if elem.is_float() => (false, false),
        VecOp::Min | VecOp::Max | VecOp::MinU | VecOp::MaxU if !wide_int => (true, false),
        VecOp::And | VecOp::Or | VecOp::Xor => (true, true),
        VecOp::Fma | VecOp::Fnma => {
            return [0, 1, 2].into_iter().find(|&i| fold_load(func, tier, op, i, true, epochs).is_some());
        }
        _ => return None,
    };
    let splats = !bitwise || elem.bytes() == 4;
    let candidates: &[usize] = if commutes { &[1, 0] } else { &[1] };
    candidates.iter().copied().find(|&i| fold_load(func, tier, op, i, splats, epochs).is_some())
}

/// The operand of an `or` that is an `and` for it alone: AVX-512 computes both at once.
fn joined_and(func: &CpuFunc, tier: Tier, op: OpId, vec_op: VecOp, epochs: &[u32]) -> Option<usize> {
    let joins = |i: &usize| {
        let value = func.operand(op, *i);
        func.def_op(value).is_some_and(|def| {
            matches!(func.kind(def), CpuOp::Vec { op: VecOp::And })
                && func.users(value).len() == 1
                && func.parent(def) == func.parent(op)
                && epochs[def.index()] == epochs[op.index()]
        })
    };
    let may_join = tier == Tier::Avx512 && vec_op == VecOp::Or;
    [1, 0].into_iter().filter(|_| may_join).find(joins)
}

fn fold_load(func: &CpuFunc, tier: Tier, op: OpId, i: usize, splats: bool, epochs: &[u32]) -> Option<usize> {
    let value = func.operand(op, i);
    let def = func.def_op(value)?;
    let (dtype, lanes) = match func.kind(def) {
        CpuOp::Load { dtype, lanes, at } if !at.counted => (*dtype, *lanes as usize),
        CpuOp::LoadSplat { dtype, .. } if splats && tier == Tier::Avx512 => (*dtype, 0),
        _ => return None,
    };
    let whole = lanes == 0 || [16, 32, 64].contains(&(lanes * dtype.size()));
    let unwidened =
        matches!(dtype, DType::F32 | DType::I32 | DType::U32 | DType::F64 | DType::I64 | DType::U64);
    (whole && unwidened && is_read_there(func, op, def, epochs)).then_some(i)
}

/// As above of a register's raw contents.
fn fold_raw(func: &CpuFunc, op: OpId, i: usize, epochs: &[u32]) -> Option<usize> {
    let def = func.def_op(func.operand(op, i))?;
    let CpuOp::LoadRaw { elem, lanes, at } = func.kind(def) else { return None };
    let whole = !at.counted && [16, 32, 64].contains(&(*lanes as usize * elem.bytes()));
    (whole && is_read_there(func, op, def, epochs)).then_some(i)
}

/// Whether `op` alone reads what `def` loads, and would load the same.
fn is_read_there(func: &CpuFunc, op: OpId, def: OpId, epochs: &[u32]) -> bool {
    func.users(func.result(def)).len() == 1
        && func.parent(def) == func.parent(op)
        && epochs[def.index()] == epochs[op.index()]
}
