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
