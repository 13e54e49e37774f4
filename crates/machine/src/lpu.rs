//! What a machine file says of a streaming chip: slices of SRAM, matrix planes, ALUs and shifters in a row, and streams of
//! vectors that pass them, one hop a cycle. The chip has two halves; `a half` says what each of them has.
//! Source: D. Abts et al., "Think Fast: A Tensor Streaming Processor (TSP) for Accelerating Deep Learning Workloads", ISCA 2020.

use super::Machine;
use super::file::Facts;

/// The tiers that the streaming target compiles.
pub(super) const TIERS: [&str; 1] = ["lpu"];

/// Streams of one direction that a word can name.
const MOST_STREAMS: u64 = 64;
/// Slices of a half, planes, ALUs and shifter queues that a word can name.
const MOST_UNITS: u64 = 255;
/// Lanes of a vector, rows of a plane, accumulator rows, words of a bank: numbers of 16 bits.
const MOST_ROWS: u64 = 1 << 15;
/// A delay beyond it is no delay of a chip.
const MOST_DELAY: u64 = 4095;
/// Rows of a pass of floats, whose exact sum `isa-lpu` keeps in two `f64`.
const MOST_FLOAT_ROWS: u64 = 512;
/// Bits of a write's mask.
const MOST_MASKS: u32 = 32;
/// Streams that the smallest flow needs in a direction, and slices that it reads at once: two operands of 4 bytes.
const FLOW_READS: u32 = 8;
/// Slices that it writes at once: a result of 4 bytes.
const FLOW_WRITES: u32 = 4;
/// Words that a `fetch` brings into a queue.
const FETCHED: u32 = 40;

/// The facts of a streaming chip. Times are in cycles.
#[derive(Clone, Debug, PartialEq)]
pub struct Lpu {
    /// The class of the processor that it is beside.
    pub processor: String,
    pub clock_hz: f64,
    /// Groups of lanes that run one cycle apart.
    pub superlanes: u32,
    /// Bytes of a vector that one superlane has.
    pub lanes: u32,
    pub streams_east: u32,
    pub streams_west: u32,
    /// From one position to the next.
    pub hop: u32,
    pub mem: Mem,
    pub mxm: Mxm,
    pub vxm: Vxm,
    pub sxm: Sxm,
    /// Words that a queue holds.
    pub queue_words: u32,
    /// From the last `notify` to the first word behind a `sync`.
    pub barrier: u32,
    /// Slices of a half whose words may be program text.
    pub text_slices: u32,
    pub links: Links,
    pub host: HostLink,
}

/// SRAM slices.
#[derive(Clone, Debug, PartialEq)]
pub struct Mem {
    /// Of a half.
    pub slices: u32,
    /// Slices that share a position.
    pub group: u32,
    pub banks: u32,
    /// Vectors of a bank.
    pub words: u32,
    pub read_delay: u32,
    /// Lanes that one bit of a write's mask covers; all of a vector: writes have no mask.
    pub mask_lanes: u32,
}

/// Matrix planes.
#[derive(Clone, Debug, PartialEq)]
pub struct Mxm {
    /// Of a half.
    pub planes: u32,
    /// Rows of weights of bytes, and results of a row.
    pub k: u32,
    pub n: u32,
    /// Weights that a plane holds at once.
    pub buffers: u32,
    /// Rows of weights that one `lw` takes, each from a stream of its own.
    pub load_streams: u32,
    pub install: u32,
    /// From a row's sense to the drive of its sums.
    pub latency: u32,
    /// Rows of sums that a plane holds.
    pub accumulators: u32,
    /// Rows of 16-bit weights: two planes in tandem.
    pub f16_k: u32,
    /// Rows of `f8` weights; not every chip has them.
    pub f8_k: Option<u32>,
}

/// Vector ALUs of a lane, at the centre.
#[derive(Clone, Debug, PartialEq)]
pub struct Vxm {
    pub alus: u32,
    /// The first of them, which have `exp2`, `log2`, `rsqrt`, `rcp`, `tanh` and casts.
    pub large: u32,
    pub delay: u32,
    /// Of `exp2`, `log2`, `rsqrt`, `rcp` and `tanh`.
    pub special_delay: u32,
}

/// Shifters and permuters; links attach here.
#[derive(Clone, Debug, PartialEq)]
pub struct Sxm {
    /// Of a half.
    pub queues: u32,
    pub shift_delay: u32,
    pub permute_delay: u32,
    pub transpose_delay: u32,
}

