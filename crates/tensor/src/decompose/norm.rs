//! Softmax, layer and RMS normalisation, GELU.

use super::widen_all;
use crate::Builder;
use crate::build::Built;
use tegula_ir::{ScalarOp, Value};

/// `exp(x - max) * (1 / sum)`: the sum is at least 1; or `x - max - log(sum)`.
pub(super) fn softmax(b: &mut Builder, x: Value, axis: usize, log: bool) -> Built {
    let dtype = b.dtype(x);
    let x = widen_all(b, &[x])?[0];
    let largest = b.reduce(ScalarOp::Max, x, &[axis], true)?;
    let shifted = b.sub(x, largest)?;
    let exps = b.exp(shifted)?;
    let sum = b.reduce(ScalarOp::Add, exps, &[axis], true)?;
    let result = if log {
        let log_sum = b.log(sum)?;
        b.sub(shifted, log_sum)?
    } else {
        let share = b.reciprocal(sum)?;
        b.mul(exps, share)?
    };
    b.cast(result, dtype)
}

/// `(x - mean) / sqrt(var + eps) * scale + bias` over the axes from `axis` on.
pub(super) fn layer_norm(b: &mut Builder, x: &[Value], axis: usize, eps: f64) -> Built {
    let dtype = b.dtype(x[0]);
    let x = widen_all(b, x)?;
    let axes: Vec<usize> = (axis..b.rank(x[0])).collect();
    let mean = b.mean(x[0], &axes)?;
    let centred = b.sub(x[0], mean)?;
    let square = b.mul(centred, centred)?;
    let variance = b.mean(square, &axes)?;
    let normal = over_root(b, centred, variance, eps)?;
    let scaled = b.mul(normal, x[1])?;
    let result = match x.get(2) {
        Some(bias) => b.add(scaled, *bias)?,
        None => scaled,
    };
    b.cast(result, dtype)
}

/// `x / sqrt(mean(x^2) + eps) * scale` over the axes from `axis` on.
pub(super) fn rms_norm(b: &mut Builder, x: &[Value], axis: usize, eps: f64) -> Built {
    let dtype = b.dtype(x[0]);
    let x = widen_all(b, x)?;
    let axes: Vec<usize> = (axis..b.rank(x[0])).collect();
    let square = b.mul(x[0], x[0])?;
    let mean_square = b.mean(square, &axes)?;
    let normal = over_root(b, x[0], mean_square, eps)?;
    let result = b.mul(normal, x[1])?;
    b.cast(result, dtype)
}

/// `x * (1 / sqrt(y + eps))`. No number's root is so small that its inverse is infinite.
fn over_root(b: &mut Builder, x: Value, y: Value, eps: f64) -> Built {
    let y = b.with_number(ScalarOp::Add, y, eps)?;
    let scale = b.rsqrt(y)?;
    b.mul(x, scale)
}

/// `x/2 * (1 + erf(x / sqrt 2))`, or `x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))`
/// (Hendrycks and Gimpel, arXiv:1606.08415).
pub(super) fn gelu(b: &mut Builder, x: Value, tanh: bool) -> Built {
    let dtype = b.dtype(x);
    let x = widen_all(b, &[x])?[0];
    let bent = if tanh {
        let square = b.mul(x, x)?;
        let cube = b.mul(square, x)?;
        let cube = b.with_number(ScalarOp::Mul, cube, 0.044715)?;
        let inner = b.add(x, cube)?;
        let inner = b.with_number(ScalarOp::Mul, inner, (2.0 / std::f64::consts::PI).sqrt())?;
        b.tanh(inner)?
    } else {
        let inner = b.with_number(ScalarOp::Mul, x, std::f64::consts::FRAC_1_SQRT_2)?;
        b.erf(inner)?
    };
    let gate = b.with_number(ScalarOp::Add, bent, 1.0)?;
    let half = b.with_number(ScalarOp::Mul, x, 0.5)?;
    let result = b.mul(half, gate)?;
    b.cast(result, dtype)
}
