//! Computes what depends on constants only, by the reference evaluator.
//!
//! Before: any verified program.  After: no pure op is left whose operands are constants, whose result's size is known
//! and within the budget: at most [`FACTOR`] times its operands', each counted once, and [`GROWTH`] more, so that a small
//! file does not unfold; for contractions, which read their factors from memory in any case, [`FOR_CONTRACTIONS`] in all.
//! Nor does it take longer than [`STEPS`]. Equal elements stay splats; reshapes share their bytes. Dequantisations stay for
//! `recover_composites`, and so does what contractions compute of constants in few bits on the way to their products.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use tegula_backend::{Place, Target};
use tegula_base::{Diagnostics, Dim, HostTensor, Symbols};
use tegula_ir::op::OpRules;
use tegula_ir::pass::{Changed, PassCx};
use tegula_ir::rewrite::{OpSet, Rewrite, erase_unneeded, rewrite_chosen};
use tegula_ir::{ConstData, ConstStore, Effects, OpId, RegionId, Value};
use tegula_tensor::{Builder, TensorFunc, TensorOp, TensorProgram, evaluate_op};

/// Bytes that a result may have beyond its operands'.
const GROWTH: usize = 1 << 16;
/// Bytes that become floats.
const FACTOR: usize = 4;
/// Bytes of all results, in one run of the pass over a function, that are larger than that, or computed of such, on the way
/// to a contraction. Half of it is what a Fourier transform over 1024 places takes, whose waves have 8 bytes in each of six
/// steps. The next run takes them for the model's own constants.
const FOR_CONTRACTIONS: usize = 1 << 26;
/// Multiply-adds of a function's windows at compile time, 8 ns each on a Zen 5; those of matrix products are done
/// [`AT_ONCE`].
const STEPS: usize = 1 << 27;
const AT_ONCE: usize = 32;
/// Ops in a row that are computed for one stored result: what recursion has to hold.
const LONGEST_PASSED: usize = 8;

pub fn fold_constants(
    program: &mut TensorProgram,
    target: &dyn Target,
    cx: &mut PassCx,
) -> Result<Changed, Diagnostics> {
    let mut changed = Changed::No;
    for func in &mut program.funcs {
        let mut plan = Plan::of(func, &program.symbols, target);
        loop {
            let mut refused = false;
            changed |= rewrite_chosen(func, &plan.stored, &mut |func, region, op| {
                let mut computed = vec![op];
                let Some(values) = fold(func, &mut program.consts, &plan, region, op, &mut computed) else {
                    refused = true;
                    return Ok(Rewrite::Keep);
                };
                cx.count("folded", computed.len() as u64);
                for op in computed.into_iter().rev() {
                    cx.remark(func.op(op).location.as_ref(), "computed at compile time");
                }
                Ok(Rewrite::Replace(values))
            })?;
            erase_unneeded(func, plan.passed.keys().copied());
            if !refused || plan.passed.is_empty() {
                break;
            }
            // The evaluator refuses an op (a size that no operand gives), which stays for the run: what it reads is
            // stored.
            let stored = OpSet::new(func.op_count());
            plan.passed.into_keys().for_each(|op| _ = stored.insert(op));
            plan = Plan { stored, passed: BTreeMap::new(), excess: plan.excess };
        }
    }
    Ok(changed)
}

/// Ops that the target computes between bytes and products: from the bytes on, and what says where a byte's parts are.
fn prologues(func: &TensorFunc, ops: &[OpId], symbols: &Symbols, target: &dyn Target) -> HashSet<OpId> {
    let mut kept = HashSet::new();
    let dots = ops.iter().filter(|op| matches!(func.kind(**op), TensorOp::Dot { .. }));
    for fused in dots.filter_map(|op| target.fuses(func, *op, Place::Factors, symbols)) {
        for op in fused.ops {
            let of_bytes = |value: &Value| {
                let is_place = |op| matches!(func.kind(op), TensorOp::Iota { .. }) || kept.contains(&op);
                fused.buffers.contains(value) || func.def_op(*value).is_some_and(is_place)
            };
            if func.operands(op).iter().any(of_bytes) {
                kept.insert(op);
            }
        }
    }
    kept
}

