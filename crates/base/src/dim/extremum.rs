//! Extrema in one form, so that the halves of a cut, `max(0, n - 3)` and `min(3, n)`, sum to `n`.
//!
//! The larger of two sizes is `a + max(0, b - a)`, the smaller `a - max(0, a - b)`. Of `max(0, x)` and `max(0, -x)`,
//! which differ by `x`, the one with a positive last coefficient is written, and a common factor stands outside.
//! Large extrema stay as they are: the form above writes an argument twice.

use super::{Atom, Dim};

/// Arguments with more nodes than this stay in one piece.
pub(super) const MAX_NODES: usize = 128;

/// Differences of larger coefficients might saturate.
const MAX_COEFFICIENT: u64 = 1 << 40;

pub(super) fn extremum(a: &Dim, b: &Dim, max: bool) -> Dim {
    if let (Some(x), Some(y)) = (a.as_const(), b.as_const()) {
        return Dim::from(if max { x.max(y) } else { x.min(y) });
    }
    if a == b {
        return a.clone();
    }
    match (is_small(a) && is_small(b), max) {
        (true, true) => b.clone() + positive_part(a.clone() - b.clone()),
        (true, false) => a.clone() - positive_part(a.clone() - b.clone()),
        (false, true) => in_one_piece(a.clone(), b.clone()),
        (false, false) => -in_one_piece(-a.clone(), -b.clone()),
    }
}

fn is_small(dim: &Dim) -> bool {
    dim.nodes() <= MAX_NODES && dim.terms().iter().all(|(c, _)| c.unsigned_abs() <= MAX_COEFFICIENT)
}

fn in_one_piece(a: Dim, b: Dim) -> Dim {
    if let Some(difference) = (a.clone() - b.clone()).as_const() {
        return if difference > 0 { a } else { b };
    }
    Dim::atom(if a <= b { Atom::Max(a, b) } else { Atom::Max(b, a) })
}

/// `max(0, x)`.
fn positive_part(x: Dim) -> Dim {
    if let Some(n) = x.as_const() {
        return Dim::from(n.max(0));
    }
    if let Some((k, c, y)) = as_clamped(&x) {
        return match (c > 0, k) {
            (true, 0..) => x,
            (true, _) => positive_part(Dim::from(k) + y.times(c)),
            (false, ..=0) => Dim::from(0),
            (false, _) => x + positive_part(y.times(c.saturating_neg()) - Dim::from(k)),
        };
    }
    if x.as_terms().last().is_some_and(|(_, c)| *c < 0) {
        return x.clone() + positive_part(-x);
    }
    let factor = x.as_terms().iter().fold(0, |factor, (_, c)| super::bounds::gcd(factor, c.saturating_abs()));
    let terms = x.as_terms().iter().map(|(monomial, c)| (monomial.clone(), c / factor)).collect();
    Dim::atom(Atom::Max(Dim::from(0), Dim::from_terms(terms))).times(factor)
}

/// `(k, c, y)` where `x` is `k + c * max(0, y)` with constants `k` and `c`: an extremum of `k` and `k + c * y`.
pub(super) fn as_clamped(x: &Dim) -> Option<(i64, i64, Dim)> {
    x.as_terms().iter().find_map(|(monomial, c)| {
        let [Atom::Max(a, b)] = monomial.as_slice() else { return None };
        let rest = x.clone() - Dim::atom(monomial[0].clone()).times(*c);
        [(a, b), (b, a)].into_iter().find_map(|(low, high)| {
            let k = (rest.clone() + low.clone().times(*c)).as_const()?;
            Some((k, *c, high.clone() - low.clone()))
        })
    })
}
