//! Who runs kernels, and the machine that they are compiled for, by the names that users give.

use crate::gpu;
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use tegula_base::{Diagnostic, Diagnostics};
use tegula_driver::Form;
use tegula_driver::probe::fitting_gpu;
use tegula_machine::{Kind, Machine};
use tegula_runtime::Hardware;
use tegula_runtime::cuda::DeviceFacts;

/// What is simulated where no machine is named: a GPU, a processor with every instruction that code may use, a chip.
const SIMULATED_GPU: &str = "h200";
const SIMULATED_CPU: &str = "avx512-bf16-generic";
const SIMULATED_LPU: &str = "tsp1";
/// The card that is used: the driver's own variables choose which that is.
const FIRST: u32 = 0;

/// Who runs kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// The processor: `cpu`.
    #[default]
    Cpu,
    /// The first NVIDIA GPU: `cuda`.
    Cuda,
    /// An NVIDIA GPU that is interpreted: `sim-ptx`.
    SimPtx,
    /// A processor that is interpreted: `sim-x86`.
    SimX86,
    /// A streaming chip that is simulated, beside the processor: `sim-lpu`.
    SimLpu,
}

impl Target {
    pub const ALL: [Target; 5] = [Target::Cpu, Target::Cuda, Target::SimPtx, Target::SimX86, Target::SimLpu];

    pub const fn name(self) -> &'static str {
        match self {
            Target::Cpu => "cpu",
            Target::Cuda => "cuda",
            Target::SimPtx => "sim-ptx",
            Target::SimX86 => "sim-x86",
            Target::SimLpu => "sim-lpu",
        }
    }

    /// What sessions of this target run kernels on. Errors: `no-device`.
    pub fn hardware(self) -> Result<Hardware, Diagnostic> {
        Ok(match self {
            Target::Cpu => Hardware::Own,
            Target::Cuda => Hardware::Cuda(gpu::cuda()?.device(FIRST)?),
            Target::SimPtx => tegula_driver::simulated_gpu(),
            Target::SimX86 => tegula_driver::simulated_cpu(),
            Target::SimLpu => tegula_driver::simulated_lpu(),
        })
    }

    /// The machine to compile for, and the form of its kernels; a machine that is given need not be one that this target
    /// runs on: see [`Target::check_runs`].
    /// Errors: one that a GPU target cannot stand for; no card to choose it by.
    pub fn machine(self, given: Option<Machine>) -> Result<(Machine, Form), Diagnostics> {
        let (machine, form) = match (given, self) {
            (Some(machine), _) => (machine, Form::Machine),
            (None, Target::SimPtx) => (machine_of(SIMULATED_GPU)?, Form::Machine),
            (None, Target::SimX86) => (machine_of(SIMULATED_CPU)?, Form::Machine),
            (None, Target::SimLpu) => (machine_of(SIMULATED_LPU)?, Form::Machine),
            (None, Target::Cuda) => (class_of(gpu::cuda()?.device(FIRST)?.facts())?, Form::Machine),
            (None, Target::Cpu) => crate::processor::default_machine()?,
        };
        let (does, wanted) = match self {
            Target::Cuda => ("runs on GPUs", "GPU"),
            Target::SimPtx => ("simulates GPUs", "GPU"),
            Target::SimX86 => ("simulates CPUs", "CPU"),
            Target::SimLpu => ("simulates streaming chips", "streaming chip"),
            Target::Cpu => return Ok((machine, form)),
        };
        let kind = match &machine.kind {
            Kind::Cpu(_) => "CPU",
            Kind::Gpu(_) => "GPU",
            Kind::Lpu(_) => "streaming chip",
        };
        if kind != wanted {
            let message = format!("target `{self}` {does}, and `{}` is a {kind}", machine.name);
            return Err(Diagnostic::error("bad-option", message).into());
        }
        Ok((machine, form))
    }

    /// Errors: code for a GPU or a streaming chip is to run, and this target is none.
    pub fn check_runs(self, machine: &Machine) -> Result<(), Diagnostic> {
        let (kind, help) = match (&machine.kind, self) {
            (Kind::Cpu(_), _)
            | (Kind::Gpu(_), Target::Cuda | Target::SimPtx)
            | (Kind::Lpu(_), Target::SimLpu) => return Ok(()),
            (Kind::Gpu(_), _) => {
                ("GPU", "target `cuda` is the first NVIDIA GPU, target `sim-ptx` simulates one")
            }
            (Kind::Lpu(_), _) => ("streaming chip", "target `sim-lpu` simulates one"),
        };
        let message = format!("`{}` is a {kind}, and no device is chosen for it", machine.name);
        Err(Diagnostic::error("no-device", message).help(help))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Target {
    type Err = Diagnostic;

    /// Errors: `bad-option` names the targets there are.
    fn from_str(text: &str) -> Result<Target, Diagnostic> {
        Target::ALL.into_iter().find(|target| target.name() == text).ok_or_else(|| {
            let known = Target::ALL.map(|target| format!("`{target}`")).join(", ");
            Diagnostic::error("bad-option", format!("no target is called `{text}`"))
                .note(format!("the targets are {known}"))
        })
    }
}

/// The class that fits a card. Errors: `no-device` where none does.
pub fn class_of(facts: &DeviceFacts) -> Result<Machine, Diagnostic> {
    fitting_gpu(&facts.name, facts.capability).ok_or_else(|| {
        let (major, minor) = facts.capability;
        let message = format!(
            "{} has compute capability {major}.{minor}, and kernels are made for 8.0 and later",
            facts.name
        );
        Diagnostic::error("no-device", message)
    })
}

/// A class by name, or the machine that a file describes. Errors: neither; the file's mistakes.
pub fn machine_of(name: &str) -> Result<Machine, Diagnostics> {
    if let Some(machine) = Machine::class(name) {
        return Ok(machine);
    }
    let path = Path::new(name);
    if !path.exists() {
        let known: Vec<&str> = Machine::class_names().collect();
        let message = format!("there is no machine class or file `{name}`");
        return Err(Diagnostic::error("unknown-machine", message)
            .note(format!("the classes are {}", known.join(", ")))
            .into());
    }
    let text = crate::files::read_text(path).map_err(|error| crate::files::failure("read", path, &error))?;
    Machine::parse(&text, name)
}
