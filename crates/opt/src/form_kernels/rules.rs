//! What op may stand where in a kernel, and what it costs to compute it twice.

use tegula_backend::Target;
use tegula_base::Diagnostic;
use tegula_ir::{Op, OpId};
use tegula_tensor::facts::is_lookup;
use tegula_tensor::{KernelClass, PadMode, TensorFunc, TensorOp};

/// The part an op plays in kernel formation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Stands outside of kernels: constants, bindings, control flow, runtime kernels, transposes that move nothing.
    Host,
    /// A reshape: outside as another name of a buffer, or inside between two ops.
    Reshape,
    /// Computed anywhere from nothing: splats, iotas, sizes.
    Source,
    Elementwise,
    /// Broadcasts, transposes, slices, pads, gathers: a tile comes from tiles elsewhere in the operand.
    Move,
    Reduce,
    /// Decides the recipe of its kernel.
    Root(KernelClass),
}

pub(super) fn role(func: &TensorFunc, op: OpId, target: &dyn Target) -> Option<Role> {
    use TensorOp::*;
    Some(match func.kind(op) {
        // An element of the result is the lookup of one index.
        Gather { .. } if target.preferences().lookup_tables && is_lookup(func, op) => Role::Elementwise,
        Constant { .. } | Bind { .. } | AssertSize { .. } | If {} | Loop { .. } | Yield {} | Return {} => {
            Role::Host
        }
        Relayout { .. } | Kernel { .. } => Role::Host,
        Transpose { perm } if func.ty(func.result(op)).shows(func.ty(func.operand(op, 0)), perm) => {
            Role::Host
        }
        Reshape { .. } => Role::Reshape,
        Splat { .. } | Iota { .. } | Sizes { .. } => Role::Source,
        Elementwise { .. } => Role::Elementwise,
        Pad { mode, .. } if *mode != PadMode::Constant => {
            Role::Root(target.claims(func, op).is_yes().then_some(KernelClass::Map)?)
        }
        Broadcast { .. }
        | Transpose { .. }
        | Slice { .. }
        | Pad { .. }
        | Gather { .. }
        | GatherElements { .. }
        | GatherNd { .. } => Role::Move,
        Reduce { .. } => Role::Reduce,
        Dot { .. } => Role::Root(KernelClass::Dot),
        Conv { .. } | WinogradConv { .. } => Role::Root(KernelClass::Conv),
        Pool { .. } | MaxPoolIndices { .. } => Role::Root(KernelClass::Pool),
        Concat { .. } => Role::Root(KernelClass::Map),
        Scan { .. } => Role::Root(KernelClass::Scan),
        ScatterElements { .. } | ScatterNd { .. } => Role::Root(KernelClass::Scatter),
        Attention { .. } => Role::Root(KernelClass::Attention),
        Lstm { .. } | Gru { .. } => Role::Root(KernelClass::Recurrent),
        // The runtime's own kernels, launched as they are.
        TopK { .. } | NonZero {} | Unique { .. } | NonMaxSuppression { .. }
            if !target.claims(func, op).is_yes() =>
        {
            Role::Host
        }
        kind if target.claims(func, op).is_yes() => Role::Root(class_of_claimed(kind)?),
        _ => return None,
    })
}

/// The class of a kernel whose root is an op that has no recipe, and is computed whole.
fn class_of_claimed(kind: &TensorOp) -> Option<KernelClass> {
    use TensorOp::*;
    Some(match kind {
        Gelu { .. } | Quantize { .. } | Dequantize { .. } => KernelClass::Map,
        ArgReduce { .. } => KernelClass::Reduce,
        Softmax { .. } | LayerNorm { .. } | RmsNorm { .. } => KernelClass::Rows,
        QDot { .. } => KernelClass::Dot,
        QConv { .. } | ConvTranspose { .. } => KernelClass::Conv,
        TopK { .. } | NonZero {} | Unique { .. } | NonMaxSuppression { .. } => KernelClass::Native,
        _ => return None,
    })
}

/// Whether the root's operand `i` may be computed in its kernel, an element at a time.
pub(super) fn pulls_operand(op: &TensorOp, i: usize) -> bool {
    match op {
        TensorOp::Concat { .. } | TensorOp::Scan { .. } => true,
        TensorOp::ScatterElements { .. } | TensorOp::ScatterNd { .. } => i == SCATTER_INDICES,
        TensorOp::Attention { .. } => i == ATTENTION_MASK,
        _ => false,
    }
}

pub(super) const ATTENTION_MASK: usize = 3;
const SCATTER_INDICES: usize = 1;

/// Whether elementwise ops of the root's shape may follow it in its kernel.
pub(super) fn takes_epilogue(op: &TensorOp) -> bool {
    matches!(
        op,
        TensorOp::Dot { .. }
            | TensorOp::Conv { .. }
            | TensorOp::WinogradConv { .. }
            | TensorOp::Pool { .. }
            | TensorOp::Scan { .. }
            | TensorOp::Attention { .. }
    )
}

/// Of an op without a role, which `decompose_composites` should have replaced.
pub(super) fn refusal(func: &TensorFunc, op: OpId) -> Diagnostic {
    let name = func.kind(op).name();
    let place = func.op(op).location.as_deref().unwrap_or("an op without a name");
    Diagnostic::internal(format!("`{name}` reached kernel formation")).at(place.to_string())
}

/// Up to this an attention computes its mask for each head again: reading an element of it takes as long.
pub(super) const CHEAP_MASK: u32 = 8;

/// Kernels stay within what registers and argument blocks hold well; ops count without sources.
pub(super) const MAX_OPS: usize = 96;
pub(super) const MAX_OPERANDS: usize = 16;
pub(super) const MAX_RESULTS: usize = 4;
