//! What is known of each size symbol: its range, its divisor, where its value comes from at run time.

use crate::Dim;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where a symbol gets its value when a program runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The extent of dim `axis` of program input `input`.
    Input { input: u32, axis: u32 },
    /// Computed by the program while it runs (NonZero, NMS, Loop outputs ...); never above `upper`.
    Data { upper: Dim },
    /// How much what loops carry may grow, in elements of an axis, where nothing bounds the loops. Who runs the program chooses
    /// it: a run that needs more fails with [`SymbolInfo::GROWTH`], and is done again with twice as much.
    Growth,
}

/// Facts that hold for every run; the host program asserts those that the user's input could break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolInfo {
    pub origin: Origin,
    /// Smallest value, at least 0.
    pub min: i64,
    /// Largest value; sizes above `i32::MAX` elements a dim are refused at run time.
    pub max: i64,
    /// The value is a multiple of this (at least 1).
    pub divisor: i64,
}

impl SymbolInfo {
    /// The bound on any one dim; see `max`.
    pub const MAX: i64 = i32::MAX as i64;

    /// The first value of a symbol of [`Origin::Growth`]: small, since memory of that much is there in each run.
    pub const FIRST_GROWTH: i64 = 64;

    /// The code of the error of a run in which a loop's value grows further than symbols of [`Origin::Growth`] say.
    pub const GROWTH: &'static str = "growth";

    pub fn growth() -> SymbolInfo {
        SymbolInfo { origin: Origin::Growth, min: 1, max: Self::MAX, divisor: 1 }
    }

    pub fn input(input: u32, axis: u32) -> SymbolInfo {
        SymbolInfo { origin: Origin::Input { input, axis }, min: 0, max: Self::MAX, divisor: 1 }
    }

    /// Whether the value is the extent of an input, as against one that the program computes.
    pub fn is_input(&self) -> bool {
        matches!(self.origin, Origin::Input { .. })
    }

    pub fn data(upper: Dim) -> SymbolInfo {
        SymbolInfo { origin: Origin::Data { upper }, min: 0, max: Self::MAX, divisor: 1 }
    }
}

/// The symbols of one program, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Symbols(pub BTreeMap<Arc<str>, SymbolInfo>);

impl Symbols {
    pub fn get(&self, name: &str) -> Option<&SymbolInfo> {
        self.0.get(name)
    }

    pub fn insert(&mut self, name: &str, info: SymbolInfo) {
        self.0.insert(name.into(), info);
    }

    /// The names of the symbols of [`Origin::Growth`].
    pub fn growths(&self) -> impl Iterator<Item = &Arc<str>> {
        self.0.iter().filter(|(_, info)| info.origin == Origin::Growth).map(|(name, _)| name)
    }

    /// Whether a size hangs on how much loops may grow.
    pub fn grows(&self, dim: &Dim) -> bool {
        let mut grows = false;
        dim.for_each_symbol(&mut |name| {
            grows |= self.get(name).is_some_and(|info| info.origin == Origin::Growth);
        });
        grows
    }

    /// A name not yet taken, from `stem`: `stem`, `stem_1`, ... Only letters, digits and `_` survive.
    pub fn fresh_name(&self, stem: &str) -> Arc<str> {
        let clean = Dim::symbol_name(stem);
        if !self.0.contains_key(clean.as_str()) {
            return clean.into();
        }
        let is_taken = |n: u64| self.0.contains_key(format!("{clean}_{n}").as_str());
        // Taken numbers mostly follow each other: between a taken one and a free one, by halves.
        let mut free = 1;
        while is_taken(free) {
            free *= 2;
        }
        let mut taken = free / 2;
        while free - taken > 1 {
            let middle = taken + (free - taken) / 2;
            if is_taken(middle) { taken = middle } else { free = middle }
        }
        format!("{clean}_{free}").into()
    }

    /// Inclusive bounds of an expression under these facts; unknown symbols count as 0..=[`SymbolInfo::MAX`].
    pub fn bounds(&self, dim: &Dim) -> (i64, i64) {
        dim.bounds(&|name| self.get(name).map_or((0, SymbolInfo::MAX), |info| (info.min, info.max)))
    }

    /// Whether `dim` is a multiple of `divisor` in every run.
    pub fn divides(&self, divisor: i64, dim: &Dim) -> bool {
        dim.is_multiple_of(divisor, &|name| self.get(name).map_or(1, |info| info.divisor))
            || divisor > 1 && self.in_units(dim).is_multiple_of(divisor, &|_| 1)
    }

    /// The expression with each symbol counted in units of its divisor, so that quotients that leave no rest are
    /// known: of `k`, a multiple of 128, `k floordiv 2` becomes `64 k`. Only compares with others of its kind.
    pub fn in_units(&self, dim: &Dim) -> Dim {
        dim.substitute(&|name| {
            let divisor = self.get(name)?.divisor;
            (divisor > 1).then(|| Dim::symbol(name) * Dim::from(divisor))
        })
    }
}