/// What becomes of the ops that depend on constants only.
struct Plan {
    /// Their results become constants.
    stored: OpSet,
    /// One other of them alone reads the result, which lives only as long as that is computed.
    passed: BTreeMap<OpId, Passed>,
    /// Bytes beyond the budget that an op may take, where it unfolds.
    excess: BTreeMap<OpId, usize>,
}

/// A chain of passed ops, up to one of them.
#[derive(Clone, Copy, Default)]
struct Passed {
    length: usize,
    /// Bytes of the constants that the chain begins with.
    read: usize,
}

impl Plan {
    fn of(func: &TensorFunc, symbols: &Symbols, target: &dyn Target) -> Plan {
        let ops = func.walk();
        let kept = prologues(func, &ops, symbols, target);
        let constant = constant(func, &ops);
        let for_contractions = for_contractions(func, &constant);
        let folded = OpSet::new(func.op_count());
        let mut order = Vec::new();
        let mut excess = BTreeMap::new();
        // Ops beyond the budget, and those computed of them.
        let unfolded = OpSet::new(func.op_count());
        let (mut bytes_left, mut steps_left) = (FOR_CONTRACTIONS, STEPS);
        for op in constant.into_iter().filter(|op| !kept.contains(op)) {
            let Some(beyond) = beyond_budget(func, &|op| folded.contains(op), op) else { continue };
            let of_unfolded = |value: &Value| func.def_op(*value).is_some_and(|op| unfolded.contains(op));
            let unfolds = beyond > 0 || func.operands(op).iter().any(of_unfolded);
            let (bytes, steps) = (if unfolds { stored_bytes(func, op) } else { 0 }, steps(func, op));
            if bytes > bytes_left || steps > steps_left || unfolds && !for_contractions.contains(op) {
                continue;
            }
            (bytes_left, steps_left) = (bytes_left - bytes, steps_left - steps);
            if unfolds {
                unfolded.insert(op);
                excess.insert(op, beyond);
            }
            folded.insert(op);
            order.push(op);
        }
        let mut plan = Plan { stored: OpSet::new(func.op_count()), passed: BTreeMap::new(), excess };
        for op in order {
            // Reshapes share what is stored.
            let computes = |op| folded.contains(op) && !matches!(func.kind(op), TensorOp::Reshape { .. });
            let is_read_once = computes(op)
                && matches!(func.results(op), [result] if matches!(func.users(*result), [user] if computes(*user)));
            match plan.chain(func, op).filter(|chain| is_read_once && chain.length <= LONGEST_PASSED) {
                Some(chain) => _ = plan.passed.insert(op, chain),
                None => _ = plan.stored.insert(op),
            }
        }
        plan
    }

    /// The chain that ends with `op`; `None` where its result is too large for what the chain began with.
    fn chain(&self, func: &TensorFunc, op: OpId) -> Option<Passed> {
        let mut chain = Passed::default();
        for value in distinct(func, op) {
            let before = func.def_op(value).and_then(|def| self.passed.get(&def));
            chain.length = chain.length.max(before.map_or(0, |before| before.length));
            chain.read = chain.read.saturating_add(match before {
                Some(before) => before.read,
                None if is_formula(func, value) => 0,
                None => bytes(func, value)?,
            });
        }
        chain.length += 1;
        let written = sum(func, func.results(op))?;
        (written <= most_written(chain.read)).then_some(chain)
    }
}

/// Bytes of an op's results, which are known.
fn stored_bytes(func: &TensorFunc, op: OpId) -> usize {
    match func.kind(op) {
        TensorOp::Reshape { .. } => 0,
        _ => sum(func, func.results(op)).unwrap_or(usize::MAX),
    }
}

