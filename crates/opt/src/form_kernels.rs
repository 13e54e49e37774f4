//! Groups tensor ops into kernels: what one launch computes.
//!
//! Before: composites that the target does not take whole are decomposed, dots are in normal form.
//! After: every op that computes stands in the isolated region of a `tgn.kernel`; outside remain constants, reshapes
//! (which only rename a buffer), size bindings and asserts, control flow. Each kernel has one of these forms:
//! * a contraction, convolution or pool on buffers, then elementwise ops of the result's shape (its *epilogue*);
//! * reductions over one set of axes with elementwise ops before, between and after them (*rows*);
//! * a concatenation or scan, with what is computed an element at a time before it;
//! * a scatter, with what is computed an element at a time for its indices; elementwise and movement ops alone (*map*).
//!
//! Method, a region at a time: order the ops by how many kernels must have run before them (`order.rs`); walk
//! forwards and let ops join the latest kernel that they read, which cannot close a cycle (`grow.rs`); let narrow values
//! pass between kernels rather than wide ones made of them (`thin.rs`); give contractions what the target computes on the way to their products (`prologue.rs`); walk backwards
//! and pull what is computed an element at a time into its readers (`pull.rs`); build the kernels (`emit.rs`). Which op may join what
//! is told in `rules.rs`. Every decision leaves a remark.

mod emit;
mod groups;
mod grow;
mod order;
mod places;
mod prologue;
mod pull;
mod rules;
mod thin;

pub(crate) use order::for_each_use;
use tegula_backend::Target;

use tegula_base::{Diagnostics, Symbols};
use tegula_ir::pass::{Changed, PassCx};
use tegula_ir::{OpId, RegionId};
use tegula_tensor::{TensorFunc, TensorOp, TensorProgram};

/// Forms the kernels of every function. Errors: internal, for an op that no kernel takes.
pub fn form_kernels(
    program: &mut TensorProgram,
    target: &dyn Target,
    cx: &mut PassCx,
) -> Result<Changed, Diagnostics> {
    let mut changed = Changed::No;
    for func in &mut program.funcs {
        changed |= form_in_func(func, &program.symbols, target, cx)?;
    }
    Ok(changed)
}

fn form_in_func(
    func: &mut TensorFunc,
    symbols: &Symbols,
    target: &dyn Target,
    cx: &mut PassCx,
) -> Result<Changed, Diagnostics> {
    let mut changed = Changed::No;
    let mut dead: Vec<OpId> = Vec::new();
    let mut waiting = vec![func.body()];
    while let Some(region) = waiting.pop() {
        changed |= form_in_region(func, region, symbols, target, cx, &mut dead)?;
        let nested = func.ops_in(region).iter().filter(|op| !is_kernel(func, **op));
        waiting.extend(nested.flat_map(|op| func.regions_of(*op).iter().copied()));
    }
    changed |= Changed::if_true(!dead.is_empty());
    func.erase_all(dead);
    Ok(changed)
}

/// Puts what has no place any more into `dead`: it is out of the region but still to be erased.
fn form_in_region(
    func: &mut TensorFunc,
    region: RegionId,
    symbols: &Symbols,
    target: &dyn Target,
    cx: &mut PassCx,
    dead: &mut Vec<OpId>,
) -> Result<Changed, Diagnostics> {
    let listing = order::list_ops(func, region, target)?;
    let mut groups = groups::Groups::new(func, symbols, listing);
    grow::grow(&mut groups, cx);
    thin::thin_results(&mut groups, cx);
    prologue::take_prologues(&mut groups, target, cx);
    pull::adopt_pages(&mut groups, target, cx);
    pull::pull_producers(&mut groups, target, cx);
    pull::release_reshapes(&mut groups);
    let plan = groups.finish();
    let changed = Changed::if_true(!plan.kernels.is_empty());
    dead.extend(emit::emit(func, region, plan, cx));
    Ok(changed)
}

fn is_kernel(func: &TensorFunc, op: OpId) -> bool {
    matches!(func.kind(op), TensorOp::Kernel { .. })
}
