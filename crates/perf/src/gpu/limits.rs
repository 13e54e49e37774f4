//! Why a kernel takes the time it takes: what every resource would need alone, and which one is the bound.

use std::fmt;
use tegula_base::units::Nanoseconds;

/// What keeps a kernel from being faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// Tensor cores.
    Tensor,
    /// Shared memory feeding the tensor cores.
    Shared,
    /// `ex2` and its like.
    Special,
    /// Everything else that lanes compute: scaling, maxima, conversions.
    Arithmetic,
    /// Traffic between L2 and the SMs.
    L2,
    /// Traffic between memory and L2.
    Dram,
    /// First loads, last stores: nothing overlaps them.
    Latency,
    /// Starting the kernel.
    Launch,
}

/// Nanoseconds that each resource would need were it the only one, over the whole kernel on its busiest SM.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    pub tensor: f64,
    pub shared: f64,
    pub special: f64,
    pub arithmetic: f64,
    pub l2: f64,
    pub dram: f64,
    /// What is paid beside the busiest resource: first loads, results that are not hidden, partial sums.
    pub latency: f64,
    pub launch: f64,
}

impl Limits {
    fn rows(&self) -> [(Limit, f64); 8] {
        [
            (Limit::Tensor, self.tensor),
            (Limit::Shared, self.shared),
            (Limit::Special, self.special),
            (Limit::Arithmetic, self.arithmetic),
            (Limit::L2, self.l2),
            (Limit::Dram, self.dram),
            (Limit::Latency, self.latency),
            (Limit::Launch, self.launch),
        ]
    }

    /// The resource that needs longest; the first of equal ones.
    pub fn bound(&self) -> Limit {
        let rows = self.rows();
        rows.into_iter().reduce(|a, b| if b.1 > a.1 { b } else { a }).map_or(Limit::Launch, |row| row.0)
    }
}

/// A kernel's time, and why.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    pub time: Nanoseconds,
    pub limits: Limits,
    /// Useful operations, of the shape and not of the tiles.
    pub flops: f64,
    /// Bytes between memory and the chip.
    pub bytes: f64,
    /// Work units (tiles) and how many rounds the busiest SM makes.
    pub units: u64,
    pub rounds: f64,
}

impl Prediction {
    pub fn bound(&self) -> Limit {
        self.limits.bound()
    }

    pub fn tflops(&self) -> f64 {
        self.flops / self.time.0 / 1e3
    }

    pub fn gigabytes_per_second(&self) -> f64 {
        self.bytes / self.time.0
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::Tensor => "tensor",
            Limit::Shared => "shared",
            Limit::Special => "special",
            Limit::Arithmetic => "arithmetic",
            Limit::L2 => "l2",
            Limit::Dram => "dram",
            Limit::Latency => "latency",
            Limit::Launch => "launch",
        })
    }
}

/// Microseconds of each resource that takes part, in one line.
impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.rows();
        let shown: Vec<String> = rows
            .iter()
            .filter(|(_, ns)| *ns > 0.0)
            .map(|(limit, ns)| format!("{limit} {:.1}", ns / 1e3))
            .collect();
        write!(f, "{} us", shown.join(", "))
    }
}

impl fmt::Display for Prediction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} us, {:.0} TFLOP/s, ", self.time.0 / 1e3, self.tflops())?;
        write!(f, "{:.0} GB/s, bound by {} ", self.gigabytes_per_second(), self.bound())?;
        write!(f, "({}; {} units in {:.2} rounds)", self.limits, self.units, self.rounds)
    }
}
