//! Simplification of quotients and remainders.

use super::extremum::{as_clamped, extremum};
use super::{Atom, Dim, Monomial};

pub(super) fn floor_div_i64(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

pub(super) fn modulo_i64(a: i64, b: i64) -> Option<i64> {
    a.checked_sub(floor_div_i64(a, b)?.checked_mul(b)?)
}

/// Splits `dim` into `(even, rest)` with `even` the sum of terms that `divisor` divides, already divided.
fn split_even(dim: &Dim, divisor: i64) -> (Dim, Dim) {
    let (mut even, mut rest) = (Vec::new(), Vec::new());
    for (monomial, coefficient) in dim.to_terms() {
        let quotient = floor_div_i64(coefficient, divisor).expect("invariant: the divisor is positive");
        let remainder = coefficient - quotient * divisor;
        // The constant term gives up its even part; other terms move whole or stay.
        if monomial.is_empty() || remainder == 0 {
            even.push((monomial.clone(), quotient));
            rest.push((monomial, remainder));
        } else {
            rest.push((monomial, coefficient));
        }
    }
    (Dim::from_terms(even), Dim::from_terms(rest))
}

pub(super) fn floor_div(dim: &Dim, divisor: &Dim) -> Dim {
    if let (Some(a), Some(b)) = (dim.as_const(), divisor.as_const())
        && let Some(quotient) = floor_div_i64(a, b)
    {
        return Dim::from(quotient);
    }
    if let Some(quotient) = div_exact(dim, divisor) {
        return quotient;
    }
    let Some(n) = divisor.as_const().filter(|n| *n > 0) else {
        return Dim::atom(Atom::FloorDiv(dim.clone(), divisor.clone()));
    };
    // Quotients grow with what is divided: those of an extremum are the extremum of the quotients.
    if let Some((k, c, y)) = as_clamped(dim) {
        let (flat, slope) = (Dim::from(k), Dim::from(k) + y.times(c));
        return extremum(&floor_div(&flat, divisor), &floor_div(&slope, divisor), c > 0);
    }
    let (even, rest) = split_even(dim, n);
    if rest.is_const(0) {
        return even;
    }
    // floordiv(floordiv(x, a), b) = floordiv(x, a*b) for positive constants.
    if let [(monomial, 1)] = rest.to_terms().as_slice()
        && let [Atom::FloorDiv(inner, m)] = monomial.as_slice()
        && let Some(m) = m.as_const().filter(|m| *m > 0)
    {
        return even + floor_div(inner, &Dim::from(m.saturating_mul(n)));
    }
    even + rest_quotient(&rest, n)
}

fn rest_quotient(rest: &Dim, n: i64) -> Dim {
    match rest.as_const() {
        Some(c) => Dim::from(floor_div_i64(c, n).expect("invariant: the divisor is positive")),
        None => Dim::atom(Atom::FloorDiv(rest.clone(), Dim::from(n))),
    }
}

pub(super) fn modulo(dim: &Dim, divisor: &Dim) -> Dim {
    if let (Some(a), Some(b)) = (dim.as_const(), divisor.as_const())
        && let Some(remainder) = modulo_i64(a, b)
    {
        return Dim::from(remainder);
    }
    if div_exact(dim, divisor).is_some() {
        return Dim::from(0);
    }
    let Some(n) = divisor.as_const().filter(|n| *n > 0) else {
        return Dim::atom(Atom::Mod(dim.clone(), divisor.clone()));
    };
    let (_, rest) = split_even(dim, n);
    match rest.as_const() {
        Some(c) => Dim::from(modulo_i64(c, n).expect("invariant: the divisor is positive")),
        None => Dim::atom(Atom::Mod(rest, Dim::from(n))),
    }
}

/// Divides by one monomial, or finds the quotient of two multiples of the same polynomial.
pub(super) fn div_exact(dim: &Dim, divisor: &Dim) -> Option<Dim> {
    if dim == divisor && divisor.as_const() != Some(0) {
        return Some(Dim::from(1));
    }
    let divisor_terms = divisor.to_terms();
    let [(by, factor)] = divisor_terms.as_slice() else { return div_by_poly(dim, divisor) };
    let mut terms = Vec::new();
    for (monomial, coefficient) in dim.to_terms() {
        if coefficient.checked_rem(*factor)? != 0 {
            return None;
        }
        terms.push((divide_monomial(&monomial, by)?, coefficient / factor));
    }
    Some(Dim::from_terms(terms))
}

fn divide_monomial(monomial: &Monomial, by: &Monomial) -> Option<Monomial> {
    let mut rest = monomial.clone();
    for atom in by {
        rest.remove(rest.iter().position(|a| a == atom)?);
    }
    Some(rest)
}

/// Polynomial long division by the leading (last) term; only an exact quotient counts.
fn div_by_poly(dim: &Dim, divisor: &Dim) -> Option<Dim> {
    let divisor_terms = divisor.to_terms();
    let (lead, factor) = divisor_terms.last()?;
    let mut rest = dim.clone();
    let mut quotient = Dim::from(0);
    // Each step removes the leading term; more steps than terms squared means it does not divide.
    for _ in 0..16 {
        if rest.is_const(0) {
            return Some(quotient);
        }
        let rest_terms = rest.to_terms();
        let (monomial, coefficient) = rest_terms.last()?;
        if coefficient % factor != 0 {
            return None;
        }
        let step = Dim::from_terms(vec![(divide_monomial(monomial, lead)?, coefficient / factor)]);
        quotient = quotient + step.clone();
        rest = rest - step * divisor.clone();
    }
    None
}
