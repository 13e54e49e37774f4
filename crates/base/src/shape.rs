//! The extents of a tensor: static rank, dims constant or symbolic.

mod recent;

use crate::Dim;
use crate::dim::Atom;
use smallvec::SmallVec;
use std::fmt;
use std::ops::{Deref, DerefMut, Mul};
use std::sync::{Arc, LazyLock};

/// Dims, outermost first. Rank 0 is a scalar.
/// Values, types and ops of one shape share its memory: few shapes stand in a program, in very many places.
#[derive(Clone, Eq, PartialOrd, Ord, Hash)]
#[allow(clippy::derived_hash_with_manual_eq, reason = "equality is the derived one, with a short way")]
pub struct Shape(Arc<[Dim]>);

static SCALAR: LazyLock<Shape> = LazyLock::new(|| Shape(Arc::new([])));

impl Shape {
    pub fn scalar() -> Shape {
        SCALAR.clone()
    }

    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The product of the dims; 1 for a scalar.
    pub fn count(&self) -> Dim {
        let (mut known, mut open) = (1i64, Dim::from(1));
        for dim in self.iter() {
            match dim.as_const() {
                Some(n) => known = known.saturating_mul(n),
                None => open = open * dim.clone(),
            }
        }
        open * Dim::from(known)
    }

    /// Whether the counts of two shapes are the same product: constants and atoms of one are those of the other, in
    /// any order and grouped into dims as they may be, or a 0 stands in both. Nothing is multiplied out; `false` says
    /// nothing.
    pub fn has_factors_of(&self, other: &Shape) -> bool {
        // What stands equal at the front is most often all that is open.
        let same = self.0.iter().zip(other.0.iter()).take_while(|(a, b)| a == b).count();
        let (own, other) = (&self.0[same..], &other.0[same..]);
        if let (Some(own), Some(other)) = (known_count(own), known_count(other)) {
            return own == other;
        }
        if wide(own).eq(wide(other)) {
            return true;
        }
        equal_products(own, other) == Some(true)
    }

    /// Whether it broadcasts to `wider` whatever the sizes are: aligned at the right, each extent is 1 or equal.
    pub fn repeats_to(&self, wider: &Shape) -> bool {
        if Arc::ptr_eq(&self.0, &wider.0) {
            return true;
        }
        let Some(missing) = wider.rank().checked_sub(self.rank()) else { return false };
        self.0.iter().zip(&wider.0[missing..]).all(|(dim, wide)| dim.is_const(1) || dim == wide)
    }

    /// Whether only dims of 1 come or go, if any.
    pub fn differs_by_units(&self, other: &Shape) -> bool {
        wide(self).eq(wide(other))
    }

    /// All dims, when every one is constant and non-negative.
    pub fn as_static(&self) -> Option<Vec<usize>> {
        self.0.iter().map(|dim| dim.as_const().and_then(|n| usize::try_from(n).ok())).collect()
    }

    /// Replaces symbols by expressions, then folds.
    pub fn substitute(&self, lookup: &dyn Fn(&str) -> Option<Dim>) -> Shape {
        self.0.iter().map(|dim| dim.substitute(lookup)).collect()
    }
}

impl Dim {
    /// Whether the size is the product of others.
    pub fn is_product_of(&self, others: &[Dim]) -> bool {
        if let [only] = others {
            return self == only;
        }
        let multiplied = || others.iter().cloned().fold(Dim::from(1), Dim::mul);
        equal_products(std::slice::from_ref(self), others).unwrap_or_else(|| *self == multiplied())
    }
}

/// The product of dims that are all constant.
fn known_count(dims: &[Dim]) -> Option<i64> {
    dims.iter().try_fold(1i64, |count, dim| Some(count.saturating_mul(dim.as_const()?)))
}

/// Whether two products are equal; `None`: a factor is a sum, so they must be multiplied out to tell.
fn equal_products(one: &[Dim], other: &[Dim]) -> Option<bool> {
    let ((a, atoms), (b, mut rest)) = (factors(one)?, factors(other)?);
    let mut take = |atom: &&Atom| {
        let place = rest.iter().position(|other| other == atom);
        place.inspect(|place| _ = rest.swap_remove(*place)).is_some()
    };
    Some(a == b && (a == 0 || atoms.iter().all(&mut take) && rest.is_empty()))
}

/// The dims that are not 1.
fn wide(dims: &[Dim]) -> impl Iterator<Item = &Dim> {
    dims.iter().filter(|dim| !dim.is_const(1))
}

/// The count as a constant and atoms, unless a dim is a sum.
fn factors(dims: &[Dim]) -> Option<(i64, SmallVec<[&Atom; 8]>)> {
    let (mut known, mut atoms) = (1i64, SmallVec::new());
    for dim in dims {
        let (coefficient, monomial) = dim.as_product()?;
        known = known.saturating_mul(coefficient);
        if !monomial.is_empty() {
            atoms.extend(monomial);
        }
    }
    Some((known, atoms))
}

impl Default for Shape {
    fn default() -> Shape {
        Shape::scalar()
    }
}

impl PartialEq for Shape {
    #[inline]
    fn eq(&self, other: &Shape) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl Deref for Shape {
    type Target = [Dim];
    fn deref(&self) -> &[Dim] {
        &self.0
    }
}

impl DerefMut for Shape {
    /// A shape that is shared is copied first.
    fn deref_mut(&mut self) -> &mut [Dim] {
        Arc::make_mut(&mut self.0)
    }
}

impl<D: Into<Dim>> FromIterator<D> for Shape {
    fn from_iter<I: IntoIterator<Item = D>>(dims: I) -> Shape {
        recent::shape(dims.into_iter().map(Into::into).collect())
    }
}

impl<D: Into<Dim> + Clone> From<&[D]> for Shape {
    fn from(dims: &[D]) -> Shape {
        dims.iter().cloned().collect()
    }
}

impl<D: Into<Dim>, const N: usize> From<[D; N]> for Shape {
    fn from(dims: [D; N]) -> Shape {
        dims.into_iter().collect()
    }
}

impl From<Vec<Dim>> for Shape {
    fn from(dims: Vec<Dim>) -> Shape {
        recent::shape(dims.into())
    }
}

/// `[2,batch,4*seq]`.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, dim) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            write!(f, "{dim}")?;
        }
        f.write_str("]")
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
