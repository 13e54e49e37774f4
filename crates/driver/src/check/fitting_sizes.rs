//! Sizes at which a model can be checked, where nobody gives them.
//!
//! Before: a verified program as it was imported, and the sizes that are given.  After: a size for each open dim of an
//! input, so that the model's assertions on sizes hold and, where that can be, no tensor is empty.
//! Method: depth-first search with backtracking (Knuth, TAOCP 4B, 7.2.2), apart for dims that no condition joins. The
//! smallest sizes above 1 come first: at 1 a wrong stride or broadcast does not show.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tegula_base::{Diagnostic, Dim, SymbolInfo};
use tegula_tensor::{TensorFunc, TensorOp, TensorProgram};

/// Tried for a dim that is not the last of an assertion: small sizes, then usual sides of images and lengths of audio.
const TRIED: &[i64] = &[
    2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 224, 256, 320, 384,
    512, 640, 768, 1024, 1600, 2048, 3200, 4096, 8000, 16_000, 32_000, 48_000,
];
/// Tried for the last dim of an assertion, which the other sizes mostly decide: all sizes up to this one.
const MOST_TRIED: i64 = 4096;
/// Sizes that are tried before the search gives up: some seconds.
const MOST_STEPS: usize = 1_000_000;

/// A size for each open dim of the inputs that `given` lacks.
/// Errors: `no-sizes`, with an assertion that fails; a model may have sizes that are not tried.
pub fn fitting_sizes(
    program: &TensorProgram,
    given: &BTreeMap<String, i64>,
) -> Result<BTreeMap<String, i64>, Diagnostic> {
    let func = program.entry();
    let mut open: Vec<Arc<str>> = vec![];
    for dim in func.args(func.body()).iter().flat_map(|arg| func.ty(*arg).shape.iter()) {
        dim.for_each_symbol(&mut |name| {
            if !given.contains_key(&**name) && !open.contains(name) {
                open.push(name.clone());
            }
        });
    }
    let mut conditions = conditions(func);
    conditions.retain(|condition| {
        let is_known = |name: &Arc<str>| open.contains(name) || given.contains_key(&**name);
        condition.symbols.iter().all(is_known) && condition.symbols.iter().any(|name| open.contains(name))
    });
    let search = |strictest: Strictness| {
        let conditions = conditions.iter().filter(|one| one.strictness <= strictest).collect();
        Search::new(program, given, conditions).run(&open)
    };
    search(Strictness::Wished).or_else(|_| search(Strictness::Asserted))
}

/// How much a condition matters, the most first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strictness {
    /// The model does not run without.
    Asserted,
    /// Extents are not 0, and assertions of branches and rounds, which may not run, hold.
    Wished,
}

/// What sizes must fulfil.
struct Condition {
    strictness: Strictness,
    kind: Kind,
    symbols: BTreeSet<Arc<str>>,
}

enum Kind {
    Equal { left: Dim, right: Dim, message: String },
    NotEmpty(Dim),
}

/// The assertions of a function, and the extents of its values outside of branches and loops.
fn conditions(func: &TensorFunc) -> Vec<Condition> {
    let mut conditions = vec![];
    let mut extents: Vec<&Dim> = Vec::new();
    for op in func.walk() {
        let is_sure = func.parent(op) == Some(func.body());
        if let TensorOp::AssertSize { left, right, message } = func.kind(op) {
            let kind = Kind::Equal { left: left.clone(), right: right.clone(), message: message.clone() };
            let strictness = if is_sure { Strictness::Asserted } else { Strictness::Wished };
            conditions.push(Condition::new(strictness, kind));
        }
        if is_sure {
            extents.extend(func.results(op).iter().flat_map(|value| func.ty(*value).shape.iter()));
        }
    }
    extents.sort();
    extents.dedup();
    let open = extents.into_iter().filter(|dim| dim.as_const().is_none());
    conditions.extend(open.map(|dim| Condition::new(Strictness::Wished, Kind::NotEmpty(dim.clone()))));
    conditions
}

impl Condition {
    fn new(strictness: Strictness, kind: Kind) -> Condition {
        let mut symbols = BTreeSet::new();
        let mut add = |name: &Arc<str>| {
            symbols.insert(name.clone());
        };
        match &kind {
            Kind::Equal { left, right, .. } => {
                left.for_each_symbol(&mut add);
                right.for_each_symbol(&mut add);
            }
            Kind::NotEmpty(dim) => dim.for_each_symbol(&mut add),
        }
        Condition { strictness, kind, symbols }
    }

