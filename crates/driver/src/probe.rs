//! Which of the checked-in machine classes fits a processor, from facts that a face reads off it.

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
/// `/proc/cpuinfo` shows them; Intel SDM volume 4, table 2-1; AMD processor programming references.
const PROCESSORS: [(&str, &str, u32, &[u32]); 5] = [
    ("zen5", "AuthenticAMD", 26, &[]),
    // Zen 3 shares the family but has no AVX-512, which the class needs.
    ("zen4", "AuthenticAMD", 25, &[]),
    ("sapphire-rapids", "GenuineIntel", 6, &[0x8f, 0xcf]),
    ("skylake-x", "GenuineIntel", 6, &[0x55]),
    ("sapphire-rapids", "GenuineIntel", 6, &[0xad, 0xae]),
];

/// Classes for processors that are not in the table, best first.
const GENERIC: [&str; 2] = ["avx512-generic", "avx2-generic"];

/// The class made for the processor if its features are all there, else the best generic one that runs;
/// `None` when none does.
pub fn fitting_class(facts: &ProcessorFacts) -> Option<Machine> {
    let made_for = PROCESSORS.iter().filter(|(_, vendor, family, models)| {
        facts.vendor == *vendor
            && facts.family == *family
            && (models.is_empty() || models.contains(&facts.model))
    });
    let names = made_for.map(|(name, ..)| *name).chain(GENERIC);
    names.filter_map(Machine::class).find(|machine| runs(machine, facts))
}

/// Whether code for the machine runs on the processor.
pub fn runs(machine: &Machine, facts: &ProcessorFacts) -> bool {
    machine.cpu().is_some_and(|cpu| cpu.features.iter().all(|feature| facts.features.contains(feature)))
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

    fn facts(vendor: &str, family: u32, model: u32, class: &str) -> ProcessorFacts {
        let features = Machine::class(class).unwrap().cpu().unwrap().features.clone();
        ProcessorFacts { vendor: vendor.into(), family, model, features }
    }

    #[test]
    fn known_processors_get_their_class() {
        let class = |facts: &ProcessorFacts| fitting_class(facts).map(|machine| machine.name);
        assert_eq!(class(&facts("AuthenticAMD", 26, 2, "zen5")).as_deref(), Some("zen5"));
        // Zen 3: of zen4's family, without AVX-512.
        assert_eq!(class(&facts("AuthenticAMD", 25, 1, "avx2-generic")).as_deref(), Some("avx2-generic"));
        assert_eq!(class(&facts("", 0, 0, "avx512-generic")).as_deref(), Some("avx512-generic"));
        assert_eq!(class(&ProcessorFacts::default()), None);
    }
}
