//! Makes a program that shows a fault small: fewer results, fewer ops, smaller sizes, plainer constants.
//!
//! Before: a program, and a judge that says of any program whether it shows the fault.  After: a program that does, of
//! which no single step below can be taken any more, within the attempts allowed.
//! Source: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input" (IEEE TSE 28, 2002), for removing
//! runs that halve; the graph's order makes the first two steps binary searches.

use crate::model::Model;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tegula_base::{Diagnostic, Diagnostics, Dim};
use tegula_ir::{OpId, PrintOptions, Value, print_program};
use tegula_tensor::smaller::{cut, extents, flatten, is_source, keep, replace, resize, results, trim};
use tegula_tensor::{TensorFunc, TensorProgram, check_program};

/// What is left.
#[derive(Clone, Debug)]
pub struct Reduced {
    pub program: TensorProgram,
    /// Programs that were judged.
    pub attempts: usize,
    /// The attempts were used up before all steps were tried.
    pub is_cut_short: bool,
}

/// A reduced model as text.
#[derive(Clone, Debug)]
pub struct ReducedModel {
    pub text: String,
    /// Ops that compute, before and after.
    pub ops: (usize, usize),
    pub attempts: usize,
    pub is_cut_short: bool,
}

/// Reduces a model; `shows` is given texts of tensor programs that stand alone.
/// Errors: the import's; `no-fault` where the model itself does not show the fault.
pub fn reduce_model(
    model: &Model,
    dims: &BTreeMap<String, i64>,
    attempts: usize,
    shows: &mut dyn FnMut(&str) -> bool,
) -> Result<ReducedModel, Diagnostics> {
    let text = |program: &TensorProgram| print_program(program, &PrintOptions::WHOLE);
    let program = model.import(dims)?;
    if !shows(&text(&program)) {
        let message = format!("the command does not fail on `{}`, so there is nothing to reduce", model.name);
        return Err(Diagnostic::error("no-fault", message)
            .help("it must fail on the model's tensor program, which `tegula compile MODEL --emit tensor` shows")
            .into());
    }
    let reduced = reduce(&program, attempts, &mut |program| shows(&text(program)));
    Ok(ReducedModel {
        text: text(&reduced.program),
        ops: (op_count(&program), op_count(&reduced.program)),
        attempts: reduced.attempts,
        is_cut_short: reduced.is_cut_short,
    })
}

/// Sizes to try in the place of a larger one; then its half, then one less.
const SMALL_SIZES: [i64; 4] = [1, 2, 3, 4];

/// Reduces a program that `shows` the fault.
pub fn reduce(
    program: &TensorProgram,
    attempts: usize,
    shows: &mut dyn FnMut(&TensorProgram) -> bool,
) -> Reduced {
    let mut reducer = Reducer { best: trim(program.clone()).0, shows, attempts: 0, most: attempts };
    // A fault may hang on something that trimming takes away: an input that nobody reads, say.
    let trimmed = reducer.best.clone();
    if !reducer.judge(&trimmed) {
        reducer.best = program.clone();
    }
    reducer.one_result();
    reducer.earlier_result();
    reducer.later_inputs();
    loop {
        let before = reducer.size();
        reducer.fewer_ops();
        reducer.smaller_sizes();
        reducer.plainer_constants();
        if reducer.size() >= before || reducer.is_spent() {
            break;
        }
    }
    Reduced { is_cut_short: reducer.is_spent(), attempts: reducer.attempts, program: reducer.best }
}

/// Ops that compute: constants, sizes and the end do not count.
pub fn op_count(program: &TensorProgram) -> usize {
    work(program.entry()).len()
}

fn work(func: &TensorFunc) -> Vec<OpId> {
    let ops = func.ops_in(func.body()).iter().copied();
    ops.filter(|op| !is_source(func, *op) && !func.results(*op).is_empty()).collect()
}

struct Reducer<'a> {
    best: TensorProgram,
    shows: &'a mut dyn FnMut(&TensorProgram) -> bool,
    attempts: usize,
    most: usize,
}

