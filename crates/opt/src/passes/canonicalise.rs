//! Brings ops into the forms that later passes look for, one rule at a time; the rule book is `rules/README.md`.
//!
//! Before: any verified program.  After: no rule of the tables applies (up to [`ROUNDS`]); contractions are in normal
//! form; if any rule applied, nothing is left unused. Every rule keeps results equal, bit for bit where no float is
//! computed.
//! Method: visit ops in program order, try the rules of the op's kind, first match wins; repeat while ops change, but
//! only on ops near a change (`canonicalise/near.rs`).

mod dequantised;
mod dot;
mod elementwise;
mod movement;
mod near;
mod reshape;
mod transpose;
pub(super) mod window;

use near::Near;
use std::cell::{Cell, OnceCell};
use tegula_base::{Diagnostic, Diagnostics, Dim, EntityId, Shape};
use tegula_ir::pass::{Changed, PassCx};
use tegula_ir::rewrite::{Rewrite, erase_unneeded, rewrite_chosen};
use tegula_ir::{ConstStore, Def, Op, OpId, RegionId, Value};
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, TensorFunc, TensorOp, TensorProgram, TensorType};

/// Rules feed each other; chains longer than this stay as they are.
const ROUNDS: usize = 16;

/// Errors: internal, when a rule builds what does not fit.
pub fn canonicalise(program: &mut TensorProgram, cx: &mut PassCx) -> Result<Changed, Diagnostics> {
    apply_rules(program, rules, cx)
}

/// The rules to try on an op of this kind.
pub(crate) type Table = fn(&TensorOp) -> &'static [Rule];

/// Applies a table of rules until none matches. After the first round only ops near a change are tried again.
pub(crate) fn apply_rules(
    program: &mut TensorProgram,
    table: Table,
    cx: &mut PassCx,
) -> Result<Changed, Diagnostics> {
    let mut changed = Changed::No;
    for func in &mut program.funcs {
        let mut near = Near::everything(func);
        for round in 0..ROUNDS {
            let first_built = func.op_count();
            let mut edits = Edits::default();
            let applied = rewrite_chosen(func, &near.ops, &mut |func, region, op| {
                if is_unused(func, op) {
                    // A rule that is given up half-way leaves dead ops behind; no rule looks at them.
                    edits.orphaned.push(op);
                    return Ok(Rewrite::Keep);
                }
                let built = func.op_count();
                let rewrite = apply_first(func, &mut program.consts, region, op, table, cx)?;
                edits.note(func, op, &rewrite);
                // The first round tries all ops anyway.
                if round > 0 {
                    near.note(func, op, built, &rewrite);
                }
                Ok(rewrite)
            })?;
            if !applied.is_yes() {
                break;
            }
            changed = Changed::Yes;
            // What a rule left without a reader must not count as one in the next round.
            let built = (first_built..func.op_count()).map(OpId::new);
            erase_unneeded(func, built.clone().chain(edits.orphaned));
            near = Near::around(func, built.chain(edits.moved));
        }
    }
    Ok(changed)
}

/// What the replacements of a round touched.
#[derive(Default)]
struct Edits {
    /// Ops that read a replaced result.
    moved: Vec<OpId>,
    /// Ops that a replaced op read, and what nobody read before.
    orphaned: Vec<OpId>,
}

impl Edits {
    fn note(&mut self, func: &TensorFunc, op: OpId, rewrite: &Rewrite) {
        if let Rewrite::Replace(_) = rewrite {
            self.moved.extend(func.users(func.result(op)));
            self.orphaned.extend(func.operands(op).iter().filter_map(|value| func.def_op(*value)));
        }
    }
}

/// An op under a rule, with a builder in front of it.
pub(crate) struct Site<'a> {
    pub b: Builder<'a>,
    pub op: OpId,
    /// A bit for each [`Source`] that an operand comes from, once a rule has asked.
    sources: OnceCell<u8>,
    /// Why a rule that had nearly matched did not, for `explain`.
    pub missed: Cell<Option<&'static str>>,
}

/// What most rules of elementwise ops look for behind an operand. Most ops have none of these, and are told so at once.
#[derive(Clone, Copy)]
pub(crate) enum Source {
    Splat = 1,
    Broadcast = 2,
    Transpose = 4,
    Reshape = 8,
}

fn sources(func: &TensorFunc, op: OpId) -> u8 {
    let defs = func.operands(op).iter().filter_map(|value| func.def_op(*value));
    let bits = defs.map(|def| match func.kind(def) {
        TensorOp::Splat { .. } => Source::Splat as u8,
        TensorOp::Broadcast { .. } => Source::Broadcast as u8,
        TensorOp::Transpose { .. } => Source::Transpose as u8,
        TensorOp::Reshape { .. } => Source::Reshape as u8,
        _ => 0,
    });
    bits.fold(0, |all, bit| all | bit)
}

/// What to use instead of the op's only result, or `None` where the rule does not apply.
pub(crate) type Applied = Built<Option<Value>>;

/// A row of the rule book.
pub(crate) struct Rule {
    /// `pattern => result`, as the rule book has it.
    pub name: &'static str,
    pub apply: fn(&mut Site) -> Applied,
}

