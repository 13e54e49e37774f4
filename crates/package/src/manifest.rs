//! The manifest: readable JSON facts about a package, for people and for `inspect`; the runtime needs only
//! `machine`, `devices` and `functions` from it.

use crate::device::{DeviceId, PackageDevice};
use crate::functions::Function;
use crate::host::{Buffer, HostProgram, Place, Port, SizeExpr};
use crate::image::{CodeKind, Entry, KernelCode};
use crate::lifetime::{Lifetime, lifetimes, roots};
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
    /// The home's.
    pub machine: MachineId,
    /// Devices beside the home, numbered from 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<PackageDevice>,
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
    /// The text of the machine's file, where it is no class that comes with Tegula.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
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
    /// `machine`, `portable`, `ptx`, `graph:ENTRY`, or `native:NAME`.
    pub code: String,
    /// Bytes of code; of a graph those of its image.
    pub bytes: u64,
    pub class: String,
}

impl Manifest {
    pub fn new(about: About, program: &HostProgram) -> Manifest {
        let kernels = program.kernels.iter().map(|kernel| {
            let (code, bytes) = code_facts(program, &kernel.code);
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

/// What a kernel's code is, and its bytes.
fn code_facts(program: &HostProgram, code: &KernelCode) -> (String, u64) {
    let kind = match program.code_kind(code) {
        CodeKind::Machine => "machine",
        CodeKind::Portable => "portable",
        CodeKind::Ptx => "ptx",
        CodeKind::Graph => "graph",
        CodeKind::Native => "native",
    };
    match code {
        KernelCode::Native { name, .. } => (format!("{kind}:{name}"), 0),
        KernelCode::Image { entry: Entry::Name(name), .. } => {
            (format!("{kind}:{name}"), program.image(code).map_or(0, |image| image.len))
        }
        KernelCode::Image { entry, .. } => (kind.to_string(), entry.range().map_or(0, |(_, len)| len)),
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

/// The memory plan section: the arenas of a program whose sizes are all constant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryFacts {
    /// Bytes of constants.
    pub constants: u64,
    /// The home's; absent when the plan depends on the inputs' shapes.
    pub arena: Option<ArenaFacts>,
    /// Those of devices 1, 2 ...
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<Option<ArenaFacts>>,
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
        let last = program.buffers.iter().map(|buffer| buffer.device.0).max().unwrap_or(0);
        let lives = lifetimes(program, &roots(program));
        let arena = |device| arena_facts(program, &lives, DeviceId(device));
        MemoryFacts { constants, arena: arena(0), devices: (1..=last).map(arena).collect() }
    }
}

fn arena_facts(program: &HostProgram, lives: &[Lifetime], device: DeviceId) -> Option<ArenaFacts> {
    let is_there = |buffer: &Buffer| buffer.place == Place::Arena && buffer.device == device;
    let arena = || program.buffers.iter().zip(lives).filter(|(buffer, _)| is_there(buffer));
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
