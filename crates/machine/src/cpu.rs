//! What a machine file says of a processor. Sizes of caches are those that one core can use.

use super::file::Facts;
use tegula_base::units::{BytesPerSecond, FlopsPerSecond, Nanoseconds};
use tegula_base::{Bytes, DType};

/// The tiers that the CPU target compiles.
pub(super) const TIERS: [&str; 2] = ["avx2", "avx512"];

/// What a tier's instructions fix: bytes of a vector, and vector registers.
/// Source: AMD64 Architecture Programmer's Manual, volume 1.
const WIDTHS: [(&str, u64, u32); 2] = [("avx2", 32, 16), ("avx512", 64, 32)];
/// Bytes of a cache line of every x86-64 processor.
const LINE: u64 = 64;

/// The facts of a CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Cpu {
    /// Instruction set extensions that the tier needs, as `/proc/cpuinfo` and LLVM spell them.
    pub features: Vec<String>,
    pub vector: Bytes,
    pub vector_registers: u32,
    pub l1d: Bytes,
    pub l2: Bytes,
    /// The part that one core fills.
    pub l3: Bytes,
    pub cache_line: Bytes,
    /// Cores of the machine that the numbers are of; never part of a compiled layout.
    pub cores: u32,
    /// Cycles a second of a core under load.
    pub frequency_hz: f64,
    /// Instructions that enter a core in a cycle; two threads of one core share them.
    pub dispatch: u16,
    pub flops_per_cycle: FlopsPerCycle,
    /// Between L1 and L2, of one core.
    pub l2_bytes_per_cycle: f64,
    /// All cores together.
    pub memory_bandwidth: BytesPerSecond,
    /// Starting and joining the threads of one launch.
    pub launch_overhead: Nanoseconds,
    /// What code takes on a core in detail; none where nobody measured it.
    pub core: Option<Core>,
}

/// Whose ports a core has: which kinds of work go through which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoreFamily {
    /// AMD's since Zen: vectors have pipes of their own.
    Zen(ZenPipes),
    /// Intel's Sunny Cove as servers have it, with 512-bit multiply-adds on port 5: vectors share ports with everything else.
    SunnyCove,
    /// Intel's since Golden Cove, with one more port for general registers and one more for narrow loads.
    GoldenCove,
}

/// What differs between AMD's cores in units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZenPipes {
    /// Units of general registers, and those of them that multiply.
    pub alus: u16,
    pub multipliers: u16,
    /// The first of the two neighbours that shift vectors; pipes of vectors are numbered from 1, multipliers first.
    pub shift: u16,
    /// Bytes that move across 128-bit lanes at once: wider vectors pass in parts there, whatever the datapath.
    pub crossing: usize,
}

/// The names of families in machine files.
const FAMILIES: [&str; 3] = ["zen", "sunny-cove", "golden-cove"];

/// One core as it runs code, alone on its machine. Cycles are of its clock under load.
#[derive(Clone, Debug, PartialEq)]
pub struct Core {
    pub family: CoreFamily,
    pub clock_hz: f64,
    /// Instructions that enter in a cycle, as the machine says, are on their way at once, and stores that wait to be written.
    pub dispatch: u16,
    pub window: usize,
    pub stores: usize,
    /// Instructions on vectors that wait for operands, and those in line before them.
    pub vector_scheduler: usize,
    pub vector_line: usize,
    /// Bytes that a unit, and a load, takes at once: wider vectors pass in parts, one after the other.
    pub datapath: usize,
    /// Bytes of a vector that are stored in a cycle, and up to which two stores leave in one.
    pub store_bytes: usize,
    pub twin_store_bytes: usize,
    /// Cycles to a result of logic on the widest vectors, of shifts, and of conversions.
    pub logic: u16,
    pub shift: u16,
    pub convert: u16,
    /// Cycles to a result from L1, of a general and of a vector register.
    pub load: u16,
    pub vector_load: u16,
    /// Cycles beside those of a load until a vector comes from a store, and after a store is written until a load comes
    /// that could not have its bytes before.
    pub forward: u16,
    pub blocked_load: u16,
    /// Cycles after a branch that was not foreseen.
    pub mispredict: u16,
    /// Cycles between two divisions and between two square roots of the widest vectors.
    pub divide: f64,
    pub sqrt: f64,
    pub l1_ways: usize,
    pub l2_ways: usize,
    pub l3_ways: usize,
    /// What one core uses of the level 3 cache.
    pub l3_reach: Bytes,
    /// Cycles that a line takes on the path from L2, L3 and memory.
    pub line: [f64; 3],
    /// As how many of these a line counts that is written: it comes in, and later goes out.
    pub written_line: f64,
    /// Cycles until a line of L2, L3 and memory has come that was not asked for ahead.
    pub latency: [f64; 3],
    /// How many cycles ahead lines are fetched.
    pub ahead: f64,
    /// What a launch takes beside its code.
    pub launch: Nanoseconds,
}

/// Ports that `perf` has for scalar arithmetic.
const MOST_ALUS: u64 = 6;
/// The first of the last two pipes for vectors, of four.
const LAST_SHIFT_PIPE: u64 = 3;
/// What `perf` keeps in memory of a core: places of a queue, ways of a cache, and a cache's bytes, a number a line. Each
/// is far above what cores have.
const MOST_PLACES: u64 = 1 << 16;
const MOST_WAYS: u64 = 64;
const MOST_CACHE: u64 = 1 << 30;
/// What a cycle's instructions and an instruction's cycles are held in.
const MOST_CYCLES: u64 = u16::MAX as u64;