/// Between chips.
#[derive(Clone, Debug, PartialEq)]
pub struct Links {
    pub local: u32,
    pub global: u32,
    /// Bits a second.
    pub rate: f64,
    /// Share of a vector that a link carries beside it.
    pub overhead: f64,
    pub hop: u32,
}

/// Between host and chip.
#[derive(Clone, Debug, PartialEq)]
pub struct HostLink {
    pub latency_seconds: f64,
    /// Bytes a second, each way.
    pub rate: f64,
}

impl Lpu {
    pub(super) fn read(facts: &mut Facts, host: Option<&str>) -> Lpu {
        let processor = host.unwrap_or_default();
        if host.is_none() {
            facts.error("`host` is missing: the class of the processor that the chip is beside".to_string());
        } else if !Machine::class_names().any(|name| name == processor) {
            facts.error(format!("`host` is the class of a processor, and `{processor}` is none"));
        }
        let lpu = Lpu {
            processor: processor.to_string(),
            clock_hz: facts.take("clock", "Hz"),
            superlanes: facts.up_to("superlanes", "1", MOST_UNITS),
            lanes: facts.up_to("lanes", "B", MOST_UNITS),
            streams_east: facts.up_to("streams_east", "1", MOST_STREAMS),
            streams_west: facts.up_to("streams_west", "1", MOST_STREAMS),
            hop: facts.up_to("hop", "cycle", MOST_DELAY),
            mem: Mem {
                slices: facts.up_to("mem_slices", "1", MOST_UNITS),
                group: facts.up_to("mem_group", "1", MOST_UNITS),
                banks: facts.up_to("mem_banks", "1", MOST_UNITS),
                words: facts.up_to("mem_words", "1", MOST_ROWS),
                read_delay: facts.up_to("mem_read_delay", "cycle", MOST_DELAY),
                mask_lanes: facts.up_to("mem_mask_lanes", "B", MOST_ROWS),
            },
            mxm: Mxm {
                planes: facts.up_to("mxm_planes", "1", MOST_UNITS),
                k: facts.up_to("mxm_k", "1", MOST_ROWS),
                n: facts.up_to("mxm_n", "1", MOST_ROWS),
                buffers: facts.up_to("mxm_buffers", "1", MOST_UNITS),
                load_streams: facts.up_to("mxm_load_streams", "1", MOST_STREAMS),
                install: facts.up_to("mxm_install", "cycle", MOST_DELAY),
                latency: facts.up_to("mxm_latency", "cycle", MOST_DELAY),
                accumulators: facts.up_to("mxm_accumulators", "1", MOST_ROWS),
                f16_k: facts.up_to("mxm_f16_k", "1", MOST_FLOAT_ROWS),
                f8_k: facts.has("mxm_f8_k").then(|| facts.up_to("mxm_f8_k", "1", MOST_FLOAT_ROWS)),
            },
            vxm: Vxm {
                alus: facts.up_to("vxm_alus", "1", MOST_UNITS),
                large: facts.up_to("vxm_large", "1", MOST_UNITS),
                delay: facts.up_to("vxm_delay", "cycle", MOST_DELAY),
                special_delay: facts.up_to("vxm_special_delay", "cycle", MOST_DELAY),
            },
            sxm: Sxm {
                queues: facts.up_to("sxm_queues", "1", MOST_UNITS),
                shift_delay: facts.up_to("sxm_shift_delay", "cycle", MOST_DELAY),
                permute_delay: facts.up_to("sxm_permute_delay", "cycle", MOST_DELAY),
                transpose_delay: facts.up_to("sxm_transpose_delay", "cycle", MOST_DELAY),
            },
            queue_words: facts.up_to("queue_words", "1", MOST_ROWS),
            barrier: facts.up_to("barrier", "cycle", MOST_DELAY),
            text_slices: facts.up_to("text_slices", "1", MOST_UNITS),
            links: Links {
                local: facts.up_to("links_local", "1", MOST_UNITS),
                global: facts.up_to("links_global", "1", MOST_UNITS),
                rate: facts.take("link_rate", "bit/s"),
                overhead: facts.take("link_overhead", "1"),
                hop: facts.up_to("link_hop", "cycle", MOST_ROWS),
            },
            host: HostLink {
                latency_seconds: facts.take("host_latency", "s"),
                rate: facts.take("host_rate", "B/s"),
            },
        };
        // A fact that is wrong by itself stands as 1, of which relations would only tell nonsense.
        if facts.are_sound() {
            lpu.check(facts);
        }
        lpu
    }

