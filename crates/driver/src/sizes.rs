//! Formulas of a package at the sizes that a user gives.

use std::collections::{BTreeMap, BTreeSet};
use tegula_base::Dim;

/// Sizes by name; those that are asked for and not given count as 1, and are noted.
pub(crate) struct AtSizes<'a> {
    given: &'a BTreeMap<String, i64>,
    pub(crate) made_up: BTreeSet<String>,
}

impl<'a> AtSizes<'a> {
    pub(crate) fn new(given: &'a BTreeMap<String, i64>) -> AtSizes<'a> {
        AtSizes { given, made_up: BTreeSet::new() }
    }

    /// 0 where the formula has no value there.
    pub(crate) fn number(&mut self, dim: &Dim) -> i64 {
        dim.for_each_symbol(&mut |name| {
            if !self.given.contains_key(&**name) {
                self.made_up.insert(name.to_string());
            }
        });
        dim.eval(&|name| Some(self.given.get(name).copied().unwrap_or(1))).unwrap_or(0)
    }
}
