//! Machine descriptions as data: memories, units, rates; every number with unit and source.
//! In: a machine file (TOML).  Out: `Machine`, or `Diagnostics`.
//! May use: base.  Never knows: kernels, IR, which machine this process runs on (the caller probes).
//! Start reading at `lib.rs` (`Machine`), then `cpu.rs`, `gpu.rs`, `lpu.rs` and `machines/*.toml`.

mod cpu;
mod file;
mod gpu;
mod lpu;

pub use cpu::{Core, CoreFamily, Cpu, FlopsPerCycle, ZenPipes};
pub use gpu::{Gpu, TensorRates};
pub use lpu::{HostLink, Links, Lpu, Mem, Mxm, Sxm, Vxm};

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use tegula_base::Diagnostics;

/// The machine classes that come with Tegula, by name.
const CLASSES: [(&str, &str); 16] = [
    ("a100", include_str!("../machines/a100.toml")),
    ("avx2-generic", include_str!("../machines/avx2-generic.toml")),
    ("avx2-vnni-generic", include_str!("../machines/avx2-vnni-generic.toml")),
    ("avx512-bf16-generic", include_str!("../machines/avx512-bf16-generic.toml")),
    ("avx512-generic", include_str!("../machines/avx512-generic.toml")),
    ("h100", include_str!("../machines/h100.toml")),
    ("h200", include_str!("../machines/h200.toml")),
    ("ice-lake-server", include_str!("../machines/ice-lake-server.toml")),
    ("lpu-mini", include_str!("../machines/lpu-mini.toml")),
    ("lpx", include_str!("../machines/lpx.toml")),
    ("sapphire-rapids", include_str!("../machines/sapphire-rapids.toml")),
    ("skylake-x", include_str!("../machines/skylake-x.toml")),
    ("tsp1", include_str!("../machines/tsp1.toml")),
    ("zen3", include_str!("../machines/zen3.toml")),
    ("zen4", include_str!("../machines/zen4.toml")),
    ("zen5", include_str!("../machines/zen5.toml")),
];

/// A machine class or a probed machine: what all kinds have in common, and what is the kind's own.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    pub name: String,
    pub title: String,
    /// Instruction set of the code made for it: `avx2`, `avx512`, `sm_80`, `sm_90a` ...
    pub tier: String,
    pub kind: Kind,
    /// All numbers as the file has them, for `explain`.
    pub facts: BTreeMap<String, Fact>,
    /// The file that it was read from.
    text: String,
    hash: String,
}

/// What sort of machine it is; decides which target compiles for it.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Cpu(Cpu),
    Gpu(Gpu),
    /// A chip whose every cycle the compiler decides.
    Lpu(Lpu),
}