/// What evaluating an op with results of known size takes beyond passing over them.
fn steps(func: &TensorFunc, op: OpId) -> usize {
    let count = |dims: &mut dyn Iterator<Item = &Dim>| {
        let extent = |dim: &Dim| dim.as_const().and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
        dims.fold(1usize, |count, dim| count.saturating_mul(extent(dim)))
    };
    let shape = |i: usize| &func.ty(func.operand(op, i)).shape;
    let each = match func.kind(op) {
        TensorOp::Dot { dims, .. } | TensorOp::QDot { dims } => {
            count(&mut dims.lhs_contract.iter().map(|axis| &shape(0)[*axis])).div_ceil(AT_ONCE)
        }
        TensorOp::Conv { .. } | TensorOp::QConv { .. } => count(&mut shape(1).iter().skip(1)),
        TensorOp::Pool { window, .. } | TensorOp::MaxPoolIndices { window, .. } => window
            .size
            .iter()
            .fold(1usize, |count, n| count.saturating_mul(usize::try_from(*n).unwrap_or(usize::MAX))),
        _ => return 0,
    };
    let results = func.results(op).iter().map(|result| count(&mut func.ty(*result).shape.iter()));
    results.fold(0usize, usize::saturating_add).saturating_mul(each)
}

/// The ops that depend on constants only.
fn constant(func: &TensorFunc, ops: &[OpId]) -> Vec<OpId> {
    let known = OpSet::new(func.op_count());
    let is_constant =
        |op: &OpId| depends_on_constants(func, &|op| known.contains(op), *op) && known.insert(*op);
    ops.iter().copied().filter(is_constant).collect()
}

/// Of ops that depend on constants only, those whose results a contraction reads, itself or through others of them.
fn for_contractions(func: &TensorFunc, constant: &[OpId]) -> OpSet {
    let wanted = OpSet::new(func.op_count());
    let contracts = |op: OpId| {
        let kind = func.kind(op);
        matches!(
            kind,
            TensorOp::Dot { .. } | TensorOp::Conv { .. } | TensorOp::QDot { .. } | TensorOp::QConv { .. }
        )
    };
    for op in constant.iter().rev() {
        let users = || func.results(*op).iter().flat_map(|result| func.users(*result));
        if users().any(|user| contracts(*user) || wanted.contains(*user)) {
            wanted.insert(*op);
        }
    }
    wanted
}

/// Whether `op` depends on constants and `folded` ops only.
fn depends_on_constants(func: &TensorFunc, folded: &dyn Fn(OpId) -> bool, op: OpId) -> bool {
    let (kind, operands) = (func.kind(op), func.operands(op));
    kind.effects() == Effects::Pure
        && kind.region_count() == 0
        && !operands.is_empty()
        && operands.iter().all(|value| is_stored(func, folded, *value) || is_formula(func, *value))
        && !matches!(kind, TensorOp::Relayout { .. } | TensorOp::Dequantize { .. })
}

fn is_stored(func: &TensorFunc, folded: &dyn Fn(OpId) -> bool, value: Value) -> bool {
    func.def_op(value).is_some_and(|op| folded(op) || matches!(func.kind(op), TensorOp::Constant { .. }))
}

/// By how many bytes an op that depends on constants and `folded` ops only is beyond the budget; `None` for other ops and
/// those without a known size.
fn beyond_budget(func: &TensorFunc, folded: &dyn Fn(OpId) -> bool, op: OpId) -> Option<usize> {
    if !depends_on_constants(func, folded, op) {
        return None;
    }
    let written = sum(func, func.results(op))?;
    if let TensorOp::Reshape { .. } = func.kind(op) {
        return is_stored(func, folded, func.operand(op, 0)).then_some(0);
    }
    let operands = distinct(func, op);
    let read = sum(func, operands.iter().filter(|value| is_stored(func, folded, **value)))?;
    // Splats are operands too, and as large as their shapes while evaluating.
    let evaluated = sum(func, &operands)?;
    let most_evaluated = read.saturating_add(GROWTH).saturating_mul(2 * FACTOR);
    Some(written.saturating_sub(most_written(read)).max(evaluated.saturating_sub(most_evaluated)))
}

