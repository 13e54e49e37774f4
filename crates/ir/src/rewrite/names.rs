//! Carries the names of source nodes through a replacement: whoever computes a node bears its name.
//!
//! Before: ops were built for an op that is about to go, under its name.  After: they bear the names of all ops that they
//! replace, roots those of roots.
//! A rule says nothing of it. What it matched is what stands between the op and the values that the new ops read:
//! * roots take the names of matched roots: one the other's, all of them where several become one, one each where there are as
//!   many names, the same where one becomes several;
//! * other new ops keep the name that their builder gave them, or take the names of a matched op of their kind; those before
//!   a root that several became take the name of that whose operands they make; those between new roots of several nodes take
//!   the names that are no root's;
//! * names that nobody took stand behind those of the first new root, or else of the op that gives the result. Where no new op
//!   is a root, that one stands for it and has its names.
//!
//! What is known before the run (constants, and ops on nothing else) neither bears names for others nor lends any.

use crate::op::NameRank;
use crate::{Func, Op, OpId, RegionId, Value};
use smallvec::SmallVec;
use std::sync::Arc;
use tegula_base::EntityId;

/// Names, each once.
type Names = SmallVec<[Arc<str>; 8]>;
type Ops = SmallVec<[OpId; 16]>;

/// Patterns are smaller; a longer walk has gone astray.
const MOST_MATCHED: usize = 32;
/// Names of an op that stands for no root: one that is moved past many others does not gather all of theirs.
const MOST_FUSED: usize = 12;
/// Ops that a constant that is not folded yet goes through.
const DEEPEST_DATA: usize = 6;

/// Adds the names that are not there yet.
pub fn push_names<'a>(names: &mut SmallVec<[Arc<str>; 8]>, more: impl Iterator<Item = &'a Arc<str>>) {
    for name in more {
        if !names.iter().any(|known| is_same(known, name)) {
            names.push(Arc::clone(name));
        }
    }
}

/// Ops of one node share its name in memory.
fn is_same(a: &Arc<str>, b: &Arc<str>) -> bool {
    Arc::ptr_eq(a, b) || a == b
}

/// Whether a value is known before the run: it comes from ops without a name of their own alone.
pub fn is_data<O: Op>(func: &Func<O>, value: Value) -> bool {
    is_data_within(func, value, DEEPEST_DATA)
}

fn is_data_within<O: Op>(func: &Func<O>, value: Value, deepest: usize) -> bool {
    func.def_op(value).is_some_and(|op| op_is_data(func, op, deepest))
}

fn op_is_data<O: Op>(func: &Func<O>, op: OpId, deepest: usize) -> bool {
    match func.kind(op).name_rank() {
        NameRank::None => true,
        // A kernel computes it at each run, whatever it reads.
        NameRank::Root => false,
        NameRank::Fused => {
            let operands = func.operands(op);
            deepest > 0
                && !operands.is_empty()
                && operands.iter().all(|value| is_data_within(func, *value, deepest - 1))
        }
    }
}

