//! The reference evaluator: what a tensor program computes, readable rather than fast.
//!
//! Before: a verified program and inputs.  After: its results, or why the inputs do not fit.
//! Elements follow the scalar semantics table; contractions and reductions accumulate in `f64` (integers in `i64`,
//! wrapping) and round once; composites run as their decomposition. Size symbols are bound from the inputs, then
//! by `bind`; every value is checked against its declared type. A value is freed after its last use.
//!
//! ```text
//! evaluate ─► bindings (sizes from inputs) ─► run (regions, control) ─► ops.rs: one op ─► family files
//! ```

mod bindings;
mod contract;
mod index;
mod indexing;
mod movement;
mod number;
mod ops;
mod order;
mod pool;
mod reduce;
mod run;
mod strided;

pub use bindings::Bindings;
pub use ops::evaluate_op;

use crate::{TensorFunc, TensorProgram};
use std::sync::Arc;
use tegula_base::{Diagnostic, HostTensor, SymbolInfo};
use tegula_ir::OpId;

/// Results of the entry function for these inputs.
pub fn evaluate(program: &TensorProgram, inputs: &[HostTensor]) -> Result<Vec<HostTensor>, Diagnostic> {
    Evaluator::new(program).run(inputs)
}

/// The sizes of a run on these inputs. Where nothing bounds what loops carry, runs tell how much it grows.
/// Errors: inputs that do not fit; those of a run that grows without end.
pub fn bindings(program: &TensorProgram, inputs: &[HostTensor]) -> Result<Bindings, Diagnostic> {
    let mut bindings = Bindings::of_inputs(program, inputs)?;
    if program.symbols.growths().next().is_none() {
        return Ok(bindings);
    }
    let shared: Vec<Arc<HostTensor>> = inputs.iter().cloned().map(Arc::new).collect();
    while let Err(found) = Evaluator::new(program).run_bound(bindings.clone(), shared.clone()) {
        if found.code != SymbolInfo::GROWTH {
            return Err(found);
        }
        bindings.grow(&program.symbols)?;
    }
    Ok(bindings)
}

/// Sees an op's results right after it ran; ops in regions once each time.
pub type Observer<'a> = dyn FnMut(&TensorFunc, OpId, &[Arc<HostTensor>], &Bindings) + 'a;

/// Rounds of a loop that nothing but its data ends, after which it is taken for one without an end where the evaluation is
/// limited. Loops of models that generate text or audio do a few thousand.
const MOST_ROUNDS: i64 = 10_000;

/// Errors: the loop has done so many rounds without an end in sight; a loop that ends by its trip count may do more.
pub fn check_rounds(round: i64, trip: i64) -> Result<(), String> {
    // The first round may stand before the loop.
    let is_open = trip >= SymbolInfo::MAX - 1;
    match is_open && round >= MOST_ROUNDS {
        true => Err(format!("the loop has not ended after {MOST_ROUNDS} rounds; other inputs may end it")),
        false => Ok(()),
    }
}

/// An evaluation that can be watched.
pub struct Evaluator<'a> {
    program: &'a TensorProgram,
    observer: Option<Box<Observer<'a>>>,
    is_limited: bool,
}

impl<'a> Evaluator<'a> {
    pub fn new(program: &'a TensorProgram) -> Evaluator<'a> {
        Evaluator { program, observer: None, is_limited: false }
    }

    /// Calls `observer` after every op.
    pub fn observe(
        mut self,
        observer: impl FnMut(&TensorFunc, OpId, &[Arc<HostTensor>], &Bindings) + 'a,
    ) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Gives up on loops that do not end; see [`check_rounds`].
    pub fn limited(mut self) -> Self {
        self.is_limited = true;
        self
    }

    /// Results of the entry function.
    pub fn run(self, inputs: &[HostTensor]) -> Result<Vec<HostTensor>, Diagnostic> {
        let bindings = bindings(self.program, inputs)?;
        self.run_bound(bindings, inputs.iter().cloned().map(Arc::new).collect())
    }

    /// As [`run`](Evaluator::run), for sizes that are known. Errors: inputs that do not fit them.
    pub fn run_bound(
        self,
        bindings: Bindings,
        inputs: Vec<Arc<HostTensor>>,
    ) -> Result<Vec<HostTensor>, Diagnostic> {
        let func = self.program.entry();
        let results = run::run_func(
            func,
            &self.program.consts,
            &self.program.symbols,
            bindings,
            inputs,
            self.observer,
            self.is_limited,
        )?;
        Ok(results.into_iter().map(Arc::unwrap_or_clone).collect())
    }
}
