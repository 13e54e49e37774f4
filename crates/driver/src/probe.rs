//! Which of the checked-in machine classes fits a processor or GPU, from facts that a face reads off it.

use std::ops::RangeInclusive;
use tegula_base::feature::is_among;
use tegula_machine::Machine;

/// What a face knows of the processor it runs on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessorFacts {
    /// `AuthenticAMD`, `GenuineIntel` ...; empty when unknown.
    pub vendor: String,
    pub family: u32,
    pub model: u32,
    /// Instruction set extensions that are there, as `std::is_x86_feature_detected!` spells them.
    pub features: Vec<String>,
}

/// Class and the processors it is for: vendor, family, models (all when empty). Families and models are CPUID's, as
/// `/proc/cpuinfo` shows them; Intel SDM volume 4, table 2-1; AMD processor programming references, and of family 25 Linux,
/// `arch/x86/kernel/cpu/amd.c`.
const PROCESSORS: [(&str, &str, u32, &[RangeInclusive<u32>]); 7] = [
    ("zen5", "AuthenticAMD", 26, &[]),
    ("zen4", "AuthenticAMD", 25, &[0x10..=0x1f, 0x60..=0xaf]),
    ("zen3", "AuthenticAMD", 25, &[0x00..=0x0f, 0x20..=0x5f]),
    ("sapphire-rapids", "GenuineIntel", 6, &[0x8f..=0x8f, 0xcf..=0xcf]),
    ("ice-lake-server", "GenuineIntel", 6, &[0x6a..=0x6a, 0x6c..=0x6c]),
    ("skylake-x", "GenuineIntel", 6, &[0x55..=0x55]),
    ("sapphire-rapids", "GenuineIntel", 6, &[0xad..=0xae]),
];

/// Classes for processors that are not in the table, best first; of each tier the one that is named after it has the fewest
/// features.
pub const GENERIC: [&str; 4] = ["avx512-bf16-generic", "avx512-generic", "avx2-vnni-generic", "avx2-generic"];

/// The class made for the processor if its features are all there, else the best generic one that runs;
/// `None` when none does.
pub fn fitting_class(facts: &ProcessorFacts) -> Option<Machine> {
    let made_for = PROCESSORS.iter().filter(|(_, vendor, family, models)| {
        facts.vendor == *vendor
            && facts.family == *family
            && (models.is_empty() || models.iter().any(|models| models.contains(&facts.model)))
    });
    let names = made_for.map(|(name, ..)| *name).chain(GENERIC);
    names.filter_map(Machine::class).find(|machine| runs(machine, facts))
}

/// GPUs by a word of their name.
const CARDS: [(&str, &str); 3] = [("H200", "h200"), ("H100", "h100"), ("A100", "a100")];
/// For other GPUs, from a compute capability on: the last row that is not above theirs. Code for sm_90a runs on 9.0 alone;
/// what comes later runs code for sm_80.
const CAPABILITIES: [((u32, u32), &str); 3] = [((8, 0), "a100"), ((9, 0), "h200"), ((9, 1), "a100")];

/// The class made for a GPU, by its name, else by its compute capability; `None` when no code is made for it.
pub fn fitting_gpu(name: &str, capability: (u32, u32)) -> Option<Machine> {
    let by_name = CARDS.iter().find(|(word, _)| name.contains(word)).map(|(_, class)| *class);
    let by_capability = CAPABILITIES.iter().rev().find(|(from, _)| *from <= capability);
    Machine::class(by_name.or(by_capability.map(|(_, class)| *class))?)
}

/// Whether code for the machine runs on the processor.
pub fn runs(machine: &Machine, facts: &ProcessorFacts) -> bool {
    machine.cpu().is_some_and(|cpu| cpu.features.iter().all(|feature| is_among(feature, &facts.features)))
}

/// The names of all extensions that some class asks for.
pub fn asked_features() -> Vec<String> {
    let machines: Vec<Machine> = Machine::class_names().filter_map(Machine::class).collect();
    let cpus = machines.iter().filter_map(Machine::cpu);
    let mut names: Vec<String> = cpus.flat_map(|cpu| cpu.features.iter().cloned()).collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_get_their_class() {
        let class = |name, capability| fitting_gpu(name, capability).map(|machine| machine.name);
        assert_eq!(class("NVIDIA H100 80GB HBM3", (9, 0)).as_deref(), Some("h100"));
        assert_eq!(class("NVIDIA GH200", (9, 0)).as_deref(), Some("h200"));
        assert_eq!(class("NVIDIA L4", (8, 9)).as_deref(), Some("a100"));
        assert_eq!(class("NVIDIA B200", (10, 0)).as_deref(), Some("a100"));
        assert_eq!(class("Tesla T4", (7, 5)), None);
    }

    fn facts(vendor: &str, family: u32, model: u32, class: &str) -> ProcessorFacts {
        let features = Machine::class(class).unwrap().cpu().unwrap().features.clone();
        ProcessorFacts { vendor: vendor.into(), family, model, features }
    }

    #[test]
    fn known_processors_get_their_class() {
        let class = |facts: &ProcessorFacts| fitting_class(facts).map(|machine| machine.name);
        assert_eq!(class(&facts("AuthenticAMD", 26, 2, "zen5")).as_deref(), Some("zen5"));
        assert_eq!(class(&facts("AuthenticAMD", 25, 0x11, "zen4")).as_deref(), Some("zen4"));
        assert_eq!(class(&facts("AuthenticAMD", 25, 1, "avx2-generic")).as_deref(), Some("zen3"));
        // A guest of a Zen 4 that is not told of BF16, and a Zen 2.
        assert_eq!(
            class(&facts("AuthenticAMD", 25, 0x11, "avx512-generic")).as_deref(),
            Some("avx512-generic")
        );
        assert_eq!(class(&facts("AuthenticAMD", 23, 0x31, "avx2-generic")).as_deref(), Some("avx2-generic"));
        assert_eq!(
            class(&facts("GenuineIntel", 6, 0x6a, "avx512-generic")).as_deref(),
            Some("ice-lake-server")
        );
        for generic in GENERIC {
            assert_eq!(class(&facts("", 0, 0, generic)).as_deref(), Some(generic));
        }
        assert_eq!(class(&ProcessorFacts::default()), None);
    }
}
