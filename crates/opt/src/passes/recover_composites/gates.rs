//! Gated activations: GELU in its three writings, and the logistic function spelled out.

use super::algebra::{Algebra, DEGREES, Product};
use crate::passes::canonicalise::{Applied, Site};
use std::f64::consts::{FRAC_1_SQRT_2, PI};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::TensorOp;

pub(super) fn gelu(site: &mut Site) -> Applied {
    let result = site.b.func.result(site.op);
    let Some((x, tanh)) = gelu_of(site, result) else { return Ok(None) };
    site.b.gelu(x, tanh).map(Some)
}

/// `tanh(u)` in a gate, with the factor of `u` that is no part of GELU's, and the scale of `1 + tanh(u)`.
fn bend(algebra: &mut Algebra, gate: Value) -> Option<(ScalarOp, Value, f64)> {
    let outer = algebra.affine(gate);
    for f in [ScalarOp::Erf, ScalarOp::Tanh, ScalarOp::Sigmoid] {
        let Some(u) = algebra.operand_of(outer.inner, f) else { continue };
        let scale = match f {
            // `sigmoid(2 u)` is `(1 + tanh(u)) / 2`.
            ScalarOp::Sigmoid => (outer.offset == 0.0).then_some(outer.scale / 2.0)?,
            _ => algebra.is(gate, outer.offset, outer.scale).then_some(outer.scale)?,
        };
        return Some((f, u, scale));
    }
    None
}

fn gelu_of(site: &Site, result: Value) -> Option<(Value, bool)> {
    let seen = Algebra::new(site).product(result, None);
    let is_gate = |base: Value| bend(&mut Algebra::new(site), base).is_some();
    let gate = seen.powers.iter().find(|power| power.halves == 2 && is_gate(power.base))?.base;
    let (f, u, _) = bend(&mut Algebra::new(site), gate)?;
    let wanted = polynomial_of(f)?;
    // `x` is what `u` is a polynomial of; anything that is multiplied on the way to the result may be it.
    let candidate = |x: &Value| {
        let found = Algebra::new(site).polynomial(u, *x);
        found.is_some_and(|found| (0..DEGREES).all(|i| Algebra::new(site).is(*x, found[i], wanted[i])))
    };
    let x = factors(site, result).into_iter().find(candidate)?;
    let mut algebra = Algebra::new(site);
    let Product { number, powers } = algebra.product(result, Some(x));
    let (_, u, scale) = bend(&mut algebra, gate)?;
    algebra.polynomial(u, x)?;
    let whole = powers.len() == 2 && powers.iter().all(|power| power.halves == 2);
    let is_gelu =
        whole && powers.iter().any(|power| power.base == x) && powers.iter().any(|p| p.base == gate);
    let halved = algebra.is(x, number * scale, 0.5);
    if !is_gelu || !halved {
        return None;
    }
    if !algebra.is_wide() {
        return site.miss("no gelu: its steps are rounded to 16 bits");
    }
    if !algebra.is_closed() {
        return site.miss("no gelu: what it is made of is read elsewhere, too");
    }
    Some((x, f != ScalarOp::Erf))
}

/// What `f` is applied to in GELU: `x / sqrt 2`, or `sqrt(2/pi) (x + 0.044715 x^3)`, twice that under a sigmoid.
fn polynomial_of(f: ScalarOp) -> Option<[f64; DEGREES]> {
    let slope = (2.0 / PI).sqrt();
    match f {
        ScalarOp::Erf => Some([0.0, FRAC_1_SQRT_2, 0.0, 0.0]),
        ScalarOp::Tanh => Some([0.0, slope, 0.0, slope * 0.044715]),
        ScalarOp::Sigmoid => Some([0.0, 2.0 * slope, 0.0, 2.0 * slope * 0.044715]),
        _ => None,
    }
}

/// Operands of the products that lead to a value, nearest first.
fn factors(site: &Site, result: Value) -> Vec<Value> {
    const MOST: usize = 8;
    let mut found = vec![result];
    let mut next = 0;
    while next < found.len() && found.len() < MOST {
        let value = found[next];
        next += 1;
        if let Some((op, TensorOp::Elementwise { f: ScalarOp::Mul | ScalarOp::Div | ScalarOp::Neg })) =
            site.def(value)
        {
            found.extend(site.b.func.operands(op));
        }
    }
    found.remove(0);
    found
}

/// `1 + exp(-x)` that something is divided by.
pub(super) fn sigmoid(site: &mut Site) -> Applied {
    let result = site.b.func.result(site.op);
    let mut algebra = Algebra::new(site);
    let found = (|| {
        // Only the op that divides: a chain of products behind it has nothing to say.
        let (over, sum) = match site.kind() {
            TensorOp::Elementwise { f: ScalarOp::Div } => (Some(site.operand(0)), site.operand(1)),
            TensorOp::Elementwise { f: ScalarOp::Reciprocal } => (None, site.operand(0)),
            _ => return None,
        };
        let outer = algebra.affine(sum);
        let negated = algebra.operand_of(outer.inner, ScalarOp::Exp)?;
        let x = algebra.operand_of(negated, ScalarOp::Neg)?;
        (outer.offset == 1.0 && outer.scale == 1.0).then_some((over, x))
    })();
    let Some((over, x)) = found.filter(|_| algebra.is_wide() && algebra.is_closed()) else { return Ok(None) };
    let gate = site.b.sigmoid(x)?;
    let value = match over {
        Some(over) => site.b.mul(over, gate)?,
        None => gate,
    };
    Ok((site.b.ty(value) == site.b.ty(result)).then_some(value))
}
