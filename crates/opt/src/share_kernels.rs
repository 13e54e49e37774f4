//! Kernels that differ in numbers only become one kernel that is given them.
//!
//! Quantised models have scales and zero points of their own at every op: each layer would be compiled anew.
//! Before: kernels are formed.  After: where at least [`WORTH_IT`] kernels are equal but for `f32` numbers that elementwise
//! ops read, those in which they differ are operands, constants of one element. Numbers on the way to a
//! contraction's factors stay: targets look at them there.

use crate::kernel_signature::Signatures;
use crate::passes::canonicalise::all_ones;
use std::collections::{BTreeMap, BTreeSet};
use tegula_base::{DType, Diagnostic, Diagnostics, HashMap, HostTensor};
use tegula_ir::pass::{Changed, PassCx};
use tegula_ir::{ConstStore, OpId};
use tegula_tensor::{Builder, KernelClass, TensorFunc, TensorOp, TensorProgram};

/// Distinct kernels that one replaces: a number in memory costs a run more than one in the code.
const WORTH_IT: usize = 4;

/// Kernels that are equal but for the numbers in them.
#[derive(Default)]
struct Alike {
    kernels: Vec<OpId>,
    /// What each of them reads, in the same order.
    uses: Vec<Vec<Use>>,
}

/// An operand that is a number.
#[derive(Clone, Copy)]
struct Use {
    user: OpId,
    operand: usize,
    rank: usize,
    bits: i64,
}

/// Errors: internal.
pub fn share_kernels(program: &mut TensorProgram, cx: &mut PassCx) -> Result<Changed, Diagnostics> {
    let mut changed = Changed::No;
    for func in &mut program.funcs {
        let body = func.body();
        let before = func.ops_in(body).len();
        for alike in alike(func) {
            changed = Changed::Yes;
            cx.count("shared", alike.kernels.len() as u64);
            give(func, &mut program.consts, &alike).map_err(Diagnostic::internal)?;
        }
        // What was built stands at the end, and its readers before it.
        let mut ops = func.ops_in(body).to_vec();
        ops.rotate_left(before);
        func.set_ops(body, ops);
    }
    Ok(changed)
}

/// The sets of kernels that are worth it.
fn alike(func: &TensorFunc) -> Vec<Alike> {
    let mut signatures = Signatures::default();
    let mut known: HashMap<Vec<u32>, usize> = HashMap::default();
    let mut sets: Vec<Alike> = Vec::new();
    for &kernel in func.ops_in(func.body()) {
        let TensorOp::Kernel { class } = *func.kind(kernel) else { continue };
        if class == KernelClass::Region {
            continue;
        }
        let numbers = numbers_of(func, kernel);
        if numbers.is_empty() {
            continue;
        }
        let signature = signatures.of(func, kernel, &numbers);
        let index = match known.get(signature) {
            Some(index) => *index,
            None => {
                known.insert(signature.to_vec(), sets.len());
                sets.push(Alike::default());
                sets.len() - 1
            }
        };
        sets[index].kernels.push(kernel);
        sets[index].uses.push(uses_of(func, kernel, &numbers));
    }
    let distinct = |set: &Alike| {
        let bits = |uses: &Vec<Use>| uses.iter().map(|of| of.bits).collect::<Vec<_>>();
        set.uses.iter().map(bits).collect::<BTreeSet<_>>().len()
    };
    sets.retain(|set| distinct(set) >= WORTH_IT);
    sets
}

/// `f32` numbers that only elementwise ops read, and no contraction or window behind them.
fn numbers_of(func: &TensorFunc, kernel: OpId) -> Vec<OpId> {
    let ops = func.ops_in(func.regions_of(kernel)[0]);
    let mut ahead: BTreeSet<OpId> = BTreeSet::new();
    for &op in ops.iter().rev() {
        let is_root = matches!(
            func.kind(op),
            TensorOp::Dot { .. }
                | TensorOp::Conv { .. }
                | TensorOp::WinogradConv { .. }
                | TensorOp::Pool { .. }
        );
        if is_root || ahead.contains(&op) {
            ahead.extend(func.operands(op).iter().filter_map(|value| func.def_op(*value)));
        }
    }
    let is_number = |op: &OpId| {
        let TensorOp::Splat { dtype: DType::F32, shape, .. } = func.kind(*op) else { return false };
        let elementwise = |user: &OpId| matches!(func.kind(*user), TensorOp::Elementwise { .. });
        all_ones(shape) && !ahead.contains(op) && func.users(func.result(*op)).iter().all(elementwise)
    };
    ops.iter().copied().filter(is_number).collect()
}

fn uses_of(func: &TensorFunc, kernel: OpId, numbers: &[OpId]) -> Vec<Use> {
    let mut uses = Vec::new();
    for &user in func.ops_in(func.regions_of(kernel)[0]) {
        for (operand, value) in func.operands(user).iter().enumerate() {
            let number = func.def_op(*value).filter(|op| numbers.contains(op));
            if let Some(TensorOp::Splat { bits, shape, .. }) = number.map(|op| func.kind(op)) {
                uses.push(Use { user, operand, rank: shape.rank(), bits: *bits });
            }
        }
    }
    uses
}

/// Makes the numbers in which the kernels differ operands of theirs; what is equal in each of them is one.
fn give(func: &mut TensorFunc, consts: &mut ConstStore, alike: &Alike) -> Result<(), String> {
    let mut places: BTreeMap<(usize, Vec<i64>), Vec<usize>> = BTreeMap::new();
    for (place, first) in alike.uses[0].iter().enumerate() {
        let column: Vec<i64> = alike.uses.iter().map(|uses| uses[place].bits).collect();
        if column.iter().any(|bits| *bits != first.bits) {
            places.entry((first.rank, column)).or_default().push(place);
        }
    }
    let body = func.body();
    let mut given: Vec<Vec<_>> = alike.kernels.iter().map(|kernel| func.operands(*kernel).to_vec()).collect();
    for ((rank, column), places) in &places {
        for (i, &kernel) in alike.kernels.iter().enumerate() {
            let location = func.op(kernel).location.clone();
            let number = HostTensor::from_elements(&vec![1; *rank], &[f32::from_bits(column[i] as u32)]);
            let constant = Builder::new(func, consts).at(body, location).constant(number)?;
            given[i].push(constant);
            let arg = func.add_arg(func.regions_of(kernel)[0], func.ty(constant).clone());
            for of in places.iter().map(|place| alike.uses[i][*place]) {
                func.set_operand(of.user, of.operand, arg);
            }
        }
    }
    for (kernel, operands) in alike.kernels.iter().zip(given) {
        func.set_operands(*kernel, &operands);
        let unused = |op: &OpId| {
            matches!(func.kind(*op), TensorOp::Splat { .. }) && func.users(func.result(*op)).is_empty()
        };
        let ops = func.ops_in(func.regions_of(*kernel)[0]);
        let dead: Vec<OpId> = ops.iter().copied().filter(unused).collect();
        func.erase_all(dead);
    }
    Ok(())
}
