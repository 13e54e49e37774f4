//! Reductions and scans.

use super::Gen;
use tegula_base::DType;
use tegula_ir::ScalarOp;
use tegula_tensor::TensorOp;
use tegula_tensor::build::Built;

fn combines(dtype: DType) -> Vec<ScalarOp> {
    use ScalarOp::{Add, And, Max, Min, Mul, Or, Xor};
    let fits = |f: &ScalarOp| f.result_type(&[dtype, dtype]).is_ok();
    [Add, Add, Mul, Min, Max, And, Or, Xor].into_iter().filter(fits).collect()
}

fn is_exact(f: ScalarOp, dtype: DType) -> bool {
    !dtype.is_float() || !matches!(f, ScalarOp::Add | ScalarOp::Mul)
}

pub fn reduce(g: &mut Gen) -> Built<()> {
    let x = g.ranked(1);
    let (dtype, rank) = (g.b.dtype(x.value), g.b.rank(x.value));
    let f = g.draw(&combines(dtype))?;
    let axes: Vec<usize> = match g.rng.below(4) {
        0 => (0..rank).collect(),
        1 => vec![rank - 1],
        _ => (0..rank).filter(|_| g.rng.chance(50)).collect(),
    };
    if axes.is_empty() {
        return Err("no axes".into());
    }
    let exact = x.exact && is_exact(f, dtype);
    g.push(TensorOp::Reduce { f, axes }, &[x.value], exact).map(|_| ())
}

pub fn arg_reduce(g: &mut Gen) -> Built<()> {
    // Of exact values: else rounding may decide between two that are nearly equal.
    let x = g.ranked(1);
    let extents = g.extents(x.value);
    let axis = g.rng.below(extents.len());
    if !x.exact || extents[axis] == 0 {
        return Err("nothing to compare".into());
    }
    let kind = TensorOp::ArgReduce { max: g.rng.chance(50), axis, last: g.rng.chance(50) };
    g.push(kind, &[x.value], true).map(|_| ())
}

pub fn scan(g: &mut Gen) -> Built<()> {
    let x = g.ranked(1);
    let dtype = g.b.dtype(x.value);
    let scans: Vec<ScalarOp> = combines(dtype)
        .into_iter()
        .filter(|f| matches!(f, ScalarOp::Add | ScalarOp::Mul | ScalarOp::Min | ScalarOp::Max))
        .collect();
    let f = g.draw(&scans)?;
    let axis = g.rng.below(g.b.rank(x.value));
    let kind = TensorOp::Scan { f, axis, exclusive: g.rng.chance(40), reverse: g.rng.chance(40) };
    g.push(kind, &[x.value], x.exact && is_exact(f, dtype)).map(|_| ())
}
