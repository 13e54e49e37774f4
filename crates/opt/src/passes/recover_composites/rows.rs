//! Softmax and normalisations: what exporters write with reductions along rows.

use super::algebra::{Algebra, Power, Powers, Product};
use crate::passes::canonicalise::{Applied, Site, all_ones};
use smallvec::{SmallVec, smallvec};
use tegula_base::Shape;
use tegula_ir::attr::F64;
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::TensorOp;
use tegula_tensor::build::Built;

/// The argument of `exp` under a softmax: `x` of `x - max(x)`, or all of it.
fn shifted(algebra: &mut Algebra, exponent: Value, axis: usize) -> Value {
    let whole = |algebra: &mut Algebra| {
        let [x, largest] = algebra.operands_of(exponent, ScalarOp::Sub)?;
        let (of, axes) = algebra.reduced(largest, ScalarOp::Max)?;
        (of == x && axes == [axis]).then_some(x)
    };
    let mut attempt = Algebra::new(algebra.site);
    match whole(&mut attempt) {
        Some(_) => whole(algebra).unwrap_or(exponent),
        None => exponent,
    }
}

pub(super) fn softmax(site: &mut Site) -> Applied {
    let mut algebra = Algebra::new(site);
    let product = algebra.product(site.b.func.result(site.op), None);
    let [a, b] = product.powers.as_slice() else { return Ok(None) };
    let (exp, sum) = match (a.halves, b.halves) {
        (2, -2) => (a.base, b.base),
        (-2, 2) => (b.base, a.base),
        _ => return Ok(None),
    };
    let Some((of, axes)) = algebra.reduced(sum, ScalarOp::Add) else { return Ok(None) };
    let ([axis], true) = (axes.as_slice(), of == exp && product.number == 1.0) else { return Ok(None) };
    let Some(exponent) = algebra.operand_of(exp, ScalarOp::Exp) else { return Ok(None) };
    if !algebra.is_wide() {
        return Ok(site.miss("no softmax: its steps are rounded to 16 bits"));
    }
    let x = shifted(&mut algebra, exponent, *axis);
    if !algebra.is_closed() {
        return Ok(site.miss("no softmax: what it is made of is read elsewhere, too"));
    }
    let axis = *axis;
    site.b.softmax(x, axis, false).map(Some)
}

pub(super) fn log_softmax(site: &mut Site) -> Applied {
    let mut algebra = Algebra::new(site);
    let found = (|| {
        let [x, log] = algebra.operands_of(site.b.func.result(site.op), ScalarOp::Sub)?;
        let sum = algebra.operand_of(log, ScalarOp::Log)?;
        let (exp, axes) = algebra.reduced(sum, ScalarOp::Add)?;
        let exponent = algebra.operand_of(exp, ScalarOp::Exp)?;
        let [axis] = axes[..] else { return None };
        (exponent == x).then(|| (shifted(&mut algebra, x, axis), axis))
    })();
    match found {
        Some((x, axis)) if algebra.is_wide() && algebra.is_closed() => {
            site.b.softmax(x, axis, true).map(Some)
        }
        _ => Ok(None),
    }
}

/// `1 / sqrt(mean(x^2) + eps)` as a power in a product.
struct Root {
    /// `x`, which is `source - mean(source)` where there is a source.
    x: Value,
    centred: Option<Value>,
    axis: usize,
    eps: f64,
}

