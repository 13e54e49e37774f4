//! Builds a random program and its inputs from a seed.
//!
//! After: a verified program of 3 to 30 ops, whose results are all values that nothing reads (so that no op is
//! dead), and inputs that bind its symbols. Sizes lean to 0, 1 and the neighbours of vector widths.

use super::build::Gen;
use super::{Rng, ops};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tegula_base::HostTensor;
use tegula_tensor::{Builder, TensorFunc, TensorOp, TensorProgram};

/// A program and what to run it on.
#[derive(Clone, Debug)]
pub struct Case {
    pub seed: u64,
    pub program: TensorProgram,
    pub inputs: Vec<HostTensor>,
    /// The sizes drawn, in the order of drawing: what [`Choices::sizes`] may replace.
    pub drawn_sizes: Vec<i64>,
    /// What makes the case again with its seed; `None` once ops have been cut out of it.
    pub choices: Option<Choices>,
}

/// What a reducer takes from the generator's hands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choices {
    /// Draws of sizes by number that give this size.
    pub sizes: BTreeMap<usize, i64>,
    /// At most this many ops.
    pub most_ops: Option<usize>,
}

const OPS: (i64, i64) = (3, 30);

/// Attempts at an op before the program ends as it is.
const ATTEMPTS_PER_OP: usize = 8;

pub fn generate(seed: u64, choices: &Choices) -> Case {
    case_of(seed, choices, |g, drawn| {
        let wanted = choices.most_ops.unwrap_or(drawn).min(drawn);
        let mut attempts = 0;
        while g.built < wanted && attempts < ATTEMPTS_PER_OP * wanted {
            attempts += 1;
            ops::add_any(g);
        }
    })
}

/// A program that `fill` builds; it is told how many ops a program of this seed has.
pub(super) fn case_of(seed: u64, choices: &Choices, fill: impl FnOnce(&mut Gen, usize)) -> Case {
    let mut program = TensorProgram::new(TensorFunc::new("main"));
    // Neighbouring seeds must not give neighbouring streams.
    let mut rng = Rng::new(Rng::new(seed).bits());
    let drawn = rng.between(OPS.0, OPS.1) as usize;
    let TensorProgram { symbols, consts, funcs } = &mut program;
    let b = Builder::new(&mut funcs[0], consts);
    let mut g = Gen::new(b, symbols, rng, choices.sizes.clone());
    fill(&mut g, drawn);
    let (inputs, drawn_sizes) = g.finish();
    name_ports(program.entry_mut());
    Case { seed, program, inputs, drawn_sizes, choices: Some(choices.clone()) }
}

fn name_ports(func: &mut TensorFunc) {
    let body = func.body();
    let results = func.terminator(body).map_or(0, |end| func.operands(end).len());
    func.arg_names = (0..func.args(body).len()).map(|i| format!("x{i}")).collect();
    func.result_names = (0..results).map(|i| format!("y{i}")).collect();
}

impl Case {
    /// Ops that compute something.
    pub fn op_count(&self) -> usize {
        let func = self.program.entry();
        let counts =
            |op: &tegula_ir::OpId| !matches!(func.kind(*op), TensorOp::Return {} | TensorOp::Yield {});
        func.walk().iter().filter(|op| counts(op)).count()
    }
}
