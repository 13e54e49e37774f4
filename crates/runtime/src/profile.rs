//! What a run tells about itself.

use std::collections::BTreeMap;

/// Times of one run, filled by [`crate::Session::run_profiled`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunProfile {
    /// In the order of execution; a launch in a loop stands once per iteration.
    pub launches: Vec<LaunchTime>,
    /// From the first step to the last, nanoseconds.
    pub total_ns: u64,
    /// Arena planned for these shapes, bytes.
    pub arena_bytes: u64,
    /// Most bytes held at once by buffers whose size was only known while running.
    pub late_peak_bytes: u64,
    /// Scratch of all threads, bytes.
    pub scratch_bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchTime {
    /// Index into the program's kernels.
    pub kernel: u32,
    /// Since the start of the run.
    pub start_ns: u64,
    pub ns: u64,
    /// Work units.
    pub grid: u64,
    /// Threads that took part.
    pub threads: u32,
    /// The argument block.
    pub words: Vec<u64>,
    /// Parts in which one thread ran the units, from the last to the first; 0 when they ran at once from the first.
    pub falling_parts: u64,
}

/// How many launches ran, by the kind of their code, since the session was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub machine: u64,
    pub portable: u64,
    /// Of kernels for GPUs.
    pub gpu: u64,
    /// Of regions of the model that a device runs whole.
    pub regions: u64,
    /// By the runtime kernel's name.
    pub native: BTreeMap<String, u64>,
    /// By the kernel's name, for portable kernels.
    pub portable_by_name: BTreeMap<String, u64>,
    pub graphs: GraphCounters,
}

/// Of runs on a card that are one graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GraphCounters {
    /// Runs whose steps were noted down.
    pub captured: u64,
    /// Executable graphs made of them; the others gave an earlier one new sizes.
    pub made: u64,
    pub launched: u64,
}

impl GraphCounters {
    pub(crate) fn add(&mut self, other: GraphCounters) {
        self.captured += other.captured;
        self.made += other.made;
        self.launched += other.launched;
    }
}
