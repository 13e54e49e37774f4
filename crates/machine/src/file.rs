//! The machine file's form: strings at the top, `[isa]`, and `[facts]` with value, unit and source each.

use super::{Fact, FlopsPerCycle, Kind, Machine};
use serde::Deserialize;
use std::collections::BTreeMap;
use tegula_base::units::{BytesPerSecond, Nanoseconds};
use tegula_base::{Bytes, Diagnostic, Diagnostics};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    title: String,
    kind: String,
    isa: Isa,
    facts: BTreeMap<String, FileFact>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Isa {
    tier: String,
    features: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileFact {
    value: f64,
    unit: String,
    source: String,
}

/// The tiers that a target compiles.
const TIERS: [&str; 2] = ["avx2", "avx512"];

/// Facts being taken out of a file, with everything wrong about them.
struct Facts<'a> {
    facts: &'a BTreeMap<String, Fact>,
    taken: Vec<&'static str>,
    origin: &'a str,
    errors: Diagnostics,
}

impl Facts<'_> {
    fn error(&mut self, message: String) {
        self.errors.push(Diagnostic::error("machine-file", message).at(self.origin));
    }

    /// A positive number in `unit`; 1 after an error.
    fn take(&mut self, name: &'static str, unit: &str) -> f64 {
        self.taken.push(name);
        let facts = self.facts;
        let Some(fact) = facts.get(name) else {
            self.error(format!("`{name}` is missing in `[facts]`"));
            return 1.0;
        };
        if fact.unit != unit {
            self.error(format!("`{name}` is given in `{}`, not in `{unit}`", fact.unit));
        } else if !fact.value.is_finite() || fact.value <= 0.0 {
            self.error(format!("`{name}` must be above 0, got {}", fact.value));
        } else if fact.source.is_empty() {
            self.error(format!("`{name}` has no source"));
        } else {
            return fact.value;
        }
        1.0
    }

    fn bytes(&mut self, name: &'static str) -> Bytes {
        Bytes(self.take(name, "B") as u64)
    }

    fn count(&mut self, name: &'static str) -> u32 {
        self.take(name, "1") as u32
    }

    fn rate(&mut self, name: &'static str) -> f64 {
        self.take(name, "FLOP/cycle")
    }

    fn finish(mut self) -> Diagnostics {
        let unknown: Vec<&String> =
            self.facts.keys().filter(|name| !self.taken.contains(&name.as_str())).collect();
        for name in unknown {
            self.error(format!("`{name}` is no fact of a machine"));
        }
        self.errors
    }
}

pub(super) fn parse(text: &str, origin: &str) -> Result<Machine, Diagnostics> {
    let file: File = toml::from_str(text).map_err(|error| {
        let message = error.message().to_string();
        let line = error.span().map(|span| 1 + text[..span.start.min(text.len())].matches('\n').count());
        let place = line.map_or(origin.to_string(), |line| format!("{origin}: line {line}"));
        Diagnostics::from(Diagnostic::error("machine-file", message).at(place))
    })?;
    let own: BTreeMap<String, Fact> = file
        .facts
        .into_iter()
        .map(|(name, fact)| (name, Fact { value: fact.value, unit: fact.unit, source: fact.source }))
        .collect();
    let mut facts = Facts { facts: &own, taken: Vec::new(), origin, errors: Diagnostics::default() };
    if file.kind != "cpu" {
        facts.error(format!("`{}` is no kind of machine: cpu", file.kind));
    }
    if !TIERS.contains(&file.isa.tier.as_str()) {
        facts.error(format!("`{}` is no instruction set tier: {}", file.isa.tier, TIERS.join(", ")));
    }
    let vector = facts.bytes("vector_bytes");
    let vector_registers = facts.count("vector_registers");
    let (l1d, l2, l3) = (facts.bytes("l1d"), facts.bytes("l2"), facts.bytes("l3"));
    let cache_line = facts.bytes("cache_line");
    let cores = facts.count("cores");
    let frequency_hz = facts.take("frequency", "Hz");
    let flops_per_cycle = FlopsPerCycle {
        f32: facts.rate("flops_f32"),
        f64: facts.rate("flops_f64"),
        bf16: facts.rate("flops_bf16"),
        i8: facts.rate("flops_i8"),
    };
    let l2_bytes_per_cycle = facts.take("l2_bandwidth", "B/cycle");
    let memory_bandwidth = BytesPerSecond(facts.take("memory_bandwidth", "B/s"));
    let launch_overhead = Nanoseconds(facts.take("launch_overhead", "ns"));
    facts.finish().into_result(())?;
    Ok(Machine {
        name: file.name,
        title: file.title,
        kind: Kind::Cpu,
        tier: file.isa.tier,
        features: file.isa.features,
        vector,
        vector_registers,
        l1d,
        l2,
        l3,
        cache_line,
        cores,
        frequency_hz,
        flops_per_cycle,
        l2_bytes_per_cycle,
        memory_bandwidth,
        launch_overhead,
        facts: own,
        hash: Machine::digest(text),
    })
}
