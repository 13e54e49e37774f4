//! The processor this program runs on, and the machine class that fits it.

use tegula_base::{Diagnostic, Diagnostics};
use tegula_driver::Form;
use tegula_driver::probe::{ProcessorFacts, fitting_class};
use tegula_machine::Machine;

/// The checked-in class that fits; on a processor without AVX2 the portable form of a generic one.
/// Errors: the classes lack a generic one (internal).
pub fn default_machine() -> Result<(Machine, Form), Diagnostics> {
    if let Some(machine) = fitting_class(&facts()) {
        return Ok((machine, Form::Machine));
    }
    let machine = Machine::class("avx2-generic");
    let machine = machine.ok_or_else(|| Diagnostic::internal("there is no generic machine class"))?;
    Ok((machine, Form::Portable))
}

/// Reads vendor, family and model from `/proc/cpuinfo` where there is one, features from the processor itself.
pub fn facts() -> ProcessorFacts {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let lines = text.lines().filter_map(|line| line.split_once(':'));
        lines.clone().find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_string())
    };
    let number = |name: &str| field(name).and_then(|text| text.parse().ok()).unwrap_or(0);
    ProcessorFacts {
        vendor: field("vendor_id").unwrap_or_default(),
        family: number("cpu family"),
        model: number("model"),
        features: tegula_runtime::processor_features().into_iter().map(str::to_string).collect(),
    }
}

/// A cache of the first core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    pub level: u32,
    /// `Data`, `Instruction` or `Unified`, as Linux says.
    pub holds: String,
    pub bytes: u64,
}

/// The first core's caches, the lowest level first; none where the system does not tell.
/// Source: Linux, `Documentation/ABI/testing/sysfs-devices-system-cpu`, `cache/index*`.
pub fn caches() -> Vec<Cache> {
    let read = |index: u32, name: &str| {
        let file = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{name}");
        std::fs::read_to_string(file).ok().map(|text| text.trim().to_string())
    };
    let cache = |index: u32| {
        let kibibytes: u64 = read(index, "size")?.strip_suffix('K')?.parse().ok()?;
        let level = read(index, "level")?.parse().ok()?;
        Some(Cache { level, holds: read(index, "type")?, bytes: kibibytes << 10 })
    };
    (0..).map_while(cache).collect()
}

/// Bytes of memory; none where the system does not tell.
pub fn memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kibibytes| kibibytes << 10)
}
