//! The manifest: readable JSON facts about a package, for people and for `inspect`; the runtime needs only
//! `machine` and `functions` from it.

use crate::functions::Function;
use crate::host::{HostProgram, KernelCode, Place, Port, SizeExpr};
use crate::lifetime::{lifetimes, roots};
use crate::plan::{self, Item};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the compiler says about a package; the writer derives the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The model's name, e.g. its file name.
    pub model: String,
    /// The version of Tegula that compiled it.
    pub tegula: String,
    pub machine: MachineId,
    /// Compile options that were given, by name.
    pub options: BTreeMap<String, String>,
}

/// The machine a package was compiled for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineId {
    /// `avx2-generic`, `zen5` ... or the name of a probed file.
    pub class: String,
    /// Hash of the machine description, as hexadecimal text.
    pub hash: String,
    /// `x86-64`, `ptx`; empty when the package holds portable code alone.
    pub isa: String,
    /// Processor features that its code uses: `avx2`, `fma`, `avx512bw` ..., as `std::is_x86_feature_detected!`
    /// or `/proc/cpuinfo` spell them; the one target of PTX, `sm_80`, `sm_90a` ...
    pub features: Vec<String>,
}

impl MachineId {
    /// Whether a feature is among those that the code may use.
    pub fn has(&self, feature: &str) -> bool {
        tegula_base::feature::is_among(feature, &self.features)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    #[serde(flatten)]
    pub about: About,
    pub inputs: Vec<PortFacts>,
    pub outputs: Vec<PortFacts>,
    pub kernels: Vec<KernelFacts>,
    /// Length of the function table that the code expects.
    pub functions: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortFacts {
    pub name: String,
    pub dtype: String,
    pub shape: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelFacts {
    pub name: String,
    /// `machine`, `portable`, `ptx`, or `native:NAME`.
    pub code: String,
    /// Bytes of code.
    pub bytes: u64,
    pub class: String,
}

impl Manifest {
    pub fn new(about: About, program: &HostProgram) -> Manifest {
        let kernels = program.kernels.iter().map(|kernel| {
            let (code, bytes) = match &kernel.code {
                KernelCode::Machine { len, .. } => ("machine".to_string(), *len),
                KernelCode::Portable { len, .. } => ("portable".to_string(), *len),
                KernelCode::Ptx { len, .. } => ("ptx".to_string(), *len),
                KernelCode::Native { name, .. } => (format!("native:{name}"), 0),
            };
            KernelFacts { name: kernel.name.clone(), code, bytes, class: kernel.cost.class.clone() }
        });
        Manifest {
            inputs: program.inputs.iter().map(PortFacts::new).collect(),
            outputs: program.outputs.iter().map(PortFacts::new).collect(),
            kernels: kernels.collect(),
            functions: Function::ALL.len() as u32,
            about,
        }
    }
}

impl PortFacts {
    fn new(port: &Port) -> PortFacts {
        PortFacts {
            name: port.name.clone(),
            dtype: port.dtype.name().to_string(),
            shape: port.shape.iter().map(SizeExpr::to_string).collect(),
        }
    }
}

/// The memory plan section: the arena of a program whose sizes are all constant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryFacts {
    /// Bytes of constants.
    pub constants: u64,
    /// Absent when the plan depends on the inputs' shapes.
    pub arena: Option<ArenaFacts>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArenaFacts {
    pub bytes: u64,
    /// The most bytes alive at one step.
    pub lower_bound: u64,
    pub buffers: Vec<BufferFacts>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferFacts {
    pub name: String,
    pub offset: u64,
    pub bytes: u64,
    pub first: u32,
    pub last: u32,
}

impl MemoryFacts {
    pub fn new(program: &HostProgram, constants: u64) -> MemoryFacts {
        MemoryFacts { constants, arena: arena_facts(program) }
    }
}

fn arena_facts(program: &HostProgram) -> Option<ArenaFacts> {
    let lives = lifetimes(program, &roots(program));
    let arena = || program.buffers.iter().zip(&lives).filter(|(buffer, _)| buffer.place == Place::Arena);
    let items = arena()
        .map(|(buffer, life)| {
            let bytes = u64::try_from(buffer.bytes.as_const()?).ok()?;
            Some(Item { bytes, first: life.first, last: life.last })
        })
        .collect::<Option<Vec<Item>>>()?;
    let plan = plan::plan_arena(&items)?;
    let facts = arena().zip(&items).zip(&plan.offsets).map(|(((buffer, _), item), offset)| BufferFacts {
        name: buffer.name.clone(),
        offset: *offset,
        bytes: item.bytes,
        first: item.first,
        last: item.last,
    });
    Some(ArenaFacts { bytes: plan.bytes, lower_bound: plan::lower_bound(&items), buffers: facts.collect() })
}