/// Gives the ops of `region`, those from `first_built` on, the names of what they replace: `op`, whose results are to be
/// `values`, and ops before it.
pub(super) fn carry_names<O: Op>(
    func: &mut Func<O>,
    region: RegionId,
    op: OpId,
    first_built: usize,
    values: &[Value],
) {
    if func.kind(op).name_rank() == NameRank::None || func.ops_in(region).is_empty() {
        return;
    }
    let replacement = Replacement { first_built, values };
    if func.has_one_name(op)
        && replacement.reads_all_operands(func, op)
        && (func.kind(op).name_rank() != NameRank::Root || replacement.has_root(func, region))
    {
        // The builder's name is the only one, and stands where it should.
        return;
    }
    let works = |built: &OpId| {
        built.index() >= first_built
            && func.kind(*built).name_rank() != NameRank::None
            && !op_is_data(func, *built, DEEPEST_DATA)
    };
    let built: Ops = func.ops_in(region).iter().copied().filter(works).collect();
    if built.is_empty() {
        return;
    }
    let matched = replacement.matched(func, op);
    let old = Old::of(func, &matched);
    let is_root = |op: &&OpId| func.kind(**op).name_rank() == NameRank::Root;
    let new_roots: Ops = built.iter().filter(is_root).copied().collect();
    let mut n_before = 0;
    for &new in &built {
        if func.kind(new).name_rank() == NameRank::Root {
            old.name_root(func, new, n_before, new_roots.len());
            n_before += 1;
        } else if let Some(like) = matched.iter().copied().find(|old| is_named_like(func, *old, new)) {
            func.copy_names(like, new);
        } else if new_roots.len() == 1 && old.roots.len() > 1 && n_before == 0 {
            if let Some(names) = replacement.names_of_reader(func, new, &matched) {
                func.set_names(new, &names, 0);
            }
        } else if new_roots.len() > 1 && old.root_names.len() > 1 {
            old.name_between(func, new, n_before, new_roots.len());
        }
    }
    let result = values.first().and_then(|value| func.def_op(*value)).filter(|def| built.contains(def));
    let bearer = new_roots.first().copied().or(result).unwrap_or(built[built.len() - 1]);
    old.name_rest(func, &built, bearer, new_roots.is_empty());
}

/// Whether an op has names for a new op of its kind.
fn is_named_like<O: Op>(func: &Func<O>, old: OpId, new: OpId) -> bool {
    func.op(old).location.is_some() && func.kind(old) == func.kind(new)
}

/// The names of what was matched.
struct Old<'a> {
    matched: &'a [OpId],
    roots: Ops,
    root_names: Names,
}

impl Old<'_> {
    fn of<'a, O: Op>(func: &Func<O>, matched: &'a [OpId]) -> Old<'a> {
        let mut old = Old { matched, roots: Ops::new(), root_names: Names::new() };
        for &op in matched {
            if func.names_kernel(op) && func.op(op).location.is_some() {
                old.roots.push(op);
                push_names(&mut old.root_names, func.names_of(op).take(func.root_name_count(op)));
            }
        }
        old
    }

    /// The names that are no root's; some more than once.
    fn other_names<'a, O: Op>(&'a self, func: &'a Func<O>) -> impl Iterator<Item = &'a Arc<str>> {
        self.matched.iter().flat_map(|op| func.names_of(*op).skip(func.root_name_count(*op)))
    }

    /// Names the new root that `place` others stand before.
    fn name_root<O: Op>(&self, func: &mut Func<O>, new: OpId, place: usize, n_new: usize) {
        if self.roots.len() == n_new {
            func.copy_names(self.roots[place], new);
        } else if self.root_names.len() == n_new {
            func.set_names(new, &self.root_names[place..=place], 1);
        } else if !self.root_names.is_empty() {
            func.set_names(new, &self.root_names, self.root_names.len());
        }
    }

    /// Names a new op of none of the kinds that were matched, which `place` of several new roots stand before.
    fn name_between<O: Op>(&self, func: &mut Func<O>, new: OpId, place: usize, n_new: usize) {
        let last = self.root_names.len() - 1;
        match place {
            0 => func.set_names(new, &self.root_names[..1], 0),
            _ if place == n_new => func.set_names(new, &self.root_names[last..], 0),
            _ => {
                let mut others = Names::new();
                push_names(&mut others, self.other_names(func));
                if !others.is_empty() {
                    func.set_names(new, &others, 0);
                }
            }
        }
    }

    /// Gives the names that no new op has to `bearer`.
    fn name_rest<O: Op>(&self, func: &mut Func<O>, built: &[OpId], bearer: OpId, is_root: bool) {
        let is_taken =
            |name: &Arc<str>| built.iter().any(|new| func.names_of(*new).any(|taken| is_same(taken, name)));
        let mut rest = Names::new();
        let old = self.root_names.iter().chain(self.other_names(func));
        push_names(&mut rest, old.filter(|name| !is_taken(name)));
        let takes_roots = is_root && !self.root_names.is_empty();
        if rest.is_empty() && !takes_roots {
            return;
        }
        let mut names = Names::new();
        let mut n_roots = func.root_name_count(bearer);
        if takes_roots {
            names.extend(self.root_names.iter().cloned());
            n_roots = names.len();
        }
        push_names(&mut names, func.names_of(bearer));
        push_names(&mut names, rest.iter());
        if n_roots == 0 {
            names.truncate(MOST_FUSED);
        }
        func.set_names(bearer, &names, n_roots);
    }
}

