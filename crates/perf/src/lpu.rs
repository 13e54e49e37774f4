//! Closed forms of a streaming chip: what a contraction takes at least, and which of its resources a schedule is held by.
//!
//! Numbers are cycles of one chip with all of its units. Delays, routes and places are left out, so each form but
//! [`Gemm::no_overlap`] is a lower bound. Bounds are rounded up to whole cycles.

use std::fmt;
use tegula_machine::Lpu;

/// Halves of a chip.
const HALVES: u64 = 2;

/// Parts of the rows of a contraction beyond those that its sums need: two for each plane of a chip of four.
const MOST_PARTS: u64 = 8;

/// What the planes multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factors {
    /// Bytes: each plane by itself.
    I8,
    /// Two planes in tandem, which take fewer steps of k.
    F16,
}

impl Factors {
    /// Bytes of an element.
    pub fn bytes(self) -> u64 {
        match self {
            Factors::I8 => 1,
            Factors::F16 => 2,
        }
    }

    /// Steps of k that a tile of weights has, and how many tiles multiply at once. None: the machine does not multiply them.
    fn tile(self, lpu: &Lpu) -> Option<(u64, u64)> {
        let planes = u64::from(lpu.mxm.planes);
        let (k, at_once) = match self {
            Factors::I8 => (lpu.mxm.k, HALVES * planes),
            Factors::F16 => (lpu.mxm.f16_k, HALVES * (planes / 2)),
        };
        (k > 0 && at_once > 0).then_some((k.into(), at_once))
    }
}

/// A contraction `[m, k]` by `[k, n]`, whose right side the planes hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gemm {
    pub m: u64,
    pub k: u64,
    pub n: u64,
    pub factors: Factors,
}

impl Gemm {
    /// Tiles of weights: those of k times those of n.
    fn tiles(self, lpu: &Lpu) -> Option<u64> {
        let (k, _) = self.factors.tile(lpu)?;
        Some(self.k.div_ceil(k) * self.n.div_ceil(lpu.mxm.n.into()))
    }

    /// A row a cycle for each tile that multiplies.
    pub fn row_cycles(self, lpu: &Lpu) -> Option<u64> {
        let (_, at_once) = self.factors.tile(lpu)?;
        Some((self.m * self.tiles(lpu)?).div_ceil(at_once))
    }

    /// Each row of weights is loaded once, in groups of `mxm_load_streams`.
    pub fn load_cycles(self, lpu: &Lpu) -> u64 {
        let rows = self.k.next_multiple_of(u64::from(lpu.mxm.load_streams).max(1));
        let bytes = rows * self.n.div_ceil(lpu.mxm.n.into()) * u64::from(lpu.mxm.n) * self.factors.bytes();
        weight_floor(bytes, lpu)
    }

    /// The larger of rows and loads. None: the machine does not multiply such factors.
    pub fn tile_bound(self, lpu: &Lpu) -> Option<u64> {
        Some(self.row_cycles(lpu)?.max(self.load_cycles(lpu)))
    }

    /// Rows that one plane multiplies in turn where planes share `batch` such contractions: the most with which the last plane
    /// ends first. Each part loads its weights again, so it has as many rows as a load takes cycles. None: the machine does not
    /// multiply such factors.
    pub fn rows_of_part(self, batch: u64, lpu: &Lpu) -> Option<u64> {
        let (k, at_once) = self.factors.tile(lpu)?;
        let load = k.div_ceil(u64::from(lpu.mxm.load_streams).max(1)) * self.factors.bytes();
        let columns = batch * self.n.div_ceil(lpu.mxm.n.into());
        let most = u64::from(lpu.mxm.accumulators).max(1);
        let least = self.m.div_ceil(most).max(1);
        let cycles = |parts: u64| (columns * parts).div_ceil(at_once) * self.m.div_ceil(parts).max(load);
        let parts = (least..=least + MOST_PARTS).filter(|parts| *parts == least || self.m / parts >= load);
        parts.min_by_key(|parts| cycles(*parts)).map(|parts| self.m.div_ceil(parts))
    }

    /// The share of the chip's multiply-adds that so many cycles use.
    pub fn share_of_peak(self, cycles: u64, lpu: &Lpu) -> f64 {
        let [bytes, halves] = lpu.multiply_adds();
        let peak = match self.factors {
            Factors::I8 => bytes,
            Factors::F16 => halves,
        };
        self.m as f64 * self.k as f64 * self.n as f64 / (peak as f64 * cycles as f64)
    }

    /// Cycles of one array of `mxm_k` x `mxm_n` that loads a tile, multiplies and drains before it loads the next, of bytes.
    /// Source: SCALE-Sim v3, weight stationary: `2 k + n + m - 3` a fold; 1277 cycles at 320 x 320 for 320 rows.
    pub fn no_overlap(self, lpu: &Lpu) -> u64 {
        let (k, n) = (u64::from(lpu.mxm.k), u64::from(lpu.mxm.n));
        let folds = self.k.div_ceil(k) * self.n.div_ceil(n);
        folds * (2 * k + n + self.m).saturating_sub(3)
    }
}

/// Bytes of weights that all planes load in a cycle.
pub fn load_rate(lpu: &Lpu) -> u64 {
    // Weights flow outwards: no more streams load than a direction has.
    let streams = lpu.streams_east.min(lpu.streams_west).min(lpu.mxm.planes * lpu.mxm.load_streams);
    HALVES * u64::from(streams) * u64::from(lpu.vector())
}

/// Cycles to load so many bytes of weights.
pub fn weight_floor(bytes: u64, lpu: &Lpu) -> u64 {
    bytes.div_ceil(load_rate(lpu).max(1))
}

/// What a schedule takes cycles of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// Streams that flow away from the centre.
    Outward,
    /// Planes that load weights.
    Loads,
    /// Planes that multiply rows.
    Rows,
    /// Planes that add up sums.
    Sums,
    Alus,
    /// Banks of SRAM.
    Ports,
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Resource::Outward => "outward streams",
            Resource::Loads => "loads of weights",
            Resource::Rows => "rows of planes",
            Resource::Sums => "sums of planes",
            Resource::Alus => "ALUs",
            Resource::Ports => "ports of SRAM",
        })
    }
}

/// Busy cycles of each resource, were its work spread evenly over all of its units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Busy {
    pub outward: u64,
    pub loads: u64,
    pub rows: u64,
    pub sums: u64,
    pub alus: u64,
    pub ports: u64,
}

/// Of what runs one after another.
impl std::ops::Add for Busy {
    type Output = Busy;

    fn add(self, other: Busy) -> Busy {
        Busy {
            outward: self.outward + other.outward,
            loads: self.loads + other.loads,
            rows: self.rows + other.rows,
            sums: self.sums + other.sums,
            alus: self.alus + other.alus,
            ports: self.ports + other.ports,
        }
    }
}

/// The least cycles of a schedule, and what holds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    pub resource: Resource,
    pub cycles: u64,
}

impl Busy {
    /// The busiest resource; of several, the first in the order of [`Resource`].
    pub fn bound(&self) -> Bound {
        let others = [
            (Resource::Loads, self.loads),
            (Resource::Rows, self.rows),
            (Resource::Sums, self.sums),
            (Resource::Alus, self.alus),
            (Resource::Ports, self.ports),
        ];
        let first = Bound { resource: Resource::Outward, cycles: self.outward };
        others.into_iter().fold(
            first,
            |most, (resource, cycles)| {
                if cycles > most.cycles { Bound { resource, cycles } } else { most }
            },
        )
    }
}
