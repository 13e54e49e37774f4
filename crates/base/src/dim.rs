//! Symbolic sizes in canonical form, so that equal sizes compare equal.
//!
//! A [`Dim`] is a constant or a polynomial over *atoms* (symbols, floor quotients, remainders, maxima) with
//! integer coefficients, terms sorted. `+ - *` expand; `floordiv` and `mod` by a positive constant move out every
//! term that divides evenly; minima and maxima have one form (`extremum`). What the form cannot prove equal becomes a run-time assert elsewhere.
//! Arithmetic saturates: sizes near `i64::MAX` are refused when values are bound. Sums and products of expressions
//! are as large as both together, however often they are multiplied: see [`MAX_EXPANDED`].

mod bounds;
mod extremum;
mod fold;
mod poly;
mod text;

pub use text::DimReader;

use poly::Poly;
use std::sync::Arc;

/// A size: number of elements, an offset, or an index bound.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dim(Repr);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Repr {
    Const(i64),
    /// At least one non-constant term.
    Poly(Arc<Poly>),
}

/// A product of atoms, sorted, repetition for powers.
pub(crate) type Monomial = Vec<Atom>;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    Symbol(Arc<str>),
    /// Rounds towards negative infinity.
    FloorDiv(Dim, Dim),
    /// Sign of the divisor.
    Mod(Dim, Dim),
    /// Of 0 and a size, unless they are large: see `extremum`.
    Max(Dim, Dim),
}

/// Sizes of real models stay below 100 nodes and a depth of 10. Text is read twice as deep, so that what the compiler
/// derives from a size can be read again.
const MAX_NODES: usize = 1024;
const MAX_DEPTH: usize = 64;

/// Products of sums are expanded up to so many nodes. A larger product keeps each sum in one piece, as the quotient
/// `floordiv(sum, 1)`.
const MAX_EXPANDED: usize = 2048;

impl Dim {
    /// A symbol by its name; `name` must be a [`Dim::symbol_name`].
    pub fn symbol(name: &str) -> Dim {
        Dim::atom(Atom::Symbol(name.into()))
    }

    /// The nearest legal symbol name: letters, digits and `_`, not starting with a digit.
    pub fn symbol_name(text: &str) -> String {
        let mut name: String =
            text.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
        let reserved = matches!(name.as_str(), "" | "floordiv" | "mod" | "min" | "max");
        if reserved || name.starts_with(|c: char| c.is_ascii_digit()) {
            name.insert(0, 's');
        }
        name
    }

    pub fn as_const(&self) -> Option<i64> {
        match self.0 {
            Repr::Const(n) => Some(n),
            Repr::Poly(_) => None,
        }
    }

    /// The symbol's name when the dim is just that symbol.
    pub fn as_symbol(&self) -> Option<&str> {
        match &self.0 {
            Repr::Poly(poly) => match poly.terms.as_slice() {
                [(monomial, 1)] => match monomial.as_slice() {
                    [Atom::Symbol(name)] => Some(name),
                    _ => None,
                },
                _ => None,
            },
            Repr::Const(_) => None,
        }
    }

    pub fn is_const(&self, n: i64) -> bool {
        self.as_const() == Some(n)
    }

    pub fn floor_div(&self, divisor: &Dim) -> Dim {
        fold::floor_div(self, divisor)
    }

    pub fn ceil_div(&self, divisor: &Dim) -> Dim {
        if let (Some(n), Some(divisor @ 1..)) = (self.as_const(), divisor.as_const()) {
            // The sum below may saturate.
            return Dim::from(n.div_euclid(divisor).saturating_add(i64::from(n.rem_euclid(divisor) != 0)));
        }
        (self.clone() + divisor.clone() - Dim::from(1)).floor_div(divisor)
    }

    pub fn modulo(&self, divisor: &Dim) -> Dim {
        fold::modulo(self, divisor)
    }

    pub fn minimum(&self, other: &Dim) -> Dim {
        extremum::extremum(self, other, false)
    }

    pub fn maximum(&self, other: &Dim) -> Dim {
        extremum::extremum(self, other, true)
    }

