//! The machine file's form: strings at the top, `[isa]`, and `[facts]` with value, unit and source each.

use super::{Cpu, Fact, Gpu, Kind, Lpu, Machine, cpu, gpu, lpu};
use serde::Deserialize;
use std::collections::BTreeMap;
use tegula_base::{Bytes, Diagnostic, Diagnostics};
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    title: String,
    kind: String,
    /// Of a device that runs beside a processor: the processor's class.
    host: Option<String>,
    isa: Isa,
    facts: BTreeMap<String, FileFact>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Isa {
    tier: String,
    /// Of a CPU only.
    features: Option<Vec<String>>,
    /// Of a CPU whose cores are described: their family.
    core: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileFact {
    value: Spanned<f64>,
    unit: String,
    source: String,
}

/// Up to here an `f64` holds every whole number.
const MOST_BYTES: u64 = 1 << 53;

/// Facts being taken out of a file, with everything wrong about them.
pub(super) struct Facts<'a> {
    facts: &'a BTreeMap<String, Fact>,
    taken: Vec<&'static str>,
    origin: &'a str,
    errors: Diagnostics,
}

impl Facts<'_> {
    pub(super) fn error(&mut self, message: String) {
        self.errors.push(Diagnostic::error("machine-file", message).at(self.origin));
    }

    /// Whether nothing is wrong so far.
    pub(super) fn are_sound(&self) -> bool {
        self.errors.0.is_empty()
    }

    /// A positive number in `unit`; 1 after an error.
    pub(super) fn take(&mut self, name: &'static str, unit: &str) -> f64 {
        self.taken.push(name);
        let facts = self.facts;
        let Some(fact) = facts.get(name) else {
            self.error(format!("`{name}` is missing in `[facts]`"));
            return 1.0;
        };
        if fact.unit != unit {
            self.error(format!("`{name}` is given in `{}`, not in `{unit}`", fact.unit));
        } else if !fact.value.is_finite() {
            self.error(format!("`{name}` must be above 0 and finite, got {}", fact.value));
        } else if fact.value <= 0.0 {
            self.error(format!("`{name}` must be above 0, got {}", fact.value));
        } else if fact.source.is_empty() {
            self.error(format!("`{name}` has no source"));
        } else {
            return fact.value;
        }
        1.0
    }

    /// A whole number in `unit` from 1 to `most`; 1 after an error.
    pub(super) fn whole(&mut self, name: &'static str, unit: &str, most: u64) -> u64 {
        let value = self.take(name, unit);
        if value.fract() == 0.0 && (1.0..=most as f64).contains(&value) {
            return value as u64;
        }
        let got = if value < 1e18 { value.to_string() } else { format!("{value:e}") };
        self.error(format!("`{name}` must be a whole number from 1 to {most}, got {got}"));
        1
    }

    /// A whole number in `unit` from 1 to `most`, which fits 32 bits.
    pub(super) fn up_to(&mut self, name: &'static str, unit: &str, most: u64) -> u32 {
        self.whole(name, unit, most) as u32
    }

    pub(super) fn bytes(&mut self, name: &'static str) -> Bytes {
        Bytes(self.whole(name, "B", MOST_BYTES))
    }

    pub(super) fn count(&mut self, name: &'static str) -> u32 {
        self.whole(name, "1", u64::from(u32::MAX)) as u32
    }

    pub(super) fn rate(&mut self, name: &'static str) -> f64 {
        self.take(name, "FLOP/cycle")
    }

    /// Whether the file gives a fact that not every machine of the kind has.
    pub(super) fn has(&self, name: &str) -> bool {
        self.facts.contains_key(name)
    }

    /// The rate of a unit that not every machine of the kind has.
    pub(super) fn rate_if_any(&mut self, name: &'static str) -> Option<f64> {
        self.has(name).then(|| self.rate(name))
    }

    /// What code for a machine takes for granted: another value could not take effect. One that is missing was told.
    pub(super) fn fixed(&mut self, name: &str, got: u64, fixed: u64, of: &str) {
        if self.has(name) && got != fixed {
            self.error(format!("`{name}` is {fixed} in code of {of} and cannot be {got}"));
        }
    }

    fn check_tier(&mut self, kind: &str, tier: &str, known: &[&str]) {
        if !known.contains(&tier) {
            self.error(format!(
                "there is no instruction set tier `{tier}` of a {kind}: {}",
                known.join(", ")
            ));
        }
    }

    /// Features and the family of a core are of processors.
    fn check_isa_of_tier(&mut self, kind: &str, isa: &Isa) {
        if isa.features.is_some() {
            self.error(format!("a {kind} has no `features`: its tier says all"));
        }
        if isa.core.is_some() {
            self.error(format!("a {kind} has no `core`: its tier says all"));
        }
    }

    fn finish(mut self, kind: &str) -> Diagnostics {
        let unknown: Vec<&String> =
            self.facts.keys().filter(|name| !self.taken.contains(&name.as_str())).collect();
        for name in unknown {
            self.error(format!("`{name}` is no fact of a {kind}"));
        }
        self.errors
    }
}

