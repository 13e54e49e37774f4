//! Size expressions under known input symbols.

use super::invalid;
use std::collections::HashMap;
use tegula_base::{Diagnostic, Dim};
use tegula_package::HostProgram;

/// An integer, or an expression that waits for data symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    Known(i64),
    /// An index into `Bound::late_sizes`.
    Late(u32),
}

impl Size {
    pub(crate) fn known(self) -> Option<i64> {
        match self {
            Size::Known(n) => Some(n),
            Size::Late(_) => None,
        }
    }
}

/// Evaluates what can be known before the run and collects the rest.
pub(crate) struct Sizes<'a> {
    names: &'a HashMap<String, usize>,
    values: &'a [Option<i64>],
    pub(crate) late: Vec<Dim>,
}

impl<'a> Sizes<'a> {
    pub(crate) fn new(names: &'a HashMap<String, usize>, values: &'a [Option<i64>]) -> Sizes<'a> {
        Sizes { names, values, late: Vec::new() }
    }

    /// A size that may be negative. Errors: it overflows or divides by zero.
    pub(crate) fn size(&mut self, dim: &Dim, what: impl Fn() -> String) -> Result<Size, Diagnostic> {
        if let Some(n) = dim.as_const() {
            return Ok(Size::Known(n));
        }
        let lookup = |name: &str| self.values[*self.names.get(name)?];
        if let Some(n) = dim.eval(&lookup) {
            return Ok(Size::Known(n));
        }
        let mut unbound = false;
        dim.for_each_symbol(&mut |name| unbound |= lookup(name).is_none());
        if !unbound {
            return Err(undefined(dim, &what()));
        }
        self.late.push(dim.substitute(&|name| lookup(name).map(Dim::from)));
        Ok(Size::Late(self.late.len() as u32 - 1))
    }

    /// A size that is not negative.
    pub(crate) fn extent(&mut self, dim: &Dim, what: impl Fn() -> String) -> Result<Size, Diagnostic> {
        let size = self.size(dim, &what)?;
        match size {
            Size::Known(n) if n < 0 => Err(negative(n, dim, &what())),
            _ => Ok(size),
        }
    }
}

/// Inclusive bounds of each symbol, by index, when some have values. Bounds use earlier symbols only, so one walk gives
/// them all.
pub(crate) fn symbol_bounds(
    program: &HostProgram,
    names: &HashMap<String, usize>,
    values: &[Option<i64>],
) -> Vec<(i64, i64)> {
    let mut bounds: Vec<(i64, i64)> = Vec::with_capacity(values.len());
    for (facts, value) in program.symbols.iter().zip(values) {
        let of_symbol = |name: &str| names.get(name).map_or((0, i64::MAX), |at| bounds[*at]);
        let upper = facts.upper.as_ref().map_or(i64::MAX, |upper| upper.bounds(&of_symbol).1);
        bounds.push(match value {
            Some(value) => (*value, *value),
            None => (facts.min, facts.max.min(upper).max(facts.min)),
        });
    }
    bounds
}

pub(crate) fn undefined(dim: &Dim, what: &str) -> Diagnostic {
    invalid(format!("the size of {what} is not defined at these shapes"))
        .note(format!("`{dim}` overflows or divides by zero"))
}

pub(crate) fn negative(n: i64, dim: &Dim, what: &str) -> Diagnostic {
    Diagnostic::error("shape-mismatch", format!("the size of {what} would be {n} at these shapes"))
        .note(format!("it is `{dim}`"))
}
