//! Quantised storage: conversions and contractions.

use super::{Gen, contract};
use crate::random::data::{self, Values};
use tegula_base::{DType, Dim, Shape};
use tegula_ir::Value;
use tegula_tensor::build::Built;
use tegula_tensor::{DotDims, QuantScheme, TensorOp};

const STORAGE: [DType; 14] = {
    use DType::*;
    [U8, I8, U8, I8, I4, U4, I16, U16, I2, U2, F4E2M1, F6E2M3, F6E3M2, F8E4M3FNUZ]
};

/// A scheme for a tensor of this shape and the shape of its scales.
fn scheme(g: &mut Gen, storage: DType, shape: &Shape) -> (QuantScheme, Shape) {
    let zero_point = g.rng.chance(70);
    let whole = QuantScheme { axis: None, block: None, storage, zero_point };
    if shape.rank() == 0 || g.rng.chance(40) {
        return (whole, Shape::scalar());
    }
    let axis = g.rng.below(shape.rank());
    if g.rng.chance(60) {
        return (QuantScheme { axis: Some(axis), ..whole }, Shape::from([shape[axis].clone()]));
    }
    let block = g.rng.pick(&[2, 4, 16, 32]);
    let mut scales = shape.clone();
    scales[axis] = shape[axis].ceil_div(&Dim::from(block));
    (QuantScheme { axis: Some(axis), block: Some(block), ..whole }, scales)
}

pub fn quantize(g: &mut Gen) -> Built<()> {
    let x = g.any_float(0);
    let (dtype, shape) = (g.b.dtype(x.value), g.b.shape(x.value));
    let storage = match g.rng.chance(8) {
        true => DType::F8E4M3FN,
        false => g.rng.pick(&STORAGE),
    };
    let (scheme, scales) = scheme(g, storage, &shape);
    let mut operands = vec![x.value, g.like(dtype, &scales, Values::Positive).value];
    let mut exact = x.exact;
    if scheme.zero_point {
        let zero = g.like(storage, &scales, Values::Ordinary);
        exact &= zero.exact;
        operands.push(zero.value);
    }
    g.push(TensorOp::Quantize { scheme: Box::new(scheme) }, &operands, exact).map(|_| ())
}

pub fn dequantize(g: &mut Gen) -> Built<()> {
    let storage = g.rng.pick(&STORAGE);
    let x = g.of(storage, 0);
    let (dtype, shape) = (g.b.dtype(x.value), g.b.shape(x.value));
    let (scheme, scales) = scheme(g, dtype, &shape);
    let float = g.float();
    let mut operands = vec![x.value, g.like(float, &scales, Values::Positive).value];
    let mut exact = x.exact;
    if scheme.zero_point {
        let zero = g.like(dtype, &scales, Values::Ordinary);
        exact &= zero.exact;
        operands.push(zero.value);
    }
    g.push(TensorOp::Dequantize { scheme: Box::new(scheme) }, &operands, exact).map(|_| ())
}

fn byte(g: &mut Gen) -> DType {
    g.rng.pick(&[DType::U8, DType::I8])
}

/// A scale so that results spread over the storage.
fn scale(g: &mut Gen, shape: Shape, around: f64) -> Value {
    let count = shape.as_static().map_or(1, |extents| extents.iter().product());
    let reals: Vec<f64> = (0..count).map(|_| around * (0.5 + g.rng.unit())).collect();
    let extents = shape.as_static().unwrap_or_default();
    let tensor = data::from_reals(DType::F32, &extents, &reals);
    if g.rng.chance(50) {
        return g.b.literal(tensor).expect("invariant: a constant fits its own type");
    }
    g.input_of(shape, tensor)
}

pub fn q_dot(g: &mut Gen) -> Built<()> {
    let (a, w, y) = (byte(g), byte(g), byte(g));
    let rank = 2 + g.rng.below(2);
    let x = g.operand(a, rank, |ty| ty.dtype == a && ty.rank() >= 1);
    let a = g.b.dtype(x.value);
    let shape = g.b.shape(x.value);
    let rank = shape.rank();
    if rank == 0 || g.elements(x.value) > 4000 {
        return Err("too large".into());
    }
    let k = shape[rank - 1].clone();
    let n = g.size(40);
    let turned = g.rng.chance(50);
    let dims: Shape = if turned { [Dim::from(n), k].into() } else { [k, Dim::from(n)].into() };
    let weights = g.like(w, &dims, Values::Special);
    let per_column = g.rng.chance(50);
    let column = if per_column { Shape::from([n]) } else { Shape::scalar() };
    let operands = [
        x.value,
        scale(g, Shape::scalar(), 0.05),
        g.scalar(a, Values::Ordinary),
        weights.value,
        scale(g, column.clone(), 0.02),
        g.fresh(w, if g.rng.clone().chance(50) { column } else { Shape::scalar() }, Values::Ordinary),
        scale(g, Shape::scalar(), 0.3),
        g.scalar(y, Values::Ordinary),
    ];
    let dims = DotDims {
        lhs_batch: vec![],
        rhs_batch: vec![],
        lhs_contract: vec![rank - 1],
        rhs_contract: vec![usize::from(turned)],
    };
    g.push(TensorOp::QDot { dims: Box::new(dims) }, &operands, x.exact && weights.exact).map(|_| ())
}

pub fn q_conv(g: &mut Gen) -> Built<()> {
    let (a, w, y) = (byte(g), byte(g), byte(g));
    let (x, extents, window) = contract::quantised_image(g, a)?;
    let a = g.b.dtype(x.value);
    let channels = g.b.shape(x.value)[1].as_const().filter(|n| *n > 0).ok_or("channels are not known")?;
    let groups = if g.rng.chance(60) { 1 } else { channels };
    let work = extents.iter().product::<i64>() * window.size.iter().product::<i64>() / groups;
    let out = groups * g.small((200_000 / work.max(1) / groups).clamp(1, 17));
    let mut shape = vec![Dim::from(out), Dim::from(channels / groups)];
    shape.extend(window.size.iter().map(|n| Dim::from(*n)));
    let weights = g.like(w, &shape.into(), Values::Special);
    let column = if g.rng.chance(50) { Shape::from([out]) } else { Shape::scalar() };
    let mut operands = vec![
        x.value,
        scale(g, Shape::scalar(), 0.05),
        g.scalar(a, Values::Ordinary),
        weights.value,
        scale(g, column.clone(), 0.02),
        g.fresh(w, column, Values::Ordinary),
        scale(g, Shape::scalar(), 0.3),
        g.scalar(y, Values::Ordinary),
    ];
    if g.rng.chance(50) {
        operands.push(g.fresh(DType::I32, Shape::from([out]), Values::Ordinary));
    }
    g.push(TensorOp::QConv { window: Box::new(window), groups }, &operands, x.exact && weights.exact)
        .map(|_| ())
}