    /// `self / divisor` when that holds for every value of the symbols (divisor not zero).
    pub fn div_exact(&self, divisor: &Dim) -> Option<Dim> {
        fold::div_exact(self, divisor)
    }

    /// The value under a binding; `None` when a symbol is unbound, a divisor is 0 or a number overflows.
    pub fn eval(&self, lookup: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        match &self.0 {
            Repr::Const(n) => Some(*n),
            Repr::Poly(poly) => {
                let mut sum = 0i64;
                for (monomial, coefficient) in &poly.terms {
                    let mut product = *coefficient;
                    for atom in monomial {
                        product = product.checked_mul(atom.eval(lookup)?)?;
                    }
                    sum = sum.checked_add(product)?;
                }
                Some(sum)
            }
        }
    }

    /// Replaces symbols by sizes, then folds; a symbol without replacement stays.
    pub fn substitute(&self, lookup: &dyn Fn(&str) -> Option<Dim>) -> Dim {
        let Repr::Poly(poly) = &self.0 else { return self.clone() };
        Dim::sum(poly.terms.iter().map(|(monomial, coefficient)| {
            let atoms = monomial.iter().map(|atom| atom.substitute(lookup));
            Dim::product(std::iter::once(Dim::from(*coefficient)).chain(atoms).collect())
        }))
    }

    /// Calls `f` with each symbol's name, repeats included.
    pub fn for_each_symbol(&self, f: &mut dyn FnMut(&Arc<str>)) {
        let Repr::Poly(poly) = &self.0 else { return };
        for atom in poly.terms.iter().flat_map(|(monomial, _)| monomial) {
            match atom {
                Atom::Symbol(name) => f(name),
                Atom::FloorDiv(a, b) | Atom::Mod(a, b) | Atom::Max(a, b) => {
                    a.for_each_symbol(f);
                    b.for_each_symbol(f);
                }
            }
        }
    }

    /// How much there is to walk: terms, and atoms with those inside of them.
    pub fn nodes(&self) -> usize {
        match &self.0 {
            Repr::Const(_) => 1,
            Repr::Poly(poly) => poly.nodes,
        }
    }

    /// How deep quotients, remainders and extrema nest.
    pub fn depth(&self) -> usize {
        match &self.0 {
            Repr::Const(_) => 0,
            Repr::Poly(poly) => poly.depth,
        }
    }

    /// Whether the size is larger or nests deeper than sizes of models do: importers refuse it, as everything that is
    /// derived from it would cost its size again.
    pub fn is_unwieldy(&self) -> bool {
        self.nodes() > MAX_NODES || self.depth() > MAX_DEPTH
    }

    fn n_terms(&self) -> usize {
        match &self.0 {
            Repr::Const(_) => 1,
            Repr::Poly(poly) => poly.terms.len(),
        }
    }

    /// A dim of one term and the same value.
    fn in_one_piece(self) -> Dim {
        if self.n_terms() == 1 { self } else { Dim::atom(Atom::FloorDiv(self, Dim::from(1))) }
    }

    /// Inclusive bounds given inclusive bounds of the symbols.
    pub fn bounds(&self, of_symbol: &dyn Fn(&str) -> (i64, i64)) -> (i64, i64) {
        bounds::bounds(self, of_symbol)
    }

    /// Whether the size is a multiple of `divisor` given a divisor of each symbol.
    pub fn is_multiple_of(&self, divisor: i64, of_symbol: &dyn Fn(&str) -> i64) -> bool {
        divisor == 1 || (divisor > 1 && bounds::known_divisor(self, of_symbol) % divisor == 0)
    }

    /// Whether the size is the same or larger where symbols that `varies` names are larger; `false` may only mean that
    /// this is not seen.
    pub fn grows_with(&self, varies: &dyn Fn(&str) -> bool) -> bool {
        bounds::grows_with(self, varies)
    }

    /// The terms as `(coefficient, atoms)`, constant term (no atoms) first when there is one.
    pub fn terms(&self) -> Vec<(i64, &[Atom])> {
        match &self.0 {
            Repr::Const(0) => vec![],
            Repr::Const(n) => vec![(*n, &[])],
            Repr::Poly(poly) => poly.terms.iter().map(|(m, c)| (*c, m.as_slice())).collect(),
        }
    }

