//! How a model is compiled: what all that compiles is told.

use std::collections::BTreeMap;
use tegula_machine::Machine;
use tegula_opt::passes::Precision;
use tegula_target_cpu::model::Form;
use tegula_tiling::tuning::Tuning;

/// How a model is compiled.
#[derive(Clone, Debug)]
pub struct CompileOptions {
    pub machine: Machine,
    /// An instruction set level of the machine by name; `None`: its best.
    pub tier: Option<String>,
    pub form: Form,
    /// Values for named dims.
    pub dims: BTreeMap<String, i64>,
    /// Inputs and the outputs that are in their memory, by name.
    pub aliases: Vec<(String, String)>,
    /// What contractions of 32-bit floats are computed in.
    pub precision: Precision,
    /// A device that takes the regions it claims, `NAME` or `NAME:ARGUMENT`; the machine is its host.
    pub device: Option<String>,
    /// Tiles that were measured, in place of the target's own.
    pub tuning: Option<Tuning>,
    /// Threads that compile kernels; 0 counts as 1.
    pub threads: usize,
    /// The last pass to run, by name: of the tensor or the host pipeline.
    pub stop_after: Option<String>,
    /// The first pass of the tensor pipeline to run, by name; the model is what the passes before it leave.
    pub start_from: Option<String>,
    /// Verify after each pass.
    pub verify: bool,
}

impl CompileOptions {
    pub fn new(machine: Machine) -> CompileOptions {
        CompileOptions {
            machine,
            tier: None,
            form: Form::Machine,
            dims: BTreeMap::new(),
            aliases: Vec::new(),
            precision: Precision::F32,
            device: None,
            tuning: None,
            threads: 1,
            stop_after: None,
            start_from: None,
            verify: cfg!(debug_assertions),
        }
    }
}
