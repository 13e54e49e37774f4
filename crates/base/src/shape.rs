//! The extents of a tensor: static rank, dims constant or symbolic.

use crate::Dim;
use smallvec::SmallVec;
use std::fmt;
use std::ops::{Deref, DerefMut};

/// Dims, outermost first. Rank 0 is a scalar.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shape(pub SmallVec<[Dim; 4]>);

impl Shape {
    pub fn scalar() -> Shape {
        Shape::default()
    }

    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The product of the dims; 1 for a scalar.
    pub fn count(&self) -> Dim {
        let (mut known, mut open) = (1i64, Dim::from(1));
        for dim in &self.0 {
            match dim.as_const() {
                Some(n) => known = known.saturating_mul(n),
                None => open = open * dim.clone(),
            }
        }
        open * Dim::from(known)
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

impl Deref for Shape {
    type Target = [Dim];
    fn deref(&self) -> &[Dim] {
        &self.0
    }
}

impl DerefMut for Shape {
    fn deref_mut(&mut self) -> &mut [Dim] {
        &mut self.0
    }
}

impl<D: Into<Dim>> FromIterator<D> for Shape {
    fn from_iter<I: IntoIterator<Item = D>>(dims: I) -> Shape {
        Shape(dims.into_iter().map(Into::into).collect())
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
        Shape(dims.into())
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
