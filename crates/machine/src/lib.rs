//! Machine descriptions as data: memories, units, rates; every number with unit and source.
//! In: a machine file (TOML).  Out: `Machine`, or `Diagnostics`.
//! May use: base.  Never knows: kernels, IR, which machine this process runs on (the caller probes).
//! Start reading at `lib.rs` (`Machine`), then `machines/*.toml`.

mod file;

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use tegula_base::units::{BytesPerSecond, FlopsPerSecond, Nanoseconds};
use tegula_base::{Bytes, DType, Diagnostics};

/// The machine classes that come with Tegula, by name.
const CLASSES: [(&str, &str); 6] = [
    ("avx2-generic", include_str!("../machines/avx2-generic.toml")),
    ("avx512-generic", include_str!("../machines/avx512-generic.toml")),
    ("sapphire-rapids", include_str!("../machines/sapphire-rapids.toml")),
    ("skylake-x", include_str!("../machines/skylake-x.toml")),
    ("zen4", include_str!("../machines/zen4.toml")),
    ("zen5", include_str!("../machines/zen5.toml")),
];

/// What sort of machine it is; decides which target compiles for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Cpu,
}

/// A number of a machine file.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    pub value: f64,
    pub unit: String,
    /// Data sheet, manual, measurement file, or what was assumed and why.
    pub source: String,
}

/// Arithmetic rates of one core, in operations a cycle; a multiply-add counts two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlopsPerCycle {
    pub f32: f64,
    pub f64: f64,
    /// With sums in `f32`.
    pub bf16: f64,
    /// 8-bit products with sums in `i32`.
    pub i8: f64,
}

/// A machine class or a probed machine. Sizes of caches are those that one core can use.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    pub name: String,
    pub title: String,
    pub kind: Kind,
    /// Instruction set tier of the code made for it: `avx2` or `avx512`.
    pub tier: String,
    /// Instruction set extensions that the tier needs, as `/proc/cpuinfo` and LLVM spell them.
    pub features: Vec<String>,
    pub vector: Bytes,
    pub vector_registers: u32,
    pub l1d: Bytes,
    pub l2: Bytes,
    pub l3: Bytes,
    pub cache_line: Bytes,
    /// Cores of the machine that the numbers are of; never part of a compiled layout.
    pub cores: u32,
    /// Cycles a second of a core under load.
    pub frequency_hz: f64,
    pub flops_per_cycle: FlopsPerCycle,
    /// Between L1 and L2, of one core.
    pub l2_bytes_per_cycle: f64,
    /// All cores together.
    pub memory_bandwidth: BytesPerSecond,
    /// Starting and joining the threads of one launch.
    pub launch_overhead: Nanoseconds,
    /// All numbers as the file has them, for `explain`.
    pub facts: BTreeMap<String, Fact>,
    hash: String,
}

impl Machine {
    /// The names that [`Machine::class`] knows.
    pub fn class_names() -> impl Iterator<Item = &'static str> {
        CLASSES.iter().map(|(name, _)| *name)
    }

    /// A machine class that comes with Tegula.
    pub fn class(name: &str) -> Option<Machine> {
        let (name, text) = CLASSES.iter().find(|(own, _)| *own == name)?;
        Some(Machine::parse(text, name).expect("invariant: tests parse every machine class"))
    }

    /// Reads a machine file; `origin` names it in messages.
    /// Errors: `machine-file`, one for each missing or wrong entry.
    pub fn parse(text: &str, origin: &str) -> Result<Machine, Diagnostics> {
        file::parse(text, origin)
    }

    /// SHA-256 of the file's text, in hexadecimal: what a package's manifest records.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Peak arithmetic rate of one core on operands of a dtype.
    pub fn peak(&self, dtype: DType) -> FlopsPerSecond {
        let rates = &self.flops_per_cycle;
        let per_cycle = match dtype {
            DType::F64 | DType::I64 | DType::U64 => rates.f64,
            DType::BF16 => rates.bf16,
            DType::I8 | DType::U8 | DType::I4 | DType::U4 => rates.i8,
            DType::F32
            | DType::F16
            | DType::F8E4M3FN
            | DType::F8E5M2
            | DType::I16
            | DType::U16
            | DType::I32
            | DType::U32
            | DType::Bool => rates.f32,
        };
        FlopsPerSecond(per_cycle * self.frequency_hz)
    }

    /// Bandwidth of one core's L2 cache.
    pub fn l2_bandwidth(&self) -> BytesPerSecond {
        BytesPerSecond(self.l2_bytes_per_cycle * self.frequency_hz)
    }

    fn digest(text: &str) -> String {
        Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_parses() {
        for name in Machine::class_names() {
            let machine = Machine::class(name).unwrap();
            assert_eq!(machine.name, name);
            assert_eq!(machine.hash().len(), 64);
            assert!(machine.l1d.0 < machine.l2.0 && machine.l2.0 < machine.l3.0, "{name}");
            assert!(machine.facts.values().all(|fact| !fact.source.is_empty()), "{name}");
        }
        assert_eq!(Machine::class("zen5").unwrap().peak(DType::F32), FlopsPerSecond(64.0 * 3.2e9));
        assert!(Machine::class("pdp11").is_none());
    }

    #[test]
    fn every_fault_is_reported() {
        let text = CLASSES[5]
            .1
            .replace("l1d ", "l1x ")
            .replace("\"Hz\"", "\"MHz\"")
            .replace("\"cpu\"", "\"toaster\"");
        let errors = Machine::parse(&text, "my.toml").unwrap_err().to_string();
        let expected = "\
error[machine-file]: `toaster` is no kind of machine: cpu
  --> my.toml
error[machine-file]: `l1d` is missing in `[facts]`
  --> my.toml
error[machine-file]: `frequency` is given in `MHz`, not in `Hz`
  --> my.toml
error[machine-file]: `l1x` is no fact of a machine
  --> my.toml";
        assert_eq!(errors, expected);
    }

    #[test]
    fn text_that_is_no_table() {
        let errors = Machine::parse("name = ", "my.toml").unwrap_err().to_string();
        assert!(errors.starts_with("error[machine-file]: "), "{errors}");
    }
}
