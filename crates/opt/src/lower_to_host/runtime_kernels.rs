//! Ops whose work depends on data: launches of the runtime's named kernels (`docs/abi.md`, "Runtime kernels").

use tegula_base::Dim;
use tegula_ir::OpId;
use tegula_tensor::{TensorFunc, TensorOp, TensorType};

/// A runtime kernel by name, its attributes as JSON, and the sizes of its launch.
pub(super) struct RuntimeKernel {
    pub name: &'static str,
    pub attrs: String,
    pub sizes: Vec<Dim>,
}

/// Whether an op is launched by its name, without a kernel around it.
pub fn is_runtime_kernel(kind: &TensorOp) -> bool {
    named(kind).is_some()
}

/// The kernel's name and parameters; `None` when the op is none of these.
fn named(kind: &TensorOp) -> Option<(&'static str, String)> {
    Some(match kind {
        TensorOp::TopK { axis, largest, .. } => {
            ("topk", format!("{{\"axis\":{axis},\"largest\":{largest}}}"))
        }
        TensorOp::NonZero {} => ("nonzero", "{}".to_string()),
        TensorOp::Unique { axis, sorted } => {
            let axis = axis.map_or("null".to_string(), |axis| axis.to_string());
            ("unique", format!("{{\"axis\":{axis},\"sorted\":{sorted}}}"))
        }
        TensorOp::NonMaxSuppression { center_point_box, .. } => {
            ("non_max_suppression", format!("{{\"center_point_box\":{center_point_box}}}"))
        }
        _ => return None,
    })
}

/// `None` when the op is none of these.
pub(super) fn runtime_kernel(func: &TensorFunc, op: OpId) -> Option<RuntimeKernel> {
    let (name, params) = named(func.kind(op))?;
    let operands: Vec<&TensorType> = func.operands(op).iter().map(|value| func.ty(*value)).collect();
    let results: Vec<&TensorType> = func.results(op).iter().map(|value| func.ty(*value)).collect();
    let attrs =
        format!("{{\"operands\":{},\"results\":{},\"params\":{params}}}", slots(&operands), slots(&results));
    let sizes = operands.iter().chain(&results).flat_map(|ty| ty.shape.iter().cloned()).collect();
    Some(RuntimeKernel { name, attrs, sizes })
}

fn slots(types: &[&TensorType]) -> String {
    let slots: Vec<String> = types
        .iter()
        .map(|ty| format!("{{\"dtype\":\"{}\",\"rank\":{}}}", ty.dtype.name(), ty.rank()))
        .collect();
    format!("[{}]", slots.join(","))
}
