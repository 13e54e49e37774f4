//! Elementwise ops: their own ulps, and what their operands' bounds become.

use super::Bounded;
use super::float::{eta, largest, rounded, ulp};
use super::run::values;
use tegula_base::{DType, HostTensor, Shape};
use tegula_ir::ScalarOp;
use tegula_ir::scalar::eval::eval;
use tegula_tensor::TensorOp;

pub(super) fn elementwise(f: ScalarOp, x: &[Bounded], out: Vec<HostTensor>) -> Result<Vec<Bounded>, String> {
    let out = out.into_iter().next().ok_or("no result")?;
    let dtype = x[x.len() - 1].value.dtype;
    let ulps = own_ulps(f, dtype) + kept_wide(f, dtype, out.dtype);
    // The bits of a NaN that an op produced are unspecified.
    let reads_nan = matches!(f, ScalarOp::Bitcast { .. }) && dtype.is_float();
    if ulps == 0.0 && !reads_nan && x.iter().all(|operand| operand.error.is_none()) {
        return Ok(vec![Bounded::exact(out)]);
    }
    let spread = x.iter().map(|operand| spread(operand, &out.shape)).collect::<Result<Vec<_>, _>>()?;
    let results = out.to_f64();
    let mut error = Vec::with_capacity(results.len());
    let mut operands = vec![(0.0, 0.0); x.len()];
    for (i, r) in results.iter().enumerate() {
        for (operand, (value, error)) in operands.iter_mut().zip(&spread) {
            *operand = (value[i], error[i]);
        }
        let moved = match reads_nan && operands[0].0.is_nan() {
            true => f64::INFINITY,
            false => propagated(f, dtype, &operands, *r),
        };
        error.push(total(out.dtype, ulps, &operands, *r, moved) + flushed(f, dtype, *r));
    }
    Ok(vec![Bounded::new(out, error)])
}

/// Adds the op's own bound and the rounding to what the operands' bounds became.
fn total(dtype: DType, ulps: f64, operands: &[(f64, f64)], r: f64, moved: f64) -> f64 {
    if moved.is_nan() || moved.is_infinite() {
        return f64::INFINITY;
    }
    if !dtype.is_float() {
        return if moved > 0.0 { f64::INFINITY } else { 0.0 };
    }
    let moved = rounded(dtype, r, moved);
    if ulps == 0.0 {
        return moved;
    }
    if r.is_nan() {
        return moved;
    }
    if r.is_infinite() || r.abs() > largest(dtype) * (1.0 - 1e-6) {
        // Where the overflow lies is the function's own bound; at infinite operands and poles there is none.
        let at_pole = operands.iter().all(|(x, _)| x.is_infinite() || *x == 0.0 || x.abs() == 1.0);
        return if at_pole { moved } else { f64::INFINITY };
    }
    moved + ulps * ulp(dtype, r)
}

/// Ulps by which a 16-bit float inside of a kernel may be off: it stays in `f32`, and the evaluator rounds it.
fn kept_wide(f: ScalarOp, from: DType, to: DType) -> f64 {
    use ScalarOp::*;
    let is_half = matches!(to, DType::F16 | DType::BF16);
    let rounds = match f {
        Neg | Abs | Sign | Ceil | Floor | Round | Trunc | Min | Max | Select | Rem | Mod | Bitcast { .. } => {
            false
        }
        Cast { .. } => from == DType::F32,
        _ => true,
    };
    if is_half && rounds { 0.5 } else { 0.0 }
}

/// What a function may be off by where it gives 0 in place of a denormal.
fn flushed(f: ScalarOp, dtype: DType, r: f64) -> f64 {
    let smallest = f64::from(f32::MIN_POSITIVE);
    if f.may_flush() && dtype != DType::F64 && r.abs() < smallest { smallest } else { 0.0 }
}