impl Core {
    fn read(facts: &mut Facts, dispatch: u16, family: Option<&str>) -> Core {
        let cycles = |facts: &mut Facts, name| facts.take(name, "cycle");
        let whole_cycles = |facts: &mut Facts, name| facts.whole(name, "cycle", MOST_CYCLES) as u16;
        let places = |facts: &mut Facts, name| facts.whole(name, "1", MOST_PLACES) as usize;
        let ways = |facts: &mut Facts, name| facts.whole(name, "1", MOST_WAYS) as usize;
        let family = match family {
            Some("sunny-cove") => CoreFamily::SunnyCove,
            Some("golden-cove") => CoreFamily::GoldenCove,
            Some("zen") => CoreFamily::Zen(ZenPipes {
                alus: facts.whole("core_alus", "1", MOST_ALUS) as u16,
                multipliers: facts.whole("core_multipliers", "1", MOST_ALUS) as u16,
                shift: facts.whole("core_shift_pipe", "1", LAST_SHIFT_PIPE) as u16,
                crossing: facts.bytes("core_crossing").0 as usize,
            }),
            other => {
                let found = other.map_or("none is given".into(), |name| format!("`{name}` is none"));
                let known = FAMILIES.join(", ");
                facts.error(format!("`core` in `[isa]` names the family of the cores ({known}); {found}"));
                CoreFamily::GoldenCove
            }
        };
        Core {
            family,
            clock_hz: facts.take("core_clock", "Hz"),
            dispatch,
            window: places(facts, "core_window"),
            stores: places(facts, "core_stores"),
            vector_scheduler: places(facts, "core_vector_scheduler"),
            vector_line: places(facts, "core_vector_line"),
            datapath: facts.bytes("core_datapath").0 as usize,
            store_bytes: facts.bytes("core_store_bytes").0 as usize,
            twin_store_bytes: facts.bytes("core_twin_store_bytes").0 as usize,
            logic: whole_cycles(facts, "core_logic"),
            shift: whole_cycles(facts, "core_shift"),
            convert: whole_cycles(facts, "core_convert"),
            load: whole_cycles(facts, "core_load"),
            vector_load: whole_cycles(facts, "core_vector_load"),
            forward: whole_cycles(facts, "core_forward"),
            blocked_load: whole_cycles(facts, "core_blocked_load"),
            mispredict: whole_cycles(facts, "core_mispredict"),
            divide: cycles(facts, "core_divide"),
            sqrt: cycles(facts, "core_sqrt"),
            l1_ways: ways(facts, "core_l1_ways"),
            l2_ways: ways(facts, "core_l2_ways"),
            l3_ways: ways(facts, "core_l3_ways"),
            l3_reach: Bytes(facts.whole("core_l3_reach", "B", MOST_CACHE)),
            line: ["core_l2_line", "core_l3_line", "core_memory_line"].map(|name| cycles(facts, name)),
            written_line: facts.take("core_written_line", "1"),
            latency: ["core_l2_latency", "core_l3_latency", "core_memory_latency"]
                .map(|name| cycles(facts, name)),
            ahead: cycles(facts, "core_ahead"),
            launch: Nanoseconds(facts.take("core_launch", "ns")),
        }
    }
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

impl Cpu {
    pub(super) fn read(facts: &mut Facts, tier: &str, features: Vec<String>, family: Option<&str>) -> Cpu {
        let dispatch = facts.whole("dispatch", "1", MOST_CYCLES) as u16;
        let cpu = Cpu {
            features,
            vector: facts.bytes("vector_bytes"),
            vector_registers: facts.count("vector_registers"),
            l1d: Bytes(facts.whole("l1d", "B", MOST_CACHE)),
            l2: Bytes(facts.whole("l2", "B", MOST_CACHE)),
            l3: facts.bytes("l3"),
            cache_line: facts.bytes("cache_line"),
            cores: facts.count("cores"),
            frequency_hz: facts.take("frequency", "Hz"),
            dispatch,
            flops_per_cycle: FlopsPerCycle {
                f32: facts.rate("flops_f32"),
                f64: facts.rate("flops_f64"),
                bf16: facts.rate("flops_bf16"),
                i8: facts.rate("flops_i8"),
            },
            l2_bytes_per_cycle: facts.take("l2_bandwidth", "B/cycle"),
            memory_bandwidth: BytesPerSecond(facts.take("memory_bandwidth", "B/s")),
            launch_overhead: Nanoseconds(facts.take("launch_overhead", "ns")),
            core: facts.has("core_clock").then(|| Core::read(facts, dispatch, family)),
        };
        if let Some((_, bytes, registers)) = WIDTHS.into_iter().find(|(name, ..)| *name == tier) {
            let of = format!("tier `{tier}`");
            facts.fixed("vector_bytes", cpu.vector.0, bytes, &of);
            facts.fixed("vector_registers", cpu.vector_registers.into(), registers.into(), &of);
        }
        facts.fixed("cache_line", cpu.cache_line.0, LINE, "x86-64");
        cpu
    }

    /// Whether it has an instruction set extension.
    pub fn has(&self, feature: &str) -> bool {
        tegula_base::feature::is_among(feature, &self.features)
    }

    /// Peak arithmetic rate of one core on operands of a dtype.
    pub fn peak(&self, dtype: DType) -> FlopsPerSecond {
        let rates = &self.flops_per_cycle;
        let per_cycle = match dtype {
            DType::F64 | DType::I64 | DType::U64 => rates.f64,
            DType::BF16 => rates.bf16,
            DType::I8 | DType::U8 | DType::I4 | DType::U4 | DType::I2 | DType::U2 => rates.i8,
            DType::F32
            | DType::F16
            | DType::F4E2M1
            | DType::F6E2M3
            | DType::F6E3M2
            | DType::F8E4M3FN
            | DType::F8E4M3FNUZ
            | DType::F8E5M2
            | DType::F8E5M2FNUZ
            | DType::F8E8M0
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
}