    /// What numbers that are right one by one must be to one another.
    fn check(&self, facts: &mut Facts) {
        let vector = self.vector();
        if vector > MOST_ROWS as u32 {
            facts.error(format!("a vector of `superlanes` x `lanes` = {vector} bytes is too long"));
            return;
        }
        let mut require = |holds: bool, message: String| {
            if !holds {
                facts.error(message);
            }
        };
        let Lpu { mem, mxm, vxm, .. } = self;
        require(
            mem.slices.is_multiple_of(mem.group),
            format!("`mem_slices` ({}) is no multiple of `mem_group` ({})", mem.slices, mem.group),
        );
        require(
            vector.is_multiple_of(mem.mask_lanes) && vector / mem.mask_lanes <= MOST_MASKS,
            format!(
                "`mem_mask_lanes` ({}) must cut a vector of {vector} bytes into at most {MOST_MASKS} parts",
                mem.mask_lanes
            ),
        );
        require(mxm.k <= vector, format!("`mxm_k` ({}) is more than the {vector} bytes of a vector", mxm.k));
        require(mxm.n == vector, format!("`mxm_n` ({}) must be the {vector} bytes of a vector", mxm.n));
        require(
            mxm.k.is_multiple_of(self.lanes),
            format!("`mxm_k` ({}) is no multiple of `lanes` ({})", mxm.k, self.lanes),
        );
        require(
            mxm.k.is_multiple_of(mxm.load_streams),
            format!("`mxm_k` ({}) is no multiple of `mxm_load_streams` ({})", mxm.k, mxm.load_streams),
        );
        require(mxm.f16_k <= mxm.k, format!("`mxm_f16_k` ({}) is more than `mxm_k` ({})", mxm.f16_k, mxm.k));
        require(mxm.f8_k.is_none_or(|k| k <= mxm.k), "`mxm_f8_k` is more than `mxm_k`".to_string());
        require(
            mxm.latency >= 2,
            "`mxm_latency` must be 2 or more: a row's sums are taken one cycle before they are driven"
                .to_string(),
        );
        require(
            mxm.load_streams <= self.streams_east.min(self.streams_west),
            format!("`mxm_load_streams` ({}) is more than the streams of a direction", mxm.load_streams),
        );
        for (name, have) in [("streams_east", self.streams_east), ("streams_west", self.streams_west)] {
            require(
                have >= FLOW_READS,
                format!(
                    "`{name}` ({have}) must be {FLOW_READS} or more: two operands of 4 bytes come at once"
                ),
            );
        }
        // A slice of two banks reads and writes in one cycle.
        let accesses = if mem.banks > 1 { FLOW_READS } else { FLOW_READS + FLOW_WRITES };
        let slices = mem.slices;
        require(
            2 * slices >= accesses,
            format!(
                "`mem_slices` ({slices}) must be {} or more: {FLOW_READS} vectors are read and {FLOW_WRITES} written at once",
                accesses / 2
            ),
        );
        require(
            self.queue_words >= FETCHED,
            format!("`queue_words` ({}) must be {FETCHED} or more, which a `fetch` brings", self.queue_words),
        );
        require(
            vxm.large <= vxm.alus,
            format!("`vxm_large` ({}) is more than `vxm_alus` ({})", vxm.large, vxm.alus),
        );
        require(
            self.text_slices <= mem.slices,
            format!("`text_slices` ({}) is more than `mem_slices` ({})", self.text_slices, mem.slices),
        );
    }

    /// Bytes of a vector.
    pub fn vector(&self) -> u32 {
        self.superlanes * self.lanes
    }

    /// The distance of the SXM and the links from the centre, behind the last slices.
    pub fn sxm_position(&self) -> i32 {
        (self.mem.slices / self.mem.group) as i32 + 1
    }

    /// The distance of the matrix planes from the centre.
    pub fn mxm_position(&self) -> i32 {
        self.sxm_position() + 1
    }

    /// Bytes of all SRAM.
    pub fn sram(&self) -> u64 {
        let words = u64::from(2 * self.mem.slices) * u64::from(self.mem.banks) * u64::from(self.mem.words);
        words * u64::from(self.vector())
    }

    /// Instruction queues: one a slice and ALU, those of the SXMs, three a plane.
    pub fn queues(&self) -> u32 {
        2 * (self.mem.slices + self.sxm.queues + 3 * self.mxm.planes) + self.vxm.alus
    }

    /// Multiply-adds a cycle on bytes, and on `f16`.
    pub fn multiply_adds(&self) -> [u64; 2] {
        let planes = u64::from(2 * self.mxm.planes);
        let n = u64::from(self.mxm.n);
        [planes * u64::from(self.mxm.k) * n, planes / 2 * u64::from(self.mxm.f16_k) * n]
    }
}