/// Value and bound of each element, broadcast to a shape.
fn spread(x: &Bounded, shape: &[usize]) -> Result<(Vec<f64>, Vec<f64>), String> {
    let kind =
        TensorOp::Broadcast { shape: shape.iter().copied().map(tegula_base::Dim::from).collect::<Shape>() };
    if x.value.shape == shape {
        return Ok((x.value.to_f64(), x.error_tensor().to_f64()));
    }
    let value = values(&kind, &[&x.value])?.remove(0);
    let error = values(&kind, &[&x.error_tensor()])?.remove(0);
    Ok((value.to_f64(), error.to_f64()))
}

/// Both sides' ulps (`docs/numerics.md`, "Scalar operations"); the evaluator is within 0.51.
fn own_ulps(f: ScalarOp, dtype: DType) -> f64 {
    use ScalarOp::*;
    if !dtype.is_float() {
        return 0.0;
    }
    match f {
        Exp | Log | Expm1 | Log1p | Tanh | Erf | Sigmoid | Sin | Cos | Rsqrt => {
            if dtype == DType::F64 {
                4.0
            } else {
                3.0
            }
        }
        Tan | Asin | Acos | Atan | Sinh | Cosh | Asinh | Acosh | Atanh | Pow | Atan2 => {
            if dtype == DType::F64 { 4.0 } else { 2.0 }
        }
        _ => 0.0,
    }
}

/// The bound that operands within theirs give; not yet rounded. Infinite: unknown.
fn propagated(f: ScalarOp, dtype: DType, x: &[(f64, f64)], r: f64) -> f64 {
    use ScalarOp::*;
    const UNKNOWN: f64 = f64::INFINITY;
    if f == Select {
        let (condition, chosen) = (x[0], if x[0].0 != 0.0 { x[1] } else { x[2] });
        return if condition.1 > 0.0 { UNKNOWN } else { chosen.1 };
    }
    if x.iter().all(|(_, e)| *e == 0.0) {
        return 0.0;
    }
    if !dtype.is_float() || x.iter().any(|(_, e)| e.is_infinite() || e.is_nan()) {
        return UNKNOWN;
    }
    // A NaN or infinity is the same on both sides; what it makes of a finite neighbour may hang on a sign.
    if x.iter().any(|(v, _)| !v.is_finite()) {
        return match f {
            Min | Max if r.is_finite() => x.iter().fold(0.0f64, |most, (_, e)| most.max(*e)),
            Add | Sub | Neg | Abs | IsNan | IsInf | Min | Max => 0.0,
            _ if r.is_nan() && x.iter().any(|(v, _)| v.is_nan()) => 0.0,
            _ => UNKNOWN,
        };
    }
    let (a, ea) = x[0];
    let (b, eb) = x.get(1).copied().unwrap_or((0.0, 0.0));
    match f {
        Neg | Abs => ea,
        Add | Sub => ea + eb,
        // Of a product with an exact 0 only the sign is in doubt.
        Mul => (a.abs() * eb + b.abs() * ea + ea * eb).max(f64::from_bits(1)),
        Div if b.abs() > eb => (ea + (a / b).abs() * eb) / (b.abs() - eb),
        Min | Max => ea.max(eb),
        Fma => a.abs() * eb + b.abs() * ea + ea * eb + x[2].1,
        Sqrt if a <= 2.0 * ea && a >= 0.0 && ea > 0.0 => {
            if a >= ea {
                ea.sqrt()
            } else {
                UNKNOWN
            }
        }
        Sqrt if a > 0.0 => ea / (2.0 * (a - ea).sqrt()),
        Exp => a.exp() * ea.exp_m1(),
        Log if a > ea => ea / (a - ea),
        Tanh | Sin | Cos | Atan => ea,
        Erf => std::f64::consts::FRAC_2_SQRT_PI * ea,
        Sigmoid => ea / 4.0,
        Sign | Ceil | Floor | Round | Trunc | IsNan | IsInf => steps(f, dtype, a, ea),
        Cast { to: target, saturate } => cast(target, saturate, a, ea),
        Eq | Ne | Lt | Le | Gt | Ge => {
            if (a - b).abs() > ea + eb {
                0.0
            } else {
                UNKNOWN
            }
        }
        Rem | Mod if eb == 0.0 && b != 0.0 => {
            let (low, high) = ((a - ea) / b, (a + ea) / b);
            if low.floor() == high.floor() && (a - ea).signum() == (a + ea).signum() { ea } else { UNKNOWN }
        }
        Reciprocal | Rsqrt | Log1p | Expm1 | Asin | Acos | Sinh | Asinh | Acosh | Atanh => ends(f, a, ea),
        Tan if ea < 0.5 && a.cos().abs() > 2.0 * ea => ends(f, a, ea),
        Cosh if a.abs() > ea => ends(f, a, ea),
        Cosh => (a.abs() + ea).cosh() - 1.0,
        Pow if a > ea => corners(f, x),
        Atan2 if a.hypot(b) > ea + eb && (b > eb || a.abs() > ea) => (ea + eb) / (a.hypot(b) - ea - eb),
        _ => UNKNOWN,
    }
}

