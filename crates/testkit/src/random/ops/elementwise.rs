//! Elementwise ops on every element type that they are defined on.

use super::Gen;
use crate::random::data::Values;
use tegula_base::{DType, Dim, Shape};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::TensorOp;
use tegula_tensor::build::Built;

/// Ops that are the same bits everywhere: all that round once.
pub(super) fn is_exact(f: ScalarOp) -> bool {
    use ScalarOp::*;
    !matches!(
        f,
        Rsqrt
            | Exp
            | Log
            | Log1p
            | Expm1
            | Sin
            | Cos
            | Tan
            | Asin
            | Acos
            | Atan
            | Sinh
            | Cosh
            | Tanh
            | Asinh
            | Acosh
            | Atanh
            | Erf
            | Sigmoid
            | Pow
            | Atan2
    )
}

fn ops_on(dtype: DType, arity: usize) -> Vec<ScalarOp> {
    let operands = vec![dtype; arity];
    ScalarOp::PLAIN
        .into_iter()
        .filter(|f| f.arity() == arity && *f != ScalarOp::Select && f.result_type(&operands).is_ok())
        .collect()
}

fn exact_result(f: ScalarOp, dtype: DType, operands: &[bool]) -> bool {
    let is_alike = is_exact(f) && !may_stay_wide(f, dtype) || !dtype.is_float();
    operands.iter().all(|exact| *exact) && is_alike
}

/// Whether a kernel may keep the result in `f32`: it is a 16-bit float that the op rounds.
fn may_stay_wide(f: ScalarOp, dtype: DType) -> bool {
    use ScalarOp::*;
    let is_half = matches!(dtype, DType::F16 | DType::BF16);
    is_half && matches!(f, Add | Sub | Mul | Div | Sqrt | Reciprocal | Fma)
}

pub fn unary(g: &mut Gen) -> Built<()> {
    let x = g.any();
    apply_unary(g, x.value, x.exact).map(|_| ())
}

fn apply_unary(g: &mut Gen, x: Value, exact: bool) -> Built {
    let dtype = g.b.dtype(x);
    let f = g.draw(&ops_on(dtype, 1))?;
    let results = g.push(TensorOp::Elementwise { f }, &[x], exact_result(f, dtype, &[exact]))?;
    Ok(results[0])
}

pub fn binary(g: &mut Gen) -> Built<()> {
    let x = g.any();
    let (dtype, shape) = (g.b.dtype(x.value), g.b.shape(x.value));
    let f = g.draw(&ops_on(dtype, 2))?;
    let y = second(g, f, dtype, &shape);
    let swap = g.rng.chance(25);
    let operands = if swap { [y.0, x.value] } else { [x.value, y.0] };
    g.push(TensorOp::Elementwise { f }, &operands, exact_result(f, dtype, &[x.exact, y.1])).map(|_| ())
}

/// The other operand: of the same shape, with some extents of 1, or a number.
fn second(g: &mut Gen, f: ScalarOp, dtype: DType, shape: &Shape) -> (Value, bool) {
    let divides = matches!(f, ScalarOp::Div | ScalarOp::Rem | ScalarOp::Mod);
    let values = if divides && g.rng.chance(70) { Values::Positive } else { Values::Ordinary };
    let mut other = shape.clone();
    if g.rng.chance(40) {
        for axis in 0..other.rank() {
            if g.rng.chance(60) {
                other[axis] = Dim::from(1);
            }
        }
    }
    let entry = g.like(dtype, &other, values);
    (entry.value, entry.exact)
}

pub fn select(g: &mut Gen) -> Built<()> {
    let x = g.any();
    let (dtype, shape) = (g.b.dtype(x.value), g.b.shape(x.value));
    let y = g.like(dtype, &shape, Values::Ordinary);
    let condition = g.like(DType::Bool, &shape, Values::Ordinary);
    let kind = TensorOp::Elementwise { f: ScalarOp::Select };
    let exact = x.exact && y.exact && condition.exact;
    g.push(kind, &[condition.value, x.value, y.value], exact).map(|_| ())
}

pub fn fma(g: &mut Gen) -> Built<()> {
    let x = g.any_float(0);
    let (dtype, shape) = (g.b.dtype(x.value), g.b.shape(x.value));
    let (y, z) = (g.like(dtype, &shape, Values::Ordinary), g.like(dtype, &shape, Values::Ordinary));
    let f = ScalarOp::Fma;
    let exact = exact_result(f, dtype, &[x.exact, y.exact, z.exact]);
    g.push(TensorOp::Elementwise { f }, &[x.value, y.value, z.value], exact).map(|_| ())
}

pub fn cast(g: &mut Gen) -> Built<()> {
    let x = g.any();
    let to = g.rng.pick(&DType::ALL);
    let f = ScalarOp::Cast { to, saturate: g.rng.chance(70) };
    let stays_wide = g.b.dtype(x.value) == DType::F32 && matches!(to, DType::F16 | DType::BF16);
    g.push(TensorOp::Elementwise { f }, &[x.value], x.exact && !stays_wide).map(|_| ())
}

pub fn bitcast(g: &mut Gen) -> Built<()> {
    let x = g.any();
    let size = g.b.dtype(x.value).size();
    // Any byte is a number but not a truth value.
    let same: Vec<DType> =
        DType::ALL.into_iter().filter(|to| to.size() == size && *to != DType::Bool).collect();
    let f = ScalarOp::Bitcast { to: g.rng.pick(&same) };
    g.push(TensorOp::Elementwise { f }, &[x.value], x.exact).map(|_| ())
}

/// An op whose result has the type of `x`; for bodies of loops and branches.
pub fn preserving(g: &mut Gen, x: Value, exact: bool) -> Built<(Value, bool)> {
    let (dtype, shape) = (g.b.dtype(x), g.b.shape(x));
    let rank = shape.rank();
    let (kind, operands, exact) = match g.rng.below(6) {
        0 | 1 => {
            let same = |f: &ScalarOp| f.result_type(&vec![dtype; f.arity()]) == Ok(dtype);
            let ops: Vec<ScalarOp> = ops_on(dtype, 1).into_iter().filter(same).collect();
            let f = g.draw(&ops)?;
            (TensorOp::Elementwise { f }, vec![x], exact_result(f, dtype, &[exact]))
        }
        2 | 3 => {
            let same = |f: &ScalarOp| f.result_type(&[dtype, dtype]) == Ok(dtype);
            let ops: Vec<ScalarOp> = ops_on(dtype, 2).into_iter().filter(same).collect();
            let f = g.draw(&ops)?;
            let (y, y_exact) = second(g, f, dtype, &shape);
            (TensorOp::Elementwise { f }, vec![x, y], exact_result(f, dtype, &[exact, y_exact]))
        }
        4 if rank > 0 && dtype != DType::Bool => {
            let axis = g.rng.below(rank);
            let kind = TensorOp::Scan {
                f: g.rng.pick(&[ScalarOp::Max, ScalarOp::Min, ScalarOp::Add]),
                axis,
                exclusive: false,
                reverse: g.rng.chance(50),
            };
            (kind, vec![x], exact && !dtype.is_float())
        }
        _ if rank > 0 => {
            let axis = g.rng.below(rank);
            let mut starts = vec![Dim::from(0); rank];
            let mut steps = vec![1; rank];
            (starts[axis], steps[axis]) = (shape[axis].clone() - Dim::from(1), -1);
            (TensorOp::Slice { starts, sizes: shape.to_vec(), steps }, vec![x], exact)
        }
        _ => return Err("no such op".into()),
    };
    let results = g.push(kind, &operands, exact)?;
    Ok((results[0], exact))
}
