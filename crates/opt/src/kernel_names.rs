//! The nodes that a kernel computes, by their names in the source model, and in which order.
//!
//! The kernel is named by its root first: the op that it is for. Ops fused with it follow in their order.
//! What is known before the run gives no names: constants, and zeros that many ops share, bear that of some reader.

use crate::views::source;
use smallvec::SmallVec;
use std::sync::Arc;
use tegula_ir::op::{NameRank, OpRules};
use tegula_ir::rewrite::{is_data, push_names};
use tegula_ir::{OpId, Value};
use tegula_tensor::TensorFunc;

pub(crate) type Names = SmallVec<[Arc<str>; 8]>;

/// The names of a kernel: `first`, which are its root's, then those of all that it computes.
pub(crate) fn kernel_names(func: &TensorFunc, kernel: OpId, first: Names) -> Names {
    let mut names = first;
    let region = func.regions_of(kernel)[0];
    let arguments = func.args(region);
    let is_known = |(_, outer): &(&Value, &Value)| is_data(func, source(func, **outer));
    let known = arguments.iter().zip(func.operands(kernel)).filter(is_known);
    let mut known: SmallVec<[Value; 8]> = known.map(|(argument, _)| *argument).collect();
    for &op in func.ops_in(region) {
        let operands = func.operands(op);
        let is_known = func.kind(op).name_rank() == NameRank::None
            || !operands.is_empty() && operands.iter().all(|value| known.contains(value));
        if is_known {
            known.extend_from_slice(func.results(op));
        } else {
            push_names(&mut names, func.names_of(op));
        }
    }
    names
}
