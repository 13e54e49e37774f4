//! What passes ask of a streaming chip.

use crate::claims::claims;
use crate::compile::compile;
use tegula_backend::{
    Claim, Codegen, Fused, GraphCodegen, GraphImage, Infeasible, Launches, Layouts, Place, Preferences,
    Target, cost,
};
use tegula_base::{Code, Diagnostic, Symbols};
use tegula_ir::OpId;
use tegula_isa_lpu::encode;
use tegula_machine::{Lpu, Machine};
use tegula_package::CostRecord;
use tegula_tensor::{TensorFunc, TensorProgram};

/// What a chip has too little of is told by this code.
pub(crate) const CAPACITY: Code = "lpu-capacity";

/// What `f32` factors of contractions become: planes multiply no `f32`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FloatFactors {
    /// Such contractions are refused.
    #[default]
    Refuse,
    /// Both factors are rounded to `f16`.
    F16,
    /// Each factor is the sum of two `f16`; of the four products the least is left out.
    F16x2,
}

/// A streaming chip that regions are compiled for.
#[derive(Clone, Debug)]
pub struct LpuTarget {
    machine: Machine,
    lpu: Lpu,
    factors: FloatFactors,
    preferences: Preferences,
}

impl LpuTarget {
    /// Errors: `bad-option`, the machine is no streaming chip.
    pub fn new(machine: Machine, factors: FloatFactors) -> Result<LpuTarget, Diagnostic> {
        let Some(lpu) = machine.lpu().cloned() else {
            return Err(Diagnostic::error("bad-option", format!("`{}` is no streaming chip", machine.name)));
        };
        Ok(LpuTarget { machine, lpu, factors, preferences: Preferences::default() })
    }
}

impl Target for LpuTarget {
    fn machine(&self) -> &Machine {
        &self.machine
    }

    fn isa(&self) -> &str {
        "lpu"
    }

    fn claims(&self, func: &TensorFunc, op: OpId) -> Claim {
        claims(func, op, &self.lpu, self.factors)
    }

    fn preferences(&self) -> &Preferences {
        &self.preferences
    }

    fn fuses(&self, _: &TensorFunc, _: OpId, _: Place, _: &Symbols) -> Option<Fused> {
        None
    }

    fn layouts(&self, _: &TensorFunc, _: OpId, _: &Symbols) -> Layouts {
        Layouts::default()
    }

    fn cost(&self, func: &TensorFunc, kernel: OpId, launches: &Launches) -> Vec<CostRecord> {
        cost::of_launches(func, kernel, launches, &self.machine)
    }

    fn codegen(&self) -> Codegen<'_> {
        Codegen::Graph(self)
    }
}

impl GraphCodegen for LpuTarget {
    fn compile(&self, _: &str, region: &TensorProgram) -> Result<GraphImage, Infeasible> {
        let compiled = compile(region, &self.machine, &self.lpu, self.factors)?;
        Ok(GraphImage {
            bytes: encode(&compiled.image),
            symbols: Vec::new(),
            memory: compiled.memory,
            timeline: compiled.timeline,
            remarks: compiled.remarks,
        })
    }
}