fn root(algebra: &mut Algebra, power: &Power) -> Option<Root> {
    if power.halves != -1 {
        return None;
    }
    let sum = algebra.affine(power.base);
    // Without `eps` it could be a norm of rows that are 0: those are NaN, or guarded in some way.
    if sum.offset <= 0.0 {
        return None;
    }
    // The mean's number belongs to it.
    let mut rest = Algebra::new(algebra.site);
    let [a, b] = rest.operands_of(power.base, ScalarOp::Add)?;
    let mean = if rest.number(b).is_some() { a } else { b };
    let (square, axes) = algebra.mean(mean)?;
    let x = algebra.square(square)?;
    if !algebra.is_wide() {
        return algebra.site.miss("no normalisation: its steps are rounded to 16 bits");
    }
    let Some(axis) = row_axis(algebra.site.shape(x), &axes) else {
        return algebra.site.miss("no normalisation of rows: its axes are not the last ones");
    };
    let eps = sum.offset;
    let source = |algebra: &mut Algebra| {
        let [source, mean] = algebra.operands_of(x, ScalarOp::Sub)?;
        let (of, mean_axes) = algebra.mean(mean)?;
        (of == source && mean_axes == axes).then_some(source)
    };
    let is_centred = source(&mut Algebra::new(algebra.site)).is_some();
    let centred = if is_centred { source(algebra) } else { None };
    Some(Root { x, centred, axis, eps })
}

/// The first of the last axes, where these are what is reduced; extents of 1 are never among them.
fn row_axis(shape: &Shape, axes: &[usize]) -> Option<usize> {
    let first = *axes.first()?;
    let whole = (first..shape.rank()).all(|axis| axes.contains(&axis) || shape[axis].is_const(1));
    whole.then_some(first)
}

/// The norm with a scale of ones.
fn bare(site: &mut Site, root: &Root) -> Built {
    let x = root.centred.unwrap_or(root.x);
    let row = Shape::from(&site.shape(x)[root.axis..]);
    let ones = site.b.splat(site.b.dtype(x), row, 1.0)?;
    let (axis, eps) = (root.axis, F64(root.eps));
    match root.centred {
        Some(_) => site.b.emit(TensorOp::LayerNorm { axis, eps }, &[x, ones]),
        None => site.b.emit(TensorOp::RmsNorm { axis, eps }, &[x, ones]),
    }
}

/// What is left of a product, times a value of the result's shape.
fn times(site: &mut Site, mut value: Value, rest: &[Power]) -> Built {
    for power in rest {
        value = site.b.mul(value, power.base)?;
    }
    Ok(value)
}

pub(super) fn norm(site: &mut Site) -> Applied {
    let result = site.b.func.result(site.op);
    let Some((root, rest)) = find_root(site, result) else { return Ok(None) };
    let normal = bare(site, &root)?;
    times(site, normal, &rest).map(Some)
}

/// The root in a product with what it divides, and the other powers.
fn find_root(site: &Site, result: Value) -> Option<(Root, Powers)> {
    let seen = Algebra::new(site).product(result, None);
    let power = seen.powers.iter().find(|power| power.halves == -1)?;
    let mut algebra = Algebra::new(site);
    let root = root(&mut algebra, power)?;
    let mut product = algebra.product(result, Some(root.x));
    product.powers.remove(product.find(power.base, -1)?);
    product.powers.remove(product.find(root.x, 2)?);
    let is_plain = product.number == 1.0 && product.powers.iter().all(|power| power.halves == 2);
    if is_plain && !algebra.is_closed() {
        return site.miss("no normalisation: its mean or variance is read elsewhere, too");
    }
    is_plain.then_some((root, product.powers))
}

/// More terms no normalisation has.
const MOST: usize = 3;

/// The terms of a sum with their signs, each as a product.
fn terms(algebra: &mut Algebra, value: Value, whole: Option<Value>) -> SmallVec<[Product; MOST]> {
    let mut terms = SmallVec::new();
    let mut waiting: SmallVec<[(Value, f64); MOST]> = smallvec![(value, 1.0)];
    while let Some((value, sign)) = waiting.pop() {
        let full = terms.len() + waiting.len() + 1 >= MOST;
        let split = |algebra: &mut Algebra, f| if full { None } else { algebra.operands_of(value, f) };
        if let Some([a, b]) = split(algebra, ScalarOp::Add) {
            waiting.extend([(a, sign), (b, sign)]);
        } else if let Some([a, b]) = split(algebra, ScalarOp::Sub) {
            waiting.extend([(a, sign), (b, -sign)]);
        } else {
            let mut product = algebra.product(value, whole);
            product.number *= sign;
            terms.push(product);
        }
    }
    terms
}

