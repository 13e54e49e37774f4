//! Replaces arithmetic on sizes by its result: a constant, or `sizes` of expressions.
//!
//! Before: any verified program.  After: an integer tensor of few elements whose values are known as sizes is a
//! constant, or `sizes`, cast and reshaped where the type asks for it.
//! Method: forward evaluation in `tensor::size_values`.

use tegula_base::{DType, Diagnostic, Diagnostics, Dim, HostTensor};
use tegula_ir::pass::{Changed, PassCx};
use tegula_ir::rewrite::{Rewrite, rewrite_ops};
use tegula_ir::{ConstStore, Def, OpId, RegionId, Value};
use tegula_tensor::build::Built;
use tegula_tensor::size_values::SizeValues;
use tegula_tensor::{Builder, TensorFunc, TensorOp, TensorProgram};

pub fn simplify_sizes(program: &mut TensorProgram, cx: &mut PassCx) -> Result<Changed, Diagnostics> {
    let mut changed = Changed::No;
    for func in &mut program.funcs {
        let mut sizes = SizeValues::default();
        changed |= rewrite_ops(func, &mut |func, region, op| {
            let Some(dims) = known(func, &program.consts, &mut sizes, op) else { return Ok(Rewrite::Keep) };
            cx.count("simplified", 1);
            let built = build(func, &mut program.consts, region, op, &dims);
            built
                .map(|value| Rewrite::Replace(vec![value]))
                .map_err(|error| Diagnostic::internal(format!("sizes as data do not fit: {error}")).into())
        })?;
    }
    Ok(changed)
}

/// The elements of an op's result where they are known and the op is not yet in its simplest form.
fn known(func: &TensorFunc, consts: &ConstStore, sizes: &mut SizeValues, op: OpId) -> Option<Vec<Dim>> {
    let [result] = func.results(op) else { return None };
    let dtype = func.ty(*result).dtype;
    if !matches!(dtype, DType::I64 | DType::I32) || is_simple(func, op) || func.users(*result).is_empty() {
        return None;
    }
    sizes.of(func, consts, *result)
}

/// A source, or the cast or reshape of `sizes` that its type needs.
fn is_simple(func: &TensorFunc, op: OpId) -> bool {
    use tegula_ir::ScalarOp::Cast;
    match func.kind(op) {
        TensorOp::Constant { .. }
        | TensorOp::Splat { .. }
        | TensorOp::Iota { .. }
        | TensorOp::Sizes { .. } => true,
        TensorOp::Reshape { .. } | TensorOp::Elementwise { f: Cast { .. } } => {
            let Def::Result(source, _) = func.def(func.operand(op, 0)) else { return false };
            matches!(func.kind(source), TensorOp::Sizes { .. })
                || (matches!(
                    func.kind(source),
                    TensorOp::Reshape { .. } | TensorOp::Elementwise { f: Cast { .. } }
                ) && is_simple(func, source))
        }
        _ => false,
    }
}

fn build(
    func: &mut TensorFunc,
    consts: &mut ConstStore,
    region: RegionId,
    op: OpId,
    dims: &[Dim],
) -> Built<Value> {
    let ty = func.ty(func.result(op)).clone();
    let location = func.op(op).location.clone();
    let mut b = Builder::new(func, consts).at(region, location);
    let constants: Option<Vec<i64>> = dims.iter().map(Dim::as_const).collect();
    let list = match constants {
        Some(numbers) => b.literal(HostTensor::from_elements(&[numbers.len()], &numbers))?,
        None => b.sizes(dims)?,
    };
    let list = b.cast(list, ty.dtype)?;
    b.reshape(list, ty.shape)
}
