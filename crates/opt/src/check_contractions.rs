//! Refuses contractions that the host would compute where the device is to compute all of them.
//!
//! Before: `partition` has run.  After: of [`Contractions::Device`] each contraction is in a region, or the first that is
//! not is an error with the device's reason.

use crate::passes::Precision;
use tegula_backend::{Claim, Contractions, Target, Targets};
use tegula_base::{DType, Diagnostic};
use tegula_ir::{Op, OpId, RegionId};
use tegula_tensor::facts::is_contraction;
use tegula_tensor::{TensorFunc, TensorOp, TensorProgram};

/// Errors: `host-contraction`.
pub fn check_contractions(
    program: &TensorProgram,
    targets: Targets<'_>,
    precision: Precision,
) -> Result<(), Diagnostic> {
    let (Some(device), Contractions::Device) = (targets.device, targets.contractions) else {
        return Ok(());
    };
    let mut found = Vec::new();
    for func in &program.funcs {
        on_host(func, func.body(), &mut |op| found.push((func, op)));
    }
    match found.first() {
        Some((func, op)) => Err(refused(func, *op, device, precision, found.len() - 1)),
        None => Ok(()),
    }
}

/// The contractions that stand outside of kernels.
fn on_host(func: &TensorFunc, region: RegionId, visit: &mut dyn FnMut(OpId)) {
    for op in func.ops_in(region) {
        if is_contraction(func.kind(*op)) {
            visit(*op);
        }
        if !matches!(func.kind(*op), TensorOp::Kernel { .. }) {
            func.regions_of(*op).iter().for_each(|inner| on_host(func, *inner, visit));
        }
    }
}

fn refused(
    func: &TensorFunc,
    op: OpId,
    device: &dyn Target,
    precision: Precision,
    others: usize,
) -> Diagnostic {
    let (name, machine) = (func.kind(op).name(), &device.machine().name);
    let reason = match device.claims(func, op) {
        Claim::No(reason) => reason,
        Claim::Yes => "it stands between ops of the host".into(),
    };
    let message = format!("`{name}` is not computed by `{machine}`: {reason}");
    let mut error = Diagnostic::error("host-contraction", message);
    if let Some(node) = &func.op(op).location {
        error = error.at(format!("node \"{node}\""));
    }
    if others > 0 {
        error = error.note(format!("other contractions that it does not compute: {others}"));
    }
    let of_f32 = func.operands(op).first().is_some_and(|value| func.ty(*value).dtype == DType::F32);
    match of_f32 && precision == Precision::F32 {
        true => error.help("`--precision f16` rounds the factors of contractions, and sums stay `f32`"),
        false => error,
    }
}