/// 0 where the function is one step over the whole interval.
fn steps(f: ScalarOp, dtype: DType, x: f64, error: f64) -> f64 {
    if matches!(f, ScalarOp::IsNan | ScalarOp::IsInf) {
        return if x.abs() + error < largest(dtype) { 0.0 } else { f64::INFINITY };
    }
    let at = |x: f64| of(f, &[x]);
    // -0 and 0 are different results of rounding.
    let (low, high) = (at(x - error), at(x + error));
    if low.to_bits() == high.to_bits() { 0.0 } else { f64::INFINITY }
}

/// Of a float.
fn cast(to: DType, saturate: bool, x: f64, error: f64) -> f64 {
    if to.is_float() {
        // Powers of two have no zero and no sign.
        let below = to == DType::F8E8M0 && x - error < 2.0 * eta(to);
        let beyond = below || x.abs() + error >= largest(to);
        return if beyond { f64::INFINITY } else { error };
    }
    let f = ScalarOp::Cast { to, saturate };
    let at = |x: f64| eval(f, &[DType::F64], &[x.to_bits()]);
    if to == DType::Bool && x.abs() <= error {
        return f64::INFINITY;
    }
    if at(x - error) == at(x + error) { 0.0 } else { f64::INFINITY }
}

/// The function in `f64`.
fn of(f: ScalarOp, x: &[f64]) -> f64 {
    let bits: Vec<u64> = x.iter().map(|x| x.to_bits()).collect();
    f64::from_bits(eval(f, &vec![DType::F64; x.len()], &bits))
}

/// Of a function that is monotonic around x; unknown where an end is no number.
fn ends(f: ScalarOp, x: f64, error: f64) -> f64 {
    if f == ScalarOp::Reciprocal && x.abs() <= error {
        return f64::INFINITY;
    }
    let middle = of(f, &[x]);
    let [low, high] = [x - error, x + error].map(|end| (of(f, &[end]) - middle).abs());
    // A maximum would take the other end for one that is no number.
    if low.is_nan() || high.is_nan() { f64::INFINITY } else { low.max(high) + eta(DType::F64) }
}

/// Of a function of two operands that is monotonic in each.
fn corners(f: ScalarOp, x: &[(f64, f64)]) -> f64 {
    let middle = of(f, &[x[0].0, x[1].0]);
    let mut reach = 0.0f64;
    for (i, j) in [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)] {
        let corner = of(f, &[x[0].0 + i * x[0].1, x[1].0 + j * x[1].1]);
        let distance = (corner - middle).abs();
        if distance.is_nan() {
            return f64::INFINITY;
        }
        reach = reach.max(distance);
    }
    reach
}