fn rules(kind: &TensorOp) -> &'static [Rule] {
    match kind {
        TensorOp::Elementwise { f } => elementwise::rules(*f),
        TensorOp::Reshape { .. } => reshape::RULES,
        TensorOp::Transpose { .. } => transpose::RULES,
        TensorOp::Dot { .. } => dot::RULES,
        TensorOp::Conv { .. } => window::CONV,
        TensorOp::Pool { .. } => window::POOL,
        TensorOp::Softmax { .. }
        | TensorOp::LayerNorm { .. }
        | TensorOp::RmsNorm { .. }
        | TensorOp::Gelu { .. } => reshape::ROWS,
        kind => movement::rules(kind),
    }
}

fn is_unused(func: &TensorFunc, op: OpId) -> bool {
    func.results(op).iter().all(|value| func.users(*value).is_empty())
}

fn apply_first(
    func: &mut TensorFunc,
    consts: &mut ConstStore,
    region: RegionId,
    op: OpId,
    table: Table,
    cx: &mut PassCx,
) -> Result<Rewrite, Diagnostics> {
    let rules = table(func.kind(op));
    if rules.is_empty() {
        return Ok(Rewrite::Keep);
    }
    let b = Builder::new(func, consts).at_op(region, op);
    let mut site = Site { b, op, sources: OnceCell::new(), missed: Cell::new(None) };
    for rule in rules {
        let first_built = site.b.func.op_count();
        match (rule.apply)(&mut site) {
            Ok(None) => {}
            // Something broadcasts in a place that the rule did not look at.
            Ok(Some(value)) if site.b.func.ty(value) != site.b.func.ty(site.b.func.result(op)) => {
                // That and nothing more: ops that stood before are off their region's list.
                for built in (first_built..site.b.func.op_count()).rev().map(OpId::new) {
                    if is_unused(site.b.func, built) {
                        site.b.func.erase(built);
                    }
                }
                site.missed.set(Some("a rule does not apply: its result would have another shape"));
            }
            Ok(Some(value)) => {
                let func = site.b.func;
                cx.count("applied", 1);
                cx.remark(func.op(op).location.as_ref(), rule.name);
                return Ok(Rewrite::Replace(vec![value]));
            }
            Err(error) => {
                let func = site.b.func;
                let place = func.op(op).location.as_deref().unwrap_or("an op without a name").to_string();
                let name = func.kind(op).name();
                return Err(Diagnostic::internal(format!("rule `{}` on `{name}`: {error}", rule.name))
                    .at(place)
                    .into());
            }
        }
    }
    if let Some(reason) = site.missed.take() {
        cx.remark(site.b.func.op(op).location.as_ref(), reason);
    }
    Ok(Rewrite::Keep)
}

impl Site<'_> {
    /// Says why a rule does not apply after all.
    pub fn miss<T>(&self, reason: &'static str) -> Option<T> {
        self.missed.set(Some(reason));
        None
    }

    /// Whether an operand comes from such an op.
    pub fn reads(&self, source: Source) -> bool {
        self.sources.get_or_init(|| sources(self.b.func, self.op)) & source as u8 != 0
    }

    pub fn kind(&self) -> &TensorOp {
        self.b.func.kind(self.op)
    }

    pub fn operands(&self) -> &[Value] {
        self.b.func.operands(self.op)
    }

    pub fn operand(&self, i: usize) -> Value {
        self.b.func.operand(self.op, i)
    }

    pub fn result_type(&self) -> &TensorType {
        self.b.func.ty(self.b.func.result(self.op))
    }

    pub fn shape(&self, value: Value) -> &Shape {
        &self.b.func.ty(value).shape
    }

    /// The op that defines a value, with its first operand where it has one.
    pub fn def(&self, value: Value) -> Option<(OpId, &TensorOp)> {
        match self.b.func.def(value) {
            Def::Result(op, _) => Some((op, self.b.func.kind(op))),
            Def::Arg(..) => None,
        }
    }

    /// The bits of the one element that a splat repeats.
    pub fn splat(&self, value: Value) -> Option<i64> {
        match self.def(value)?.1 {
            TensorOp::Splat { bits, .. } => Some(*bits),
            _ => None,
        }
    }
}

/// Whether every extent is 1.
pub(crate) fn all_ones(shape: &[Dim]) -> bool {
    shape.iter().all(|dim| dim.is_const(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rule book has a row for every rule, in every table.
    #[test]
    fn rule_book_is_whole() {
        let book = include_str!("../rules/README.md");
        let tables =
            [reshape::RULES, reshape::ROWS, transpose::RULES, dot::RULES, window::CONV, window::POOL];
        let tables = tables
            .iter()
            .chain(&elementwise::TABLES)
            .chain(&movement::TABLES)
            .chain(&crate::passes::fold_scales::TABLES);
        let tables = tables
            .chain(&crate::passes::recover_composites::TABLES)
            .chain(&crate::passes::transpose_factors::TABLES);
        for rule in tables.flat_map(|table| table.iter()) {
            assert!(book.contains(&format!("`{}`", rule.name)), "the rule book lacks `{}`", rule.name);
        }
    }
}
