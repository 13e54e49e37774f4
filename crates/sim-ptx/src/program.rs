//! A decoded entry: flat steps over rows of registers, ready to run.
//! Rows below `registers` are the entry's registers and start unwritten; behind them stand the constants.

use tegula_isa_ptx::modifiers::{AtomicOp, ShuffleMode, VoteMode};
use tegula_isa_ptx::types::Scalar;
use tegula_isa_ptx::{Directives, Reg, RegClass, RegCounts, Special};

use crate::bulk::{BulkOp, PeerOp, StAsyncOp};
use crate::map::Map;
use crate::mbarrier::MbarrierOp;
use crate::wgmma::Wgmma;

/// A register of the warp or a constant, by its number.
pub type Row = u32;

pub struct Program {
    pub name: String,
    pub steps: Vec<Step>,
    pub registers: RegCounts,
    pub constants: Vec<u64>,
    pub directives: Directives,
    /// Bytes of shared memory that the entry declares, from [`SHARED_START`].
    pub shared_end: u32,
    /// Whether the launch adds to them.
    pub has_dynamic: bool,
    pub param_offsets: Vec<u32>,
    pub labels: Vec<String>,
}

/// Shared memory starts here, so that address 0 is none.
pub const SHARED_START: u32 = 1024;

pub struct Step {
    pub guard: Option<Guard>,
    pub body: Body,
    /// The block, and the number of the instruction in it.
    pub place: (u32, u32),
    pub text: String,
}

#[derive(Clone, Copy)]
pub struct Guard {
    pub row: Row,
    pub negated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    Generic,
    Global,
    /// Of this CTA.
    Shared,
    /// Of any CTA of the cluster.
    Cluster,
    Param,
    Local,
}

/// `row + offset`.
#[derive(Clone, Copy)]
pub struct At {
    pub row: Row,
    pub offset: i32,
}

pub enum Body {
    Map(Map),
    Special {
        d: Row,
        special: Special,
    },
    Branch {
        target: u32,
    },
    Exit,
    Trap,
    /// Nothing that the result depends on: hints and prefetches.
    Hint,
    /// Lets others run.
    Sleep,
    /// The grids that depend on this one may begin, as far as this CTA is concerned.
    LetDependents,
    /// Waits for the grids that this one depends on.
    WaitForGrids,
    Load(Load),
    Store(Store),
    Atomic(Atomic),
    /// The address within a space of a generic one (`true`), or the reverse.
    Window {
        space: Space,
        to_space: bool,
        d: Row,
        a: Row,
    },
    IsSpace {
        space: Space,
        p: Row,
        a: Row,
    },
    Mapa {
        generic: bool,
        d: Row,
        a: Row,
        rank: Row,
    },
    CtaRank {
        generic: bool,
        d: Row,
        a: Row,
    },
    Shuffle {
        mode: ShuffleMode,
        d: Row,
        p: Option<Row>,
        a: Row,
        b: Row,
        clamp: Row,
        mask: Row,
    },
    Vote {
        mode: VoteMode,
        p: Row,
        a: Guard,
        mask: Row,
    },
    Ballot {
        d: Row,
        a: Guard,
        mask: Row,
    },
    Match {
        all: bool,
        d: Row,
        p: Option<Row>,
        a: Row,
        mask: Row,
    },
    Redux {
        op: AtomicOp,
        ty: Scalar,
        d: Row,
        a: Row,
        mask: Row,
    },
    ActiveMask {
        d: Row,
    },
    Elect {
        d: Option<Row>,
        p: Row,
        mask: Row,
    },
    WarpSync {
        mask: Row,
    },
    Barrier(Barrier),
    Fence,
    ProxyFence,
    /// `fence.mbarrier_init`.
    InitFence,
    Copy(Copy),
    CopyCommit,
    CopyArrive {
        noinc: bool,
        at: At,
    },
    Mbarrier(MbarrierOp),
    PendingCount {
        d: Row,
        state: Row,
    },
    ClusterArrive {
        aligned: bool,
        release: bool,
    },
    ClusterWait {
        aligned: bool,
    },
    Bulk(BulkOp),
    ToPeer(PeerOp),
    StAsync(StAsyncOp),
    BulkCommit,
    BulkWait {
        read: bool,
        groups: u32,
    },
    Wgmma(Wgmma),
    WgmmaFence,
    WgmmaCommit,
    WgmmaWait {
        groups: u32,
    },
    /// `None`: all copies, in groups or not.
    CopyWait {
        groups: Option<u32>,
    },
    Ldmatrix {
        trans: bool,
        d: Vec<Row>,
        at: At,
    },
    Stmatrix {
        trans: bool,
        a: Vec<Row>,
        at: At,
    },
    Movmatrix {
        d: Row,
        a: Row,
    },
    Mma(crate::mma::Mma),
    Registers {
        count: u32,
        grow: bool,
    },
}

pub struct Load {
    pub space: Space,
    pub ty: Scalar,
    pub d: Vec<Row>,
    pub at: At,
    /// Relaxed or stronger: it does not race with its like.
    pub strong: bool,
}

pub struct Store {
    pub space: Space,
    pub ty: Scalar,
    pub a: Vec<Row>,
    pub at: At,
    pub strong: bool,
}

pub struct Atomic {
    pub space: Space,
    pub ty: Scalar,
    pub kind: AtomicKind,
    pub d: Vec<Row>,
    pub at: At,
    pub b: Vec<Row>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AtomicKind {
    Op(AtomicOp),
    Exchange,
    /// `b` is the expected value and the new one.
    Cas,
}

pub struct Barrier {
    pub aligned: bool,
    pub id: Row,
    pub threads: Option<Row>,
    /// Arrives and goes on.
    pub arrive: bool,
    pub reduce: Option<BarrierReduce>,
}

pub struct BarrierReduce {
    pub d: Row,
    pub p: Guard,
    pub kind: BarrierKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BarrierKind {
    Count,
    All,
    Any,
}

/// `cp.async`.
pub struct Copy {
    pub d: At,
    pub a: At,
    pub size: u32,
    pub source_size: Option<Row>,
}

impl Program {
    /// The register that a row holds.
    pub fn register(&self, row: Row) -> Option<Reg> {
        let mut index = row;
        for class in RegClass::ALL {
            let count = self.registers.get(class);
            if index < count {
                return Some(Reg::new(class, index));
            }
            index -= count;
        }
        None
    }

    /// Where an instruction stands, for messages.
    pub fn place(&self, pc: u32) -> String {
        match self.steps.get(pc as usize) {
            Some(step) => {
                let (block, at) = step.place;
                let label = self.labels.get(block as usize).map_or("", String::as_str);
                format!("`{}` (instruction {at} of {label} in `{}`)", step.text, self.name)
            }
            None => format!("the end of `{}`", self.name),
        }
    }
}
