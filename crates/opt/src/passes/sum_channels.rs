//! Convolutions to one channel, which would fill one lane of those that results' channels have: heads that give a mask, a
//! heat map or a score for each place.
//!
//! Before: convolutions are of 32-bit floats, or of other types that stay.  After: one to a single channel, from as many
//! channels as the target says, is a depthwise one whose results are summed over channels; where its window is one place,
//! the sum of its channels' products.

use tegula_backend::Target;
use tegula_base::{DType, Diagnostic, Diagnostics};
use tegula_ir::pass::{Changed, PassCx};
use tegula_ir::rewrite::{Rewrite, rewrite_ops};
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, TensorFunc, TensorOp, TensorProgram, Window};

/// Errors: internal, when what is built does not fit.
pub fn sum_channels(
    program: &mut TensorProgram,
    target: &dyn Target,
    cx: &mut PassCx,
) -> Result<Changed, Diagnostics> {
    let Some(least) = target.preferences().fewest_summed_channels else { return Ok(Changed::No) };
    let mut changed = Changed::No;
    for func in &mut program.funcs {
        changed |= rewrite_ops(func, &mut |func, region, op| {
            let Some((window, channels)) = to_one_channel(func, op, least) else { return Ok(Rewrite::Keep) };
            let operands = [func.operand(op, 0), func.operand(op, 1)];
            cx.count("summed", 1);
            cx.remark(
                func.op(op).location.as_ref(),
                "to one channel: the sum of a depthwise convolution's channels",
            );
            let mut b = Builder::new(func, &mut program.consts).at_op(region, op);
            summed(&mut b, operands, window, channels)
                .map(|value| Rewrite::Replace(vec![value]))
                .map_err(|reason| Diagnostics::from(Diagnostic::internal(reason)))
        })?;
    }
    Ok(changed)
}

/// The window and the channels in.
fn to_one_channel(func: &TensorFunc, op: OpId, least: i64) -> Option<(Window, i64)> {
    let TensorOp::Conv { window, groups: 1, out: DType::F32 } = func.kind(op) else { return None };
    let [x, w] = [0, 1].map(|i| func.ty(func.operand(op, i)));
    let channels = x.shape[1].as_const()?;
    let suits = x.dtype == DType::F32 && w.dtype == DType::F32 && w.shape[0].is_const(1) && channels >= least;
    suits.then(|| (window.as_ref().clone(), channels))
}

fn summed(b: &mut Builder, [x, w]: [Value; 2], window: Window, channels: i64) -> Built {
    let is_one_place = window.size.iter().chain(&window.strides).all(|n| *n == 1)
        && window.low.iter().chain(&window.high).all(|pad| pad.is_const(0));
    let products = if is_one_place {
        b.mul(x, w)?
    } else {
        // A filter's channels become filters of a channel each.
        let mut shape = b.ty(w).shape.clone();
        shape.swap(0, 1);
        let filters = b.reshape(w, shape)?;
        b.conv(x, filters, window, channels, DType::F32)?
    };
    b.reduce(ScalarOp::Add, products, &[1], true)
}