/// Ops that are built in place of others.
struct Replacement<'a> {
    first_built: usize,
    values: &'a [Value],
}

impl Replacement<'_> {
    /// Whether what is built reads a value, or it is a result. Of its users and the built ops, the fewer are looked at.
    fn reads<O: Op>(&self, func: &Func<O>, value: Value) -> bool {
        if self.values.contains(&value) {
            return true;
        }
        let (users, built) = (func.users(value), self.first_built..func.op_count());
        if users.len() <= built.len() {
            return users.iter().any(|user| user.index() >= self.first_built);
        }
        built.into_iter().any(|op| func.operands(OpId::new(op)).contains(&value))
    }

    fn has_root<O: Op>(&self, func: &Func<O>, region: RegionId) -> bool {
        let new = func.ops_in(region).iter().filter(|op| op.index() >= self.first_built);
        new.into_iter().any(|op| func.kind(*op).name_rank() == NameRank::Root)
    }

    fn reads_all_operands<O: Op>(&self, func: &Func<O>, op: OpId) -> bool {
        func.operands(op).iter().all(|value| {
            let is_constant =
                func.def_op(*value).is_some_and(|def| func.kind(def).name_rank() == NameRank::None);
            is_constant || self.reads(func, *value)
        })
    }

    /// For a new op before the root that several became: the names of the matched root that what it reads went to.
    fn names_of_reader<O: Op>(&self, func: &Func<O>, new: OpId, matched: &[OpId]) -> Option<Names> {
        for value in func.operands(new).iter().filter(|value| !is_data(func, **value)) {
            let built = func.def_op(*value).filter(|def| def.index() >= self.first_built);
            if let Some(built) = built {
                return Some(func.names_of(built).cloned().collect());
            }
            let mut reached: SmallVec<[Value; 16]> = SmallVec::from_slice(&[*value]);
            for &op in matched {
                if !func.operands(op).iter().any(|operand| reached.contains(operand)) {
                    continue;
                }
                if func.names_kernel(op) {
                    return Some(func.names_of(op).take(1).cloned().collect());
                }
                reached.extend_from_slice(func.results(op));
            }
        }
        None
    }

    /// `op`, and the ops between it and what the new ops read, in an order near the program's.
    fn matched<O: Op>(&self, func: &Func<O>, op: OpId) -> Ops {
        let mut seen = Ops::new();
        seen.push(op);
        // Whether there is a way from the op to a computed value that the new ops read.
        let mut leads: SmallVec<[bool; 16]> = SmallVec::new();
        while leads.len() < seen.len() {
            let at = seen[leads.len()];
            let mut leads_on = false;
            for value in func.operands(at) {
                let def = func.def_op(*value);
                if def.is_some_and(|def| func.kind(def).name_rank() == NameRank::None) {
                    continue;
                }
                if self.reads(func, *value) {
                    leads_on = leads_on || !is_data(func, *value);
                } else if let Some(def) = def.filter(|def| seen.len() < MOST_MATCHED && !seen.contains(def)) {
                    seen.push(def);
                }
            }
            leads.push(leads_on);
        }
        leads[0] = true;
        loop {
            let leads_on = |i: usize| {
                func.operands(seen[i]).iter().any(|value| {
                    !self.reads(func, *value)
                        && func.def_op(*value).is_some_and(|def| {
                            seen.iter().position(|op| *op == def).is_some_and(|place| leads[place])
                        })
                })
            };
            let Some(more) = (0..seen.len()).rev().find(|i| !leads[*i] && leads_on(*i)) else { break };
            leads[more] = true;
        }
        let kept = seen.into_iter().zip(leads).filter(|(_, leads)| *leads).map(|(op, _)| op);
        let mut matched: Ops = kept.collect();
        matched.reverse();
        matched
    }
}
