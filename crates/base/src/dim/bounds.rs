//! What holds of a size for all values of its symbols: its range, its divisors, what it grows with.
//!
//! Terms by themselves say little where one symbol is in several: `n - max(0, n - 3)` is at most 3. A size with a
//! maximum has one of two values, and a quotient is that of its dividend but for a remainder; both leave a size
//! with an atom less.

use super::fold::floor_div_i64;
use super::{Atom, Dim, Monomial};

/// So many atoms are looked into for a better answer than that of the terms by themselves.
const MAX_SPLITS: u32 = 4;

/// Ranges up to here are sure not to have been cut off.
const EXACT: i64 = 1 << 56;

/// A size with a maximum in it, as what it is with either argument instead.
struct Split {
    with_either: [Dim; 2],
    /// What the maximum is multiplied by, unless it is squared.
    cofactor: Option<Dim>,
}

/// At the maximum of that number; none where there is none, or nothing beside it.
fn split_at_max(dim: &Dim, number: usize) -> Option<Split> {
    let terms = dim.as_terms();
    let is_max = |atom: &&Atom| matches!(atom, Atom::Max(..));
    let atom = terms.iter().flat_map(|(monomial, _)| monomial).filter(is_max).nth(number)?;
    let Atom::Max(a, b) = atom else { return None };
    let is_lone = |(monomial, _): &(Monomial, i64)| {
        monomial.is_empty() || matches!(monomial.as_slice(), [one] if one == atom)
    };
    if terms.iter().all(is_lone) {
        return None;
    }
    let with = |by: &Dim| {
        Dim::sum(terms.iter().map(|(monomial, c)| {
            monomial.iter().fold(Dim::from(*c), |product, other| {
                product * if other == atom { by.clone() } else { Dim::atom(other.clone()) }
            })
        }))
    };
    let (mut cofactor, mut is_linear) = (vec![], true);
    for (monomial, c) in terms {
        let mut rest = monomial.clone();
        rest.retain(|other| other != atom);
        match monomial.len() - rest.len() {
            0 => {}
            1 => cofactor.push((rest, *c)),
            _ => is_linear = false,
        }
    }
    let cofactor = is_linear.then(|| Dim::from_terms(cofactor));
    Some(Split { with_either: [with(a), with(b)], cofactor })
}

pub(super) fn bounds(dim: &Dim, of_symbol: &dyn Fn(&str) -> (i64, i64)) -> (i64, i64) {
    range(dim, of_symbol, MAX_SPLITS)
}

fn range(dim: &Dim, of_symbol: &dyn Fn(&str) -> (i64, i64), splits: u32) -> (i64, i64) {
    let mut sum = (0i64, 0i64);
    for (coefficient, monomial) in dim.terms() {
        let mut product = (coefficient, coefficient);
        for atom in monomial {
            product = mul_bounds(product, atom_bounds(atom, of_symbol, splits.saturating_sub(1)));
        }
        sum = (sum.0.saturating_add(product.0), sum.1.saturating_add(product.1));
    }
    // Which maximum is split at first matters; further down that is no longer worth its time.
    let tries = if splits == MAX_SPLITS { MAX_SPLITS as usize } else { 1 };
    let Some(splits) = splits.checked_sub(1) else { return sum };
    let closer = |all: (i64, i64), one: (i64, i64)| (all.0.max(one.0), all.1.min(one.1));
    let Some(first) = split_at_max(dim, 0) else {
        return closer(sum, quotient_range(dim, of_symbol, splits));
    };
    let others = (1..tries).filter_map(|number| split_at_max(dim, number));
    let at_each = std::iter::once(first).chain(others);
    at_each.fold(sum, |all, split| closer(all, split_range(&split, of_symbol, splits)))
}

fn split_range(split: &Split, of_symbol: &dyn Fn(&str) -> (i64, i64), splits: u32) -> (i64, i64) {
    let [a, b] = split.with_either.each_ref().map(|dim| range(dim, of_symbol, splits));
    match split.cofactor.as_ref().map(|cofactor| range(cofactor, of_symbol, 0)) {
        // The larger of the two, or the smaller.
        Some((0.., _)) => (a.0.max(b.0), a.1.max(b.1)),
        Some((_, ..=0)) => (a.0.min(b.0), a.1.min(b.1)),
        _ => (a.0.min(b.0), a.1.max(b.1)),
    }
}

/// From `k * floordiv(x, k) = x - mod(x, k)`, for the first quotient beside other symbols.
fn quotient_range(dim: &Dim, of_symbol: &dyn Fn(&str) -> (i64, i64), splits: u32) -> (i64, i64) {
    let anything = (i64::MIN, i64::MAX);
    let terms = dim.as_terms();
    let quotient = terms.iter().find_map(|(monomial, c)| match monomial.as_slice() {
        [Atom::FloorDiv(x, k)] => Some((monomial, *c, x, k.as_const()?)),
        _ => None,
    });
    let Some((monomial, c, x, k)) =
        quotient.filter(|(_, c, _, k)| (1..EXACT >> 28).contains(k) && c.unsigned_abs() < 1 << 28)
    else {
        return anything;
    };
    let others = terms.iter().filter(|(other, _)| other != monomial).cloned().collect();
    let others = Dim::from_terms(others);
    if others.as_const().is_some() {
        return anything;
    }
    let (low, high) = range(&(x.clone().times(c) + others.times(k)), of_symbol, splits);
    let remainder = c * (k - 1);
    let (low, high) = (low.saturating_sub(remainder.max(0)), high.saturating_sub(remainder.min(0)));
    let is_exact = |bound: i64| (-EXACT..EXACT).contains(&bound);
    (
        if is_exact(low) { -(-low).div_euclid(k) } else { i64::MIN },
        if is_exact(high) { high.div_euclid(k) } else { i64::MAX },
    )
}