    /// The sum of all parts, sorted once.
    fn sum(parts: impl Iterator<Item = Dim>) -> Dim {
        Dim::from_terms(parts.flat_map(|part| part.to_terms()).collect())
    }

    /// The product of all factors: atoms are sorted once, sums are multiplied out when that stays small.
    fn product(factors: Vec<Dim>) -> Dim {
        let (mut coefficient, mut atoms, mut sums) = (1i64, Monomial::new(), Vec::new());
        for factor in factors {
            match factor.as_product() {
                Some((n, more)) => {
                    coefficient = coefficient.saturating_mul(n);
                    atoms.extend_from_slice(more);
                }
                None => sums.push(factor),
            }
        }
        sums.sort();
        let expanded = sums.iter().try_fold(Dim::from(1), |product, sum| {
            (!product.expands_far(sum)).then(|| product * sum.clone())
        });
        if expanded.is_none() {
            atoms.extend(sums.into_iter().map(|sum| Atom::FloorDiv(sum, Dim::from(1))));
        }
        atoms.sort();
        Dim::from_terms(vec![(atoms, coefficient)]) * expanded.unwrap_or(Dim::from(1))
    }

    /// Whether each of two sums stays in one piece in their product.
    fn expands_far(&self, other: &Dim) -> bool {
        let expanded = self
            .n_terms()
            .saturating_mul(other.nodes())
            .saturating_add(other.n_terms().saturating_mul(self.nodes()));
        let plain = self.as_const().is_some() || other.as_const().is_some();
        expanded > MAX_EXPANDED && !plain && (self.n_terms() > 1 || other.n_terms() > 1)
    }

    /// The coefficient and atoms of a dim that is no sum.
    pub(crate) fn as_product(&self) -> Option<(i64, &[Atom])> {
        match &self.0 {
            Repr::Const(n) => Some((*n, &[])),
            Repr::Poly(poly) => match poly.terms.as_slice() {
                [(monomial, coefficient)] => Some((*coefficient, monomial)),
                _ => None,
            },
        }
    }

    /// The order of terms stays, so that nothing needs sorting.
    fn times(self, n: i64) -> Dim {
        match self.0 {
            Repr::Const(m) => Dim::from(m.saturating_mul(n)),
            Repr::Poly(_) if n == 0 => Dim::from(0),
            Repr::Poly(poly) if n == 1 => Dim(Repr::Poly(poly)),
            Repr::Poly(poly) => {
                let scaled = |(monomial, m): &(Monomial, i64)| (monomial.clone(), m.saturating_mul(n));
                Dim(Repr::Poly(Arc::new(Poly::new(poly.terms.iter().map(scaled).collect()))))
            }
        }
    }

    fn atom(atom: Atom) -> Dim {
        Dim(Repr::Poly(Arc::new(Poly::new(vec![(vec![atom], 1)]))))
    }

    fn from_terms(mut terms: Vec<(Monomial, i64)>) -> Dim {
        if let [(monomial, coefficient)] = terms.as_slice()
            && *coefficient != 0
            && !monomial.is_empty()
        {
            return Dim(Repr::Poly(Arc::new(Poly::new(terms))));
        }
        terms.sort();
        let mut merged: Vec<(Monomial, i64)> = Vec::with_capacity(terms.len());
        for (monomial, coefficient) in terms {
            match merged.last_mut() {
                Some((last, sum)) if *last == monomial => *sum = sum.saturating_add(coefficient),
                _ => merged.push((monomial, coefficient)),
            }
        }
        merged.retain(|(_, coefficient)| *coefficient != 0);
        match merged.as_slice() {
            [] => Dim::from(0),
            [(monomial, n)] if monomial.is_empty() => Dim::from(*n),
            _ => Dim(Repr::Poly(Arc::new(Poly::new(merged)))),
        }
    }