/// The budget of what is computed of so many bytes.
fn most_written(read: usize) -> usize {
    read.saturating_mul(FACTOR).saturating_add(GROWTH)
}

/// An op's operands, each once: what is read several times is stored once.
fn distinct(func: &TensorFunc, op: OpId) -> BTreeSet<Value> {
    func.operands(op).iter().copied().collect()
}

fn sum<'a>(func: &TensorFunc, values: impl IntoIterator<Item = &'a Value>) -> Option<usize> {
    values.into_iter().try_fold(0usize, |sum, value| Some(sum.saturating_add(bytes(func, *value)?)))
}

/// A value's bytes, where its shape is known.
pub(super) fn bytes(func: &TensorFunc, value: Value) -> Option<usize> {
    let ty = func.ty(value);
    let extent = |dim: &Dim| usize::try_from(dim.as_const()?).ok();
    let count = ty.shape.iter().try_fold(1usize, |count, dim| count.checked_mul(extent(dim)?))?;
    count.checked_mul(ty.dtype.size())
}

/// The constants that stand for an op's results; `None` where an operand was not folded, where one here or on the way
/// has all elements equal, so that it is stored in too few bytes for the result, or where the evaluator refuses.
fn fold(
    func: &mut TensorFunc,
    consts: &mut ConstStore,
    plan: &Plan,
    region: RegionId,
    op: OpId,
    computed: &mut Vec<OpId>,
) -> Option<Vec<Value>> {
    let location = func.op(op).location.clone();
    if let TensorOp::Reshape { .. } = func.kind(op) {
        let ty = func.ty(func.result(op));
        let TensorOp::Constant { id, .. } = func.kind(func.def_op(func.operand(op, 0))?) else { return None };
        let data = ConstData::new(ty.dtype, ty.shape.as_static()?, consts.get(*id)?.data.clone()).ok()?;
        return Some(vec![Builder::new(func, consts).at(region, location).constant(data).ok()?]);
    }
    let results = compute(func, consts, plan, op, computed)?;
    let mut b = Builder::new(func, consts).at(region, location);
    results.into_iter().map(|result| b.literal(result).ok()).collect()
}

/// The results of an op whose operands are constants, formulas, and what was passed to it.
fn compute(
    func: &TensorFunc,
    consts: &ConstStore,
    plan: &Plan,
    op: OpId,
    computed: &mut Vec<OpId>,
) -> Option<Vec<HostTensor>> {
    // Only now is it known which stored results are splats.
    let excess = beyond_budget(func, &|op| plan.passed.contains_key(&op), op)?;
    if excess > plan.excess.get(&op).copied().unwrap_or(0) {
        return None;
    }
    let mut known = BTreeMap::new();
    for value in distinct(func, op) {
        let def = func.def_op(value)?;
        let tensor = match func.kind(def) {
            TensorOp::Constant { id, .. } => consts.get(*id)?.to_host(),
            _ if plan.passed.contains_key(&def) => {
                computed.push(def);
                compute(func, consts, plan, def, computed)?.pop()?
            }
            formula => evaluate_op(formula, &[]).ok()?.pop()?,
        };
        known.insert(value, tensor);
    }
    let operands: Vec<&HostTensor> = func.operands(op).iter().map(|value| &known[value]).collect();
    evaluate_op(func.kind(op), &operands).ok()
}

/// Whether a value's elements are said by its op alone, in no bytes.
fn is_formula(func: &TensorFunc, value: Value) -> bool {
    let is_formula = |op| matches!(func.kind(op), TensorOp::Splat { .. } | TensorOp::Iota { .. });
    func.def_op(value).is_some_and(is_formula)
}