fn mul_bounds(a: (i64, i64), b: (i64, i64)) -> (i64, i64) {
    let corners =
        [a.0.saturating_mul(b.0), a.0.saturating_mul(b.1), a.1.saturating_mul(b.0), a.1.saturating_mul(b.1)];
    let min = corners.into_iter().min().expect("invariant: four corners");
    let max = corners.into_iter().max().expect("invariant: four corners");
    (min, max)
}

fn atom_bounds(atom: &Atom, of_symbol: &dyn Fn(&str) -> (i64, i64), splits: u32) -> (i64, i64) {
    let range = |dim: &Dim| range(dim, of_symbol, splits);
    match atom {
        Atom::Symbol(name) => of_symbol(name),
        Atom::FloorDiv(a, b) => {
            let (a, b) = (range(a), range(b));
            if b.0 <= 0 || b.1 < b.0 {
                return (i64::MIN, i64::MAX);
            }
            let quotient = |x, y| floor_div_i64(x, y).expect("invariant: the divisor is positive");
            let low = quotient(a.0, b.0).min(quotient(a.0, b.1));
            let high = quotient(a.1, b.0).max(quotient(a.1, b.1));
            (low, high)
        }
        Atom::Mod(a, b) => {
            let (a, b) = (range(a), range(b));
            if b.0 <= 0 {
                return (i64::MIN, i64::MAX);
            }
            if a.0 >= 0 { (0, a.1.min(b.1 - 1)) } else { (0, b.1 - 1) }
        }
        Atom::Max(a, b) => {
            let (a, b) = (range(a), range(b));
            (a.0.max(b.0), a.1.max(b.1))
        }
    }
}

/// The largest divisor that the form shows; 0 stands for "divisible by all" (the size is 0).
pub(super) fn known_divisor(dim: &Dim, of_symbol: &dyn Fn(&str) -> i64) -> i64 {
    divisor(dim, of_symbol, MAX_SPLITS)
}

fn divisor(dim: &Dim, of_symbol: &dyn Fn(&str) -> i64, splits: u32) -> i64 {
    let inner = splits.saturating_sub(1);
    let of_terms = dim.terms().into_iter().fold(0, |divisor_so_far, (coefficient, monomial)| {
        let term = monomial.iter().fold(coefficient.saturating_abs(), |product, atom| {
            product.saturating_mul(match atom {
                Atom::Symbol(name) => of_symbol(name).max(1),
                Atom::Max(a, b) => gcd(divisor(a, of_symbol, inner), divisor(b, of_symbol, inner)).max(1),
                Atom::FloorDiv(..) | Atom::Mod(..) => 1,
            })
        });
        gcd(divisor_so_far, term)
    });
    if splits == 0 || of_terms == 0 {
        return of_terms;
    }
    let Some(split) = split_at_max(dim, 0) else { return of_terms };
    let [a, b] = split.with_either.each_ref().map(|dim| divisor(dim, of_symbol, inner));
    match gcd(a, b) {
        0 => 0,
        either => either.max(of_terms),
    }
}

pub(super) fn grows_with(dim: &Dim, varies: &dyn Fn(&str) -> bool) -> bool {
    grows(dim, varies, MAX_SPLITS)
}

fn grows(dim: &Dim, varies: &dyn Fn(&str) -> bool, splits: u32) -> bool {
    let inner = splits.saturating_sub(1);
    let is_fixed = |dim: &Dim| {
        let mut fixed = true;
        dim.for_each_symbol(&mut |name| fixed &= !varies(name));
        fixed
    };
    let of_terms = dim.terms().iter().all(|(coefficient, monomial)| {
        let fixed = monomial.iter().all(|atom| is_fixed(&Dim::atom(atom.clone())));
        // Sizes are not negative: products grow with their factors.
        let grows = |atom: &Atom| match atom {
            Atom::Symbol(_) => true,
            Atom::FloorDiv(a, b) => b.as_const().is_some_and(|b| b > 0) && grows(a, varies, inner),
            Atom::Max(a, b) => grows(a, varies, inner) && grows(b, varies, inner),
            Atom::Mod(..) => is_fixed(&Dim::atom(atom.clone())),
        };
        fixed || (*coefficient >= 0 && monomial.iter().all(grows))
    });
    of_terms
        || splits > 0
            && split_at_max(dim, 0)
                .is_some_and(|split| split.with_either.iter().all(|dim| grows(dim, varies, inner)))
}

pub(super) fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