/// A number of a machine file.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    pub value: f64,
    pub unit: String,
    /// Data sheet, manual, measurement file, or what was assumed and why.
    pub source: String,
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

    /// The machine file's text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is a class that comes with Tegula, unchanged.
    pub fn is_class(&self) -> bool {
        CLASSES.iter().any(|(name, text)| *name == self.name && *text == self.text)
    }

    /// The same machine with another value of one fact, in the file's unit.
    /// Errors: `unknown-fact`; `machine-file`, a value that the fact cannot have.
    pub fn with_fact(&self, name: &str, value: f64) -> Result<Machine, Diagnostics> {
        file::with_fact(self, name, value)
    }

    /// The processor, if it is one that runs the host program too.
    pub fn cpu(&self) -> Option<&Cpu> {
        match &self.kind {
            Kind::Cpu(cpu) => Some(cpu),
            Kind::Gpu(_) | Kind::Lpu(_) => None,
        }
    }

    /// The GPU, if it is one.
    pub fn gpu(&self) -> Option<&Gpu> {
        match &self.kind {
            Kind::Gpu(gpu) => Some(gpu),
            Kind::Cpu(_) | Kind::Lpu(_) => None,
        }
    }

    /// The streaming chip, if it is one.
    pub fn lpu(&self) -> Option<&Lpu> {
        match &self.kind {
            Kind::Lpu(lpu) => Some(lpu),
            Kind::Cpu(_) | Kind::Gpu(_) => None,
        }
    }

    fn digest(text: &str) -> String {
        Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tegula_base::DType;
    use tegula_base::units::FlopsPerSecond;

    #[test]
    fn every_class_parses() {
        for name in Machine::class_names() {
            let machine = Machine::class(name).unwrap();
            assert_eq!(machine.name, name);
            assert_eq!(machine.hash().len(), 64);
            assert!(machine.facts.values().all(|fact| !fact.source.is_empty()), "{name}");
            if let Some(cpu) = machine.cpu() {
                assert!(cpu.l1d.0 < cpu.l2.0 && cpu.l2.0 < cpu.l3.0, "{name}");
            }
            if let Some(gpu) = machine.gpu() {
                assert!(gpu.shared_memory_per_cta.0 < gpu.shared_memory.0, "{name}");
                assert!(gpu.copy_bandwidth.0 < gpu.memory_bandwidth.0, "{name}");
                assert!(gpu.sustained_clock_hz <= gpu.tensor_clock_hz, "{name}");
            }
        }
        assert!(Machine::class("pdp11").is_none());
    }

    #[test]
    fn peaks_are_the_data_sheets() {
        let zen5 = Machine::class("zen5").unwrap();
        assert_eq!(zen5.cpu().unwrap().peak(DType::F32), FlopsPerSecond(64.0 * 3.2e9));
        let dense = |name: &str, dtype| {
            let machine = Machine::class(name).unwrap();
            let gpu = machine.gpu().unwrap();
            gpu.tensor
                .rate(dtype)
                .map(|rate| (rate * gpu.tensor_clock_hz * f64::from(gpu.sms) / 1e12).round())
        };
        assert_eq!(dense("h100", DType::BF16), Some(989.0));
        assert_eq!(dense("h200", DType::F8E4M3FN), Some(1979.0));
        assert_eq!(dense("a100", DType::F16), Some(312.0));
        assert_eq!(dense("a100", DType::I8), Some(624.0));
        assert_eq!(dense("a100", DType::F8E4M3FN), None);
    }

    /// Published: 750 and 188 TOP/s, 220 MiB, 144 queues; of the later chip 500 MB, 150 TB/s, 1.2 PFLOP/s f8.
    #[test]
    fn streaming_chips_have_the_published_sizes() {
        let tera = |machine: &str, which: usize| {
            let machine = Machine::class(machine).unwrap();
            let lpu = machine.lpu().unwrap();
            2.0 * lpu.multiply_adds()[which] as f64 * lpu.clock_hz / 1e12
        };
        assert!((tera("tsp1", 0) / 750.0 - 1.0).abs() < 0.02 && (tera("tsp1", 1) / 188.0 - 1.0).abs() < 0.02);
        assert!((tera("lpx", 0) / 1200.0 - 1.0).abs() < 0.03);
        let tsp1 = Machine::class("tsp1").unwrap();
        let lpu = tsp1.lpu().unwrap();
        assert_eq!((lpu.sram(), lpu.queues(), lpu.vector()), (220 << 20, 144, 320));
        assert_eq!((lpu.sxm_position(), lpu.mxm_position()), (12, 13));
        let lpx = Machine::class("lpx").unwrap();
        let lpu = lpx.lpu().unwrap();
        assert!((lpu.sram() as f64 / 500e6 - 1.0).abs() < 0.05);
        let ports = f64::from(2 * lpu.mem.slices * lpu.mem.banks * lpu.vector()) * lpu.clock_hz;
        assert!((ports / 150e12 - 1.0).abs() < 0.03);
    }

    #[test]
    fn hosts_are_processors() {
        for name in Machine::class_names() {
            let machine = Machine::class(name).unwrap();
            let Some(lpu) = machine.lpu() else { continue };
            assert!(Machine::class(&lpu.processor).unwrap().cpu().is_some(), "{name}");
        }
        let text = include_str!("../machines/lpu-mini.toml").replace("avx2-generic", "z80");
        let error = Machine::parse(&text, "mini").unwrap_err().to_string();
        assert!(error.contains("`host` is the class of a processor, and `z80` is none"), "{error}");
        let text = include_str!("../machines/zen5.toml")
            .replace("kind = \"cpu\"", "kind = \"cpu\"\nhost = \"zen3\"");
        let error = Machine::parse(&text, "zen").unwrap_err().to_string();
        assert!(error.contains("a cpu has no `host`, and `zen3` is given"), "{error}");
    }

    #[test]
    fn sizes_of_streaming_chips_fit_one_another() {
        let text = include_str!("../machines/lpu-mini.toml");
        let refusal = |name: &str, value: u32| {
            let machine = Machine::parse(text, "mini").unwrap();
            machine.with_fact(name, f64::from(value)).unwrap_err().0[0].message.clone()
        };
        assert_eq!(refusal("mem_group", 3), "`mem_slices` (8) is no multiple of `mem_group` (3)");
        assert_eq!(refusal("mxm_k", 24), "`mxm_k` (24) is more than the 16 bytes of a vector");
        assert_eq!(
            refusal("mxm_load_streams", 16),
            "`mxm_load_streams` (16) is more than the streams of a direction"
        );
        assert_eq!(
            refusal("queue_words", 39),
            "`queue_words` (39) must be 40 or more, which a `fetch` brings"
        );
        assert_eq!(refusal("vxm_large", 17), "`vxm_large` (17) is more than `vxm_alus` (16)");
        assert_eq!(
            refusal("mxm_latency", 1),
            "`mxm_latency` must be 2 or more: a row's sums are taken one cycle before they are driven"
        );
    }

    #[test]
    fn streaming_chips_fit_the_smallest_flow() {
        let text = include_str!("../machines/lpu-mini.toml");
        let machine = Machine::parse(text, "mini").unwrap();
        let refusal = |changes: &[(&str, f64)]| {
            let text = changes.iter().fold(machine.text().to_string(), |text, (name, value)| {
                let line = text.lines().find(|line| line.split_whitespace().next() == Some(name)).unwrap();
                let (before, after) = line.split_once("value = ").unwrap();
                let (_, after) = after.split_once(',').unwrap();
                text.replace(line, &format!("{before}value = {value},{after}"))
            });
            Machine::parse(&text, "mini").unwrap_err().to_string()
        };
        let streams = [("mxm_load_streams", 4.0), ("streams_east", 7.0)];
        let message = "`streams_east` (7) must be 8 or more: two operands of 4 bytes come at once";
        assert_eq!(refusal(&streams), format!("error[machine-file]: {message}\n  --> mini"));
        let slices = [("mem_slices", 3.0), ("mem_group", 1.0), ("text_slices", 2.0)];
        let message = "`mem_slices` (3) must be 4 or more: 8 vectors are read and 4 written at once";
        assert_eq!(refusal(&slices), format!("error[machine-file]: {message}\n  --> mini"));
        let banks = [("mem_slices", 4.0), ("mem_banks", 1.0)];
        let message = "`mem_slices` (4) must be 6 or more: 8 vectors are read and 4 written at once";
        assert_eq!(refusal(&banks), format!("error[machine-file]: {message}\n  --> mini"));
    }

    /// A number that is no number is compared to no other.
    #[test]
    fn a_wrong_size_of_a_streaming_chip_is_one_fault() {
        let machine = Machine::class("lpu-mini").unwrap();
        let found = machine.with_fact("superlanes", 0.0).unwrap_err();
        assert_eq!(found.0.len(), 1, "{found}");
        assert_eq!(found.0[0].message, "`superlanes` must be above 0, got 0");
    }

    #[test]
    fn every_fault_is_reported() {
        let text = include_str!("../machines/zen5.toml")
            .replace("l1d ", "l1x ")
            .replace("\"Hz\"", "\"MHz\"")
            .replace("\"avx512\"", "\"altivec\"");
        let errors = Machine::parse(&text, "my.toml").unwrap_err().to_string();
        let expected = "\
error[machine-file]: there is no instruction set tier `altivec` of a cpu: avx2, avx512
  --> my.toml
error[machine-file]: `l1d` is missing in `[facts]`
  --> my.toml
error[machine-file]: `frequency` is given in `MHz`, not in `Hz`
  --> my.toml
error[machine-file]: `core_clock` is given in `MHz`, not in `Hz`
  --> my.toml
error[machine-file]: `l1x` is no fact of a cpu
  --> my.toml";
        assert_eq!(errors, expected);
    }

    #[test]
    fn cores_that_are_described_are_of_a_family() {
        let text = include_str!("../machines/zen5.toml");
        let refusal = |core: &str| {
            Machine::parse(&text.replace("core = \"zen\"\n", core), "my.toml").unwrap_err().to_string()
        };
        let message = "`core` in `[isa]` names the family of the cores (zen, sunny-cove, golden-cove)";
        assert!(refusal("").contains(&format!("{message}; none is given")), "{}", refusal(""));
        let other = refusal("core = \"atom\"\n");
        assert!(other.contains(&format!("{message}; `atom` is none")), "{other}");
    }

    /// Predictions divide by some of them, and keep a place in memory for each of others.
    #[test]
    fn numbers_that_count_are_whole_and_bounded() {
        let zen4 = include_str!("../machines/zen4.toml");
        let refusal = |name: &str, value: &str| {
            let given = zen4.lines().find(|line| line.split_whitespace().next() == Some(name)).unwrap();
            let (before, after) = given.split_once("value = ").unwrap();
            let (_, after) = after.split_once(',').unwrap();
            let text = zen4.replace(given, &format!("{before}value = {value},{after}"));
            Machine::parse(&text, "my.toml").unwrap_err().to_string()
        };
        let message = |name: &str, most: u64, got: &str| {
            let what = format!("`{name}` must be a whole number from 1 to {most}, got {got}");
            format!("error[machine-file]: {what}\n  --> my.toml")
        };
        for (name, most) in [
            ("core_datapath", 1 << 53),
            ("core_store_bytes", 1 << 53),
            ("core_twin_store_bytes", 1 << 53),
            ("dispatch", 65535),
            ("core_window", 65536),
            ("core_stores", 65536),
            ("core_vector_scheduler", 65536),
            ("core_vector_line", 65536),
            ("core_alus", 6),
            ("core_multipliers", 6),
            ("core_shift_pipe", 3),
            ("core_crossing", 1 << 53),
            ("core_load", 65535),
            ("core_l3_ways", 64),
            ("core_l3_reach", 1 << 30),
            ("l1d", 1 << 30),
            ("cores", u64::from(u32::MAX)),
        ] {
            for value in ["0.5", "1.5", "1e16"] {
                let got: f64 = value.parse().unwrap();
                assert_eq!(refusal(name, value), message(name, most, &got.to_string()));
            }
            // What is wrong in another way is told once.
            let negative = format!("error[machine-file]: `{name}` must be above 0, got -1\n  --> my.toml");
            assert_eq!(refusal(name, "-1"), negative);
        }
    }

    /// Predictions divide by rates.
    #[test]
    fn rates_are_above_zero() {
        let zen4 = include_str!("../machines/zen4.toml");
        for name in ["frequency", "flops_f32", "memory_bandwidth", "core_clock"] {
            let given = zen4.lines().find(|line| line.split_whitespace().next() == Some(name)).unwrap();
            let (before, after) = given.split_once("value = ").unwrap();
            let (_, after) = after.split_once(',').unwrap();
            for value in ["0", "-1", "inf", "nan"] {
                let text = zen4.replace(given, &format!("{before}value = {value},{after}"));
                let refusal = Machine::parse(&text, "my.toml").expect_err("a refusal").to_string();
                assert!(refusal.contains(&format!("`{name}` must be above 0")), "{value}: {refusal}");
            }
        }
    }

    #[test]
    fn kinds_do_not_mix() {
        let refusal = |text: &str| {
            let errors = Machine::parse(text, "my.toml").unwrap_err().to_string();
            errors.lines().next().unwrap().to_string()
        };
        let h100 = include_str!("../machines/h100.toml");
        assert_eq!(
            refusal(&h100.replace("\"gpu\"", "\"toaster\"")),
            "error[machine-file]: `toaster` is no kind of machine: cpu, gpu, lpu"
        );
        assert_eq!(
            refusal(&h100.replace("\"sm_90a\"", "\"avx512\"")),
            "error[machine-file]: there is no instruction set tier `avx512` of a gpu: sm_80, sm_86, sm_89, sm_90a"
        );
        assert_eq!(
            refusal(&h100.replace("\"gpu\"", "\"cpu\"")),
            "error[machine-file]: there is no instruction set tier `sm_90a` of a cpu: avx2, avx512"
        );
        assert_eq!(
            refusal(&h100.replace("[facts]", "features = [\"avx2\"]\n[facts]")),
            "error[machine-file]: a gpu has no `features`: its tier says all"
        );
    }

    #[test]
    fn what_code_takes_for_granted_cannot_change() {
        let [zen5, zen3] = ["zen5", "zen3"].map(|name| Machine::class(name).unwrap());
        let refusal = |machine: &Machine, name, value| {
            let errors = machine.with_fact(name, value).unwrap_err().to_string();
            errors.lines().next().unwrap().to_string()
        };
        assert_eq!(
            refusal(&zen5, "vector_bytes", 32.0),
            "error[machine-file]: `vector_bytes` is 64 in code of tier `avx512` and cannot be 32"
        );
        assert_eq!(
            refusal(&zen3, "vector_registers", 32.0),
            "error[machine-file]: `vector_registers` is 16 in code of tier `avx2` and cannot be 32"
        );
        assert_eq!(
            refusal(&zen3, "cache_line", 128.0),
            "error[machine-file]: `cache_line` is 64 in code of x86-64 and cannot be 128"
        );
        assert_eq!(refusal(&zen3, "l4", 1.0), "error[unknown-fact]: machine `zen3` has no fact `l4`");
    }

    #[test]
    fn one_fact_changes_alone() {
        let zen5 = Machine::class("zen5").unwrap();
        let slower = zen5.with_fact("memory_bandwidth", 3e9).unwrap();
        assert_eq!(slower.facts["memory_bandwidth"].value, 3e9);
        assert_eq!(slower.text().lines().count(), zen5.text().lines().count());
        assert!(zen5.is_class() && !slower.is_class() && zen5.hash() != slower.hash());
        let back = slower.with_fact("memory_bandwidth", 576e9).unwrap();
        assert_eq!((back.kind, back.facts), (zen5.kind, zen5.facts));
    }

    #[test]
    fn text_that_is_no_table() {
        let errors = Machine::parse("name = ", "my.toml").unwrap_err().to_string();
        assert!(errors.starts_with("error[machine-file]: "), "{errors}");
    }
}