    /// The terms of a dim that is no constant; none of a constant.
    fn as_terms(&self) -> &[(Monomial, i64)] {
        match &self.0 {
            Repr::Const(_) => &[],
            Repr::Poly(poly) => &poly.terms,
        }
    }

    fn to_terms(&self) -> Vec<(Monomial, i64)> {
        match &self.0 {
            Repr::Const(0) => vec![],
            Repr::Const(n) => vec![(vec![], *n)],
            Repr::Poly(poly) => poly.terms.clone(),
        }
    }
}

impl Atom {
    /// What a quotient, remainder or extremum is of.
    fn parts(&self) -> Option<(&Dim, &Dim)> {
        match self {
            Atom::Symbol(_) => None,
            Atom::FloorDiv(a, b) | Atom::Mod(a, b) | Atom::Max(a, b) => Some((a, b)),
        }
    }

    fn eval(&self, lookup: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        match self {
            Atom::Symbol(name) => lookup(name),
            Atom::FloorDiv(a, b) => fold::floor_div_i64(a.eval(lookup)?, b.eval(lookup)?),
            Atom::Mod(a, b) => fold::modulo_i64(a.eval(lookup)?, b.eval(lookup)?),
            Atom::Max(a, b) => Some(a.eval(lookup)?.max(b.eval(lookup)?)),
        }
    }

    fn substitute(&self, lookup: &dyn Fn(&str) -> Option<Dim>) -> Dim {
        match self {
            Atom::Symbol(name) => lookup(name).unwrap_or_else(|| Dim::atom(self.clone())),
            Atom::FloorDiv(a, b) => a.substitute(lookup).floor_div(&b.substitute(lookup)),
            Atom::Mod(a, b) => a.substitute(lookup).modulo(&b.substitute(lookup)),
            Atom::Max(a, b) => a.substitute(lookup).maximum(&b.substitute(lookup)),
        }
    }
}

impl From<i64> for Dim {
    fn from(n: i64) -> Dim {
        Dim(Repr::Const(n))
    }
}

impl From<i32> for Dim {
    fn from(n: i32) -> Dim {
        Dim::from(i64::from(n))
    }
}

impl From<usize> for Dim {
    fn from(n: usize) -> Dim {
        Dim(Repr::Const(i64::try_from(n).unwrap_or(i64::MAX)))
    }
}

impl std::ops::Add for Dim {
    type Output = Dim;
    fn add(self, other: Dim) -> Dim {
        if let (Some(a), Some(b)) = (self.as_const(), other.as_const()) {
            return Dim::from(a.saturating_add(b));
        }
        match (self.is_const(0), other.is_const(0)) {
            (true, _) => return other,
            (_, true) => return self,
            _ => {}
        }
        let mut terms = self.to_terms();
        terms.extend(other.to_terms());
        Dim::from_terms(terms)
    }
}

impl std::ops::Neg for Dim {
    type Output = Dim;
    fn neg(self) -> Dim {
        self * Dim::from(-1)
    }
}

impl std::ops::Sub for Dim {
    type Output = Dim;
    fn sub(self, other: Dim) -> Dim {
        self + -other
    }
}

impl std::ops::Mul for Dim {
    type Output = Dim;
    fn mul(self, other: Dim) -> Dim {
        if let (Some(a), Some(b)) = (self.as_const(), other.as_const()) {
            return Dim::from(a.saturating_mul(b));
        }
        match (self.as_const(), other.as_const()) {
            (Some(n), _) => return other.times(n),
            (_, Some(n)) => return self.times(n),
            _ => {}
        }
        if self.expands_far(&other) {
            return self.in_one_piece() * other.in_one_piece();
        }
        let (left, right) = (self.as_terms(), other.as_terms());
        let mut terms = Vec::with_capacity(left.len() * right.len());
        for (one, a) in left {
            for (two, b) in right {
                let mut monomial: Monomial = Vec::with_capacity(one.len() + two.len());
                monomial.extend(one.iter().chain(two).cloned());
                monomial.sort();
                terms.push((monomial, a.saturating_mul(*b)));
            }
        }
        Dim::from_terms(terms)
    }
}

#[cfg(test)]
mod tests;