    fn holds(&self, sizes: &BTreeMap<String, i64>) -> bool {
        let size = |dim: &Dim| dim.eval(&|name| sizes.get(name).copied());
        match &self.kind {
            Kind::Equal { left, right, .. } => size(left).is_some_and(|left| size(right) == Some(left)),
            Kind::NotEmpty(dim) => size(dim).is_some_and(|n| n > 0),
        }
    }
}

struct Search<'a> {
    program: &'a TensorProgram,
    conditions: Vec<&'a Condition>,
    sizes: BTreeMap<String, i64>,
    steps: usize,
    /// What failed where the most sizes were chosen: how many, the condition, the sizes.
    furthest: Option<(usize, &'a Condition, BTreeMap<String, i64>)>,
}

impl<'a> Search<'a> {
    fn new(
        program: &'a TensorProgram,
        given: &BTreeMap<String, i64>,
        conditions: Vec<&'a Condition>,
    ) -> Search<'a> {
        Search { program, conditions, sizes: given.clone(), steps: 0, furthest: None }
    }

    fn run(mut self, open: &[Arc<str>]) -> Result<BTreeMap<String, i64>, Diagnostic> {
        for name in open {
            if self.sizes.contains_key(&**name) {
                continue;
            }
            let joined = self.joined(name, open);
            (self.steps, self.furthest) = (0, None);
            if !self.choose(&joined, 0) {
                return Err(self.refusal(&joined));
            }
        }
        Ok(open.iter().map(|name| (name.to_string(), self.sizes[&**name])).collect())
    }

    /// The open dims that conditions join to one, each behind one that it shares a condition with.
    fn joined(&self, first: &Arc<str>, open: &[Arc<str>]) -> Vec<Arc<str>> {
        let mut joined = vec![first.clone()];
        let mut next = 0;
        while let Some(name) = joined.get(next).cloned() {
            next += 1;
            for condition in self.conditions.iter().filter(|condition| condition.symbols.contains(&name)) {
                let more: Vec<Arc<str>> = condition
                    .symbols
                    .iter()
                    .filter(|other| open.contains(other) && !joined.contains(other))
                    .cloned()
                    .collect();
                joined.extend(more);
            }
        }
        joined
    }

    /// Chooses the sizes of `names[at..]`.
    fn choose(&mut self, names: &[Arc<str>], at: usize) -> bool {
        let Some(name) = names.get(at) else { return true };
        let is_settled = |other: &Arc<str>| !names[at + 1..].contains(other);
        let settled: Vec<&Condition> = self
            .conditions
            .iter()
            .copied()
            .filter(|one| one.symbols.contains(name) && one.symbols.iter().all(is_settled))
            .collect();
        let is_decided = settled.iter().any(|condition| matches!(condition.kind, Kind::Equal { .. }));
        let tried = if is_decided { (2..=MOST_TRIED).collect() } else { TRIED.to_vec() };
        for size in tried.into_iter().chain([1]) {
            if !self.program.symbols.get(name).is_none_or(|info| is_in_range(size, info)) {
                continue;
            }
            self.steps += 1;
            if self.steps > MOST_STEPS {
                break;
            }
            self.sizes.insert(name.to_string(), size);
            match settled.iter().find(|condition| !condition.holds(&self.sizes)) {
                None if self.choose(names, at + 1) => return true,
                None => {}
                Some(failing) if self.furthest.as_ref().is_none_or(|(most, ..)| *most < at) => {
                    self.furthest = Some((at, failing, self.sizes.clone()));
                }
                Some(_) => {}
            }
        }
        self.sizes.remove(&**name);
        false
    }

    fn refusal(&self, names: &[Arc<str>]) -> Diagnostic {
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let message =
            format!("no sizes of {} are found at which the model's assertions hold", quoted.join(", "));
        let asked: Vec<String> = names.iter().map(|name| format!("`--dim {name}=N`")).collect();
        let found = Diagnostic::error("no-sizes", message).help(format!("give them: {}", asked.join(" ")));
        let Some((_, condition, sizes)) = &self.furthest else { return found };
        let Kind::Equal { left, right, message } = &condition.kind else { return found };
        let at: Vec<String> = condition
            .symbols
            .iter()
            .filter_map(|name| Some(format!("{name}={}", sizes.get(&**name)?)))
            .collect();
        let size = |dim: &Dim| match dim.eval(&|name| sizes.get(name).copied()) {
            Some(n) if dim.as_const().is_none() => format!("{dim} is {n}"),
            Some(n) => format!("the other side is {n}"),
            None => format!("{dim} has no value"),
        };
        found.note(format!(
            "one that fails, at {}: {message}: {}, {}",
            at.join(", "),
            size(left),
            size(right)
        ))
    }
}

fn is_in_range(size: i64, info: &SymbolInfo) -> bool {
    (info.min..=info.max).contains(&size) && size % info.divisor.max(1) == 0
}
