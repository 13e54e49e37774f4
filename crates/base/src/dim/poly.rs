//! Polynomials over atoms, with what is asked of them more often than they are made.

use super::Monomial;
use crate::hash::Mixer;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

/// `sum of coefficient * product of atoms`; sorted by monomial, no zero coefficient, constant term under the
/// empty monomial (which sorts first). All else follows from the terms.
pub(super) struct Poly {
    hash: u64,
    pub terms: Vec<(Monomial, i64)>,
    /// Atoms, those inside of others included, and terms.
    pub nodes: usize,
    /// Of quotients, remainders and extrema in each other.
    pub depth: usize,
    /// Made when first asked for.
    pub text: OnceLock<Box<str>>,
}

impl Poly {
    pub fn new(terms: Vec<(Monomial, i64)>) -> Poly {
        let (mut nodes, mut depth) = (terms.len(), 0);
        for atom in terms.iter().flat_map(|(monomial, _)| monomial) {
            nodes = nodes.saturating_add(1);
            if let Some((a, b)) = atom.parts() {
                nodes = nodes.saturating_add(a.nodes()).saturating_add(b.nodes());
                depth = depth.max(1 + a.depth().max(b.depth()));
            }
        }
        let mut mixer = Mixer::default();
        terms.hash(&mut mixer);
        Poly { hash: mixer.finish(), terms, nodes, depth, text: OnceLock::new() }
    }
}

impl PartialEq for Poly {
    fn eq(&self, other: &Poly) -> bool {
        self.hash == other.hash && self.terms == other.terms
    }
}

impl Eq for Poly {}

impl Hash for Poly {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl PartialOrd for Poly {
    fn partial_cmp(&self, other: &Poly) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Poly {
    fn cmp(&self, other: &Poly) -> Ordering {
        self.terms.cmp(&other.terms)
    }
}
