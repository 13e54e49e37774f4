//! Convolutions whose filters Winograd's algorithm takes, where the target says that it pays.
//!
//! Before: weights are what they will be.  After: such a convolution is a `winograd_conv` of its filters' transforms, which
//! are constants of 16 numbers for 9. Filters that are not finite, or whose transforms are not, stay as they are.

use tegula_backend::Target;
use tegula_base::{DType, Diagnostic, Diagnostics, Symbols};
use tegula_ir::pass::{Changed, PassCx};
use tegula_ir::rewrite::{Rewrite, rewrite_ops};
use tegula_ir::{ConstData, ConstStore, OpId};
use tegula_tensor::{Builder, TensorFunc, TensorOp, TensorProgram, winograd};

/// Products that walked windows take for each of Winograd's from which it may pay, whatever the target. Measured on a Zen 3: images
/// of 3x3 (0.8 for one) take 1.0 to 1.4 of the time, lines of any length (0.4) 1.7 to 2.8, those of 4x4 (1.6) and more less.
const LEAST_SAVING: f64 = 1.3;

/// Errors: internal, when what is built does not fit.
pub fn transform_filters(
    program: &mut TensorProgram,
    target: &dyn Target,
    cx: &mut PassCx,
) -> Result<Changed, Diagnostics> {
    let mut changed = Changed::No;
    for func in &mut program.funcs {
        changed |= rewrite_ops(func, &mut |func, region, op| {
            if !pays(func, op, target, &program.symbols) {
                return Ok(Rewrite::Keep);
            }
            let Some(transformed) = transformed(func, &program.consts, op) else { return Ok(Rewrite::Keep) };
            let TensorOp::Conv { window, .. } = func.kind(op) else { return Ok(Rewrite::Keep) };
            let (window, x) = (window.clone(), func.operand(op, 0));
            cx.count("transformed", 1);
            cx.remark(
                func.op(op).location.as_ref(),
                "computed by Winograd's algorithm, two by two results at once",
            );
            let mut b = Builder::new(func, &mut program.consts).at_op(region, op);
            let made =
                b.constant(transformed).and_then(|u| b.emit(TensorOp::WinogradConv { window }, &[x, u]));
            made.map(|value| Rewrite::Replace(vec![value]))
                .map_err(|reason| Diagnostics::from(Diagnostic::internal(reason)))
        })?;
    }
    Ok(changed)
}

fn pays(func: &TensorFunc, op: OpId, target: &dyn Target, symbols: &Symbols) -> bool {
    let TensorOp::Conv { window, groups, out: DType::F32 } = func.kind(op) else { return false };
    let is_f32 = func.operands(op).iter().all(|value| func.ty(*value).dtype == DType::F32);
    let (result, x) = (&func.ty(func.result(op)).shape, &func.ty(func.operand(op, 0)).shape);
    is_f32
        && winograd::suits(window, *groups)
        && winograd::saving(window, &x[2..], &result[2..]) >= LEAST_SAVING
        && target.layouts(func, op, symbols).transformed_filters
}

/// The transforms of a convolution's filters, where those are constant.
fn transformed(func: &TensorFunc, consts: &ConstStore, op: OpId) -> Option<ConstData> {
    let TensorOp::Constant { id, .. } = func.kind(func.def_op(func.operand(op, 1))?) else { return None };
    let data = consts.get(*id)?;
    let &[o, c, ..] = data.shape.as_slice() else { return None };
    let transformed = winograd::transform(&data.elements::<f32>()?);
    let reach = winograd::REACH as usize;
    let bytes: Vec<u8> = transformed.iter().flat_map(|number| number.to_le_bytes()).collect();
    let is_finite = transformed.iter().all(|number| number.is_finite());
    is_finite.then(|| ConstData::new(DType::F32, vec![o, c, reach, reach], bytes.into()).ok())?
}