impl Reducer<'_> {
    fn is_spent(&self) -> bool {
        self.attempts >= self.most
    }

    fn judge(&mut self, program: &TensorProgram) -> bool {
        if self.is_spent() || check_program(program).is_err() {
            return false;
        }
        self.attempts += 1;
        (self.shows)(program)
    }

    /// Takes a step where what it leaves still shows the fault.
    fn step(&mut self, next: TensorProgram) -> bool {
        let (next, _) = trim(next);
        let shows = self.judge(&next);
        if shows {
            self.best = next;
        }
        shows
    }

    /// Ops, then elements of inputs and constants: what a round must make less of.
    fn size(&self) -> (usize, u128, usize) {
        let func = self.best.entry();
        let sources = func.walk().into_iter().filter(|op| func.operands(*op).is_empty());
        let values = func.args(func.body()).iter().copied();
        let values = values.chain(sources.flat_map(|op| func.results(op).to_vec()));
        let elements = |value: Value| -> u128 {
            let sizes =
                func.ty(value).shape.iter().map(|dim| dim.as_const().map_or(1 << 20, |n| n.max(0) as u128));
            sizes.fold(1, u128::saturating_mul)
        };
        let constants = func.walk().into_iter().filter(|op| flatten(&self.best, *op).is_some()).count();
        (work(func).len(), values.map(elements).fold(0, u128::saturating_add), constants)
    }

    fn one_result(&mut self) {
        let all = results(self.best.entry()).to_vec();
        for result in all.iter().filter(|_| all.len() > 1) {
            if self.step(keep(&self.best, &[*result])) {
                return;
            }
        }
    }

    /// The earliest value that shows the fault as the one result, as if all later ones did.
    fn earlier_result(&mut self) {
        let func = self.best.entry();
        let values: Vec<Value> = work(func).into_iter().flat_map(|op| func.results(op).to_vec()).collect();
        let whole = self.best.clone();
        let (mut low, mut high) = (0, values.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.step(keep(&whole, &[values[middle]])) {
                true => high = middle,
                false => low = middle + 1,
            }
        }
    }

    /// The latest place from which the rest of the program shows the fault, what came before being inputs.
    fn later_inputs(&mut self) {
        let whole = self.best.clone();
        let ops = work(whole.entry());
        let (mut low, mut high) = (0, ops.len());
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match self.step(cut(&whole, &made(whole.entry(), &ops[..middle]))) {
                true => low = middle,
                false => high = middle,
            }
        }
    }

    /// Puts inputs, or an operand of the same type, in the place of runs of ops: halves first, single ones last.
    fn fewer_ops(&mut self) {
        let mut run = op_count(&self.best).div_ceil(2);
        while run > 0 && !self.is_spent() {
            let mut at = 0;
            loop {
                let ops = work(self.best.entry());
                if at >= ops.len() || self.is_spent() {
                    break;
                }
                let end = ops.len().min(at + run);
                if !self.without(&ops[at..end]) {
                    at = end;
                }
            }
            run = if run == 1 { 0 } else { run / 2 };
        }
    }

    /// Whether the fault shows without these ops.
    fn without(&mut self, ops: &[OpId]) -> bool {
        let before = op_count(&self.best);
        let func = self.best.entry();
        let values = made(func, ops);
        let bypass = match (ops, values.as_slice()) {
            ([op], [value]) => func
                .operands(*op)
                .iter()
                .copied()
                .find(|operand| func.ty(*operand) == func.ty(*value))
                .map(|operand| replace(&self.best, *value, operand)),
            _ => None,
        };
        let candidates = bypass.into_iter().chain([cut(&self.best, &values)]);
        for next in candidates.collect::<Vec<_>>() {
            if op_count(&trim(next.clone()).0) < before && self.step(next) {
                return true;
            }
        }
        false
    }

    fn smaller_sizes(&mut self) {
        let symbols: Vec<Arc<str>> = self.best.symbols.0.keys().cloned().collect();
        for name in symbols {
            let of = |n: i64| {
                let name = name.clone();
                move |dim: &Dim| dim.substitute(&|symbol| (*symbol == *name).then(|| Dim::from(n)))
            };
            SMALL_SIZES.iter().any(|n| self.resized(&of(*n)));
        }
        for extent in extents(self.best.entry()) {
            let smaller = SMALL_SIZES.into_iter().chain([extent / 2, extent - 1]);
            let smaller: BTreeSet<i64> = smaller.filter(|n| *n > 0 && *n < extent).collect();
            let of = |n: i64| move |dim: &Dim| if dim.is_const(extent) { Dim::from(n) } else { dim.clone() };
            smaller.iter().any(|n| self.resized(&of(*n)));
        }
    }

    fn resized(&mut self, map: &dyn Fn(&Dim) -> Dim) -> bool {
        resize(&self.best, map).is_some_and(|next| self.step(next))
    }

    fn plainer_constants(&mut self) {
        let mut at = 0;
        loop {
            let flat = self.best.entry().walk().into_iter().filter_map(|op| flatten(&self.best, op)).nth(at);
            let Some(next) = flat else { return };
            // What was taken is a constant no more, and the next one has its number.
            if !self.step(next) {
                at += 1;
            }
        }
    }
}

/// What these ops make and something else reads, or the program gives.
fn made(func: &TensorFunc, ops: &[OpId]) -> Vec<Value> {
    let inside: BTreeSet<OpId> = ops.iter().copied().collect();
    let values = ops.iter().flat_map(|op| func.results(*op).iter().copied());
    values.filter(|value| func.users(*value).iter().any(|user| !inside.contains(user))).collect()
}