pub(super) fn parse(text: &str, origin: &str) -> Result<Machine, Diagnostics> {
    let file: File = toml::from_str(text).map_err(|error| {
        let message = error.message().to_string();
        let place = error.span().map_or(origin.to_string(), |span| {
            let at = text[..span.start.min(text.len())].matches('\n').count();
            let key =
                text.lines().nth(at).and_then(|line| line.split_whitespace().next()).unwrap_or_default();
            format!("{origin}: line {}, `{key}`", at + 1)
        });
        Diagnostics::from(Diagnostic::error("machine-file", message).at(place))
    })?;
    let own: BTreeMap<String, Fact> = file
        .facts
        .into_iter()
        .map(|(name, fact)| {
            (name, Fact { value: *fact.value.get_ref(), unit: fact.unit, source: fact.source })
        })
        .collect();
    let facts = Facts { facts: &own, taken: Vec::new(), origin, errors: Diagnostics::default() };
    let kind = kind(&file.kind, &file.isa, file.host.as_deref(), facts)?;
    Ok(Machine {
        name: file.name,
        title: file.title,
        tier: file.isa.tier,
        kind,
        facts: own,
        text: text.to_string(),
        hash: Machine::digest(text),
    })
}

pub(super) fn with_fact(machine: &Machine, name: &str, value: f64) -> Result<Machine, Diagnostics> {
    let file: File = toml::from_str(&machine.text).expect("invariant: the text was parsed before");
    let Some(fact) = file.facts.get(name) else {
        let known: Vec<&str> = file.facts.keys().map(String::as_str).collect();
        let message = format!("machine `{}` has no fact `{name}`", machine.name);
        let note = format!("its facts are {}", known.join(", "));
        return Err(Diagnostic::error("unknown-fact", message).note(note).into());
    };
    if !value.is_finite() {
        let message = format!("`{name}` of machine `{}` cannot be {value}", machine.name);
        return Err(Diagnostic::error("machine-file", message).into());
    }
    let mut text = machine.text.clone();
    // Whole numbers beyond 64 bits are read as floats alone.
    let written = if value.abs() < 1e15 { value.to_string() } else { format!("{value:e}") };
    text.replace_range(fact.value.span(), &written);
    parse(&text, &format!("{} with {name} = {value}", machine.name))
}

fn kind(name: &str, isa: &Isa, host: Option<&str>, mut facts: Facts) -> Result<Kind, Diagnostics> {
    let kind = match name {
        "cpu" => {
            facts.check_tier(name, &isa.tier, &cpu::TIERS);
            if isa.features.is_none() {
                facts.error("`features` is missing in `[isa]`".to_string());
            }
            let features = isa.features.clone().unwrap_or_default();
            Kind::Cpu(Cpu::read(&mut facts, &isa.tier, features, isa.core.as_deref()))
        }
        "gpu" => {
            facts.check_tier(name, &isa.tier, &gpu::TIERS);
            facts.check_isa_of_tier(name, isa);
            Kind::Gpu(Gpu::read(&mut facts, &isa.tier))
        }
        "lpu" => {
            facts.check_tier(name, &isa.tier, &lpu::TIERS);
            facts.check_isa_of_tier(name, isa);
            Kind::Lpu(Lpu::read(&mut facts, host))
        }
        _ => {
            facts.error(format!("`{name}` is no kind of machine: cpu, gpu, lpu"));
            return Err(facts.errors);
        }
    };
    if let (Some(host), Kind::Cpu(_) | Kind::Gpu(_)) = (host, &kind) {
        facts.error(format!("a {name} has no `host`, and `{host}` is given"));
    }
    facts.finish(name).into_result(kind)
}
