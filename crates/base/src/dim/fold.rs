//! Simplification of quotients, remainders and extrema, and interval and divisor analysis.

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

pub(super) fn extremum(a: &Dim, b: &Dim, max: bool) -> Dim {
    if a == b {
        return a.clone();
    }
    if let Some(difference) = (a.clone() - b.clone()).as_const() {
        return if (difference > 0) == max { a.clone() } else { b.clone() };
    }
    for (lone, other) in [(a, b), (b, a)] {
        if let Some(folded) = absorb(lone, other, max) {
            return folded;
        }
    }
    let (a, b) = if a <= b { (a, b) } else { (b, a) };
    Dim::atom(if max { Atom::Max(a.clone(), b.clone()) } else { Atom::Min(a.clone(), b.clone()) })
}

/// `min(a, min(b, c))` where `a` and `b` differ by a constant has two arguments, and `min(a, max(a, c))` is `a`; so
/// for `max`.
fn absorb(a: &Dim, nested: &Dim, max: bool) -> Option<Dim> {
    let terms = nested.terms();
    let [(1, [atom])] = terms.as_slice() else { return None };
    let (is_max, args) = match atom {
        Atom::Max(b, c) => (true, [b, c]),
        Atom::Min(b, c) => (false, [b, c]),
        Atom::Symbol(_) | Atom::FloorDiv(..) | Atom::Mod(..) => return None,
    };
    for (b, c) in [(args[0], args[1]), (args[1], args[0])] {
        let Some(difference) = (a.clone() - b.clone()).as_const() else { continue };
        let a_decides = difference == 0 || (difference > 0) == max;
        match (is_max == max, a_decides) {
            (true, true) => return Some(extremum(a, c, max)),
            (true, false) => return Some(nested.clone()),
            // The nested one is at least (at most) b, which lies beyond a.
            (false, _) if difference == 0 || (difference < 0) == is_max => return Some(a.clone()),
            (false, _) => {}
        }
    }
    None
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

pub(super) fn bounds(dim: &Dim, of_symbol: &dyn Fn(&str) -> (i64, i64)) -> (i64, i64) {
    let mut sum = (0i64, 0i64);
    for (monomial, coefficient) in dim.to_terms() {
        let mut product = (coefficient, coefficient);
        for atom in &monomial {
            product = mul_bounds(product, atom_bounds(atom, of_symbol));
        }
        sum = (sum.0.saturating_add(product.0), sum.1.saturating_add(product.1));
    }
    sum
}

fn mul_bounds(a: (i64, i64), b: (i64, i64)) -> (i64, i64) {
    let corners =
        [a.0.saturating_mul(b.0), a.0.saturating_mul(b.1), a.1.saturating_mul(b.0), a.1.saturating_mul(b.1)];
    let min = corners.into_iter().min().expect("invariant: four corners");
    let max = corners.into_iter().max().expect("invariant: four corners");
    (min, max)
}

fn atom_bounds(atom: &Atom, of_symbol: &dyn Fn(&str) -> (i64, i64)) -> (i64, i64) {
    match atom {
        Atom::Symbol(name) => of_symbol(name),
        Atom::FloorDiv(a, b) => {
            let (a, b) = (bounds(a, of_symbol), bounds(b, of_symbol));
            if b.0 <= 0 || b.1 < b.0 {
                return (i64::MIN, i64::MAX);
            }
            let quotient = |x, y| floor_div_i64(x, y).expect("invariant: the divisor is positive");
            let low = quotient(a.0, b.0).min(quotient(a.0, b.1));
            let high = quotient(a.1, b.0).max(quotient(a.1, b.1));
            (low, high)
        }
        Atom::Mod(a, b) => {
            let (a, b) = (bounds(a, of_symbol), bounds(b, of_symbol));
            if b.0 <= 0 {
                return (i64::MIN, i64::MAX);
            }
            if a.0 >= 0 { (0, a.1.min(b.1 - 1)) } else { (0, b.1 - 1) }
        }
        Atom::Min(a, b) => {
            let (a, b) = (bounds(a, of_symbol), bounds(b, of_symbol));
            (a.0.min(b.0), a.1.min(b.1))
        }
        Atom::Max(a, b) => {
            let (a, b) = (bounds(a, of_symbol), bounds(b, of_symbol));
            (a.0.max(b.0), a.1.max(b.1))
        }
    }
}

/// The largest divisor that the form shows; 0 stands for "divisible by all" (the size is 0).
pub(super) fn known_divisor(dim: &Dim, of_symbol: &dyn Fn(&str) -> i64) -> i64 {
    dim.to_terms().iter().fold(0, |divisor, (monomial, coefficient)| {
        let term = monomial.iter().fold(coefficient.saturating_abs(), |product, atom| {
            product.saturating_mul(match atom {
                Atom::Symbol(name) => of_symbol(name).max(1),
                Atom::Min(a, b) | Atom::Max(a, b) => {
                    gcd(known_divisor(a, of_symbol), known_divisor(b, of_symbol)).max(1)
                }
                Atom::FloorDiv(..) | Atom::Mod(..) => 1,
            })
        });
        gcd(divisor, term)
    })
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