/// As TensorFlow's `batch_normalization` has it: `a` is `scale / sqrt(variance + eps)`.
pub(super) fn norm_of_products(site: &mut Site) -> Applied {
    let Some((root, scale, added)) = two_products(site) else { return Ok(None) };
    let normal = bare(site, &root)?;
    let mut sum = times(site, normal, &scale)?;
    for value in added {
        sum = site.b.add(sum, value)?;
    }
    Ok((site.b.ty(sum) == site.result_type()).then_some(sum))
}

/// The root in `x * a` and `-mean(x) * a`, the other factors of `a`, and what else is added.
fn two_products(site: &Site) -> Option<(Root, Powers, Vec<Value>)> {
    let result = site.b.func.result(site.op);
    let seen = terms(&mut Algebra::new(site), result, None);
    let power = *seen.iter().flat_map(|term| &term.powers).find(|power| power.halves == -1)?;
    let mut algebra = Algebra::new(site);
    let root = root(&mut algebra, &power)?;
    let source = root.centred?;
    let [_, mean] = algebra.operands_of(root.x, ScalarOp::Sub)?;
    // Again, with the mean whole.
    let mut terms = terms(&mut algebra, result, Some(mean));
    let mut take = |base: Value, number: f64| {
        let at = terms.iter().position(|term| term.number == number && term.find(base, 2).is_some())?;
        let mut powers = terms.swap_remove(at).powers;
        powers.retain(|power| power.base != base);
        powers.sort_by_key(|power| (power.base, power.halves));
        Some(powers)
    };
    let (mut a, b) = (take(source, 1.0)?, take(mean, -1.0)?);
    let same = a == b;
    a.retain(|one| *one != power);
    let plain = |power: &Power| power.halves == 2;
    let added = terms.iter().map(|term| match term.powers.as_slice() {
        [only] if plain(only) && term.number == 1.0 => Some(only.base),
        _ => None,
    });
    let added = added.collect::<Option<Vec<Value>>>()?;
    (same && a.iter().all(plain) && algebra.is_closed()).then_some((root, a, added))
}

/// A norm that only the op at the site reads, and the op's other operand as one row.
fn norm_and_row(site: &mut Site, most: usize) -> Built<Option<(Value, Value, usize)>> {
    for (normal, row) in [(0, 1), (1, 0)] {
        let (normal, row) = (site.operand(normal), site.operand(row));
        let axis = match site.def(normal) {
            Some((op, TensorOp::LayerNorm { axis, .. } | TensorOp::RmsNorm { axis, .. }))
                if site.b.func.operands(op).len() <= most =>
            {
                *axis
            }
            _ => continue,
        };
        let (full, shape) = (site.shape(normal), site.shape(row));
        let fits = shape.rank() == full.rank() && all_ones(&shape[..axis]) && shape[axis..] == full[axis..];
        if fits && site.b.func.users(normal).len() == 1 {
            let inner = Shape::from(&full[axis..]);
            let row = site.b.reshape(row, inner)?;
            return Ok(Some((normal, row, axis)));
        }
    }
    Ok(None)
}

pub(super) fn scale(site: &mut Site) -> Applied {
    let Some((normal, row, _)) = norm_and_row(site, 2)? else { return Ok(None) };
    let Some((op, kind)) = site.def(normal) else { return Ok(None) };
    let (kind, [x, ones]) = (kind.clone(), [0, 1].map(|i| site.b.func.operand(op, i)));
    if Algebra::new(site).number(ones) != Some(1.0) {
        return Ok(None);
    }
    site.b.emit(kind, &[x, row]).map(Some)
}

pub(super) fn bias(site: &mut Site) -> Applied {
    let Some((normal, row, _)) = norm_and_row(site, 2)? else { return Ok(None) };
    let Some((op, kind @ TensorOp::LayerNorm { .. })) = site.def(normal) else { return Ok(None) };
    let (kind, [x, scale]) = (kind.clone(), [0, 1].map(|i| site.b.func.operand(op, i)));
    site.b.emit(kind, &[x, scale, row]).map(Some)
}
