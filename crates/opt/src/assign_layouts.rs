//! Chooses how buffers lie in memory.

use tegula_base::Diagnostics;
use tegula_ir::pass::{Changed, PassCx};
use tegula_target::TargetModel;
use tegula_tensor::TensorProgram;

/// Row-major everywhere, for now.
pub fn assign_layouts(
    program: &mut TensorProgram,
    target: &dyn TargetModel,
    cx: &mut PassCx,
) -> Result<Changed, Diagnostics> {
    let _ = (program, target, cx);
    Ok(Changed::No)
}
