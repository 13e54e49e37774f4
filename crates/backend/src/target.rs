//! What passes ask of a machine.
//!
//! Answers depend on the machine description and the question alone, never on the process or its host. No method has a
//! default: a new target decides each.

use crate::{Codegen, Launches, Preferences, Short};
use std::borrow::Cow;
use tegula_base::Symbols;
use tegula_ir::{OpId, Value};
use tegula_machine::Machine;
use tegula_package::CostRecord;
use tegula_tensor::{KernelClass, Layout, TensorFunc};

/// A machine that kernels, or whole regions, are compiled for.
pub trait Target: Sync {
    fn machine(&self) -> &Machine;

    /// The instruction set of its images, as manifests name it: `x86-64`, `ptx`; empty for code that any host runs.
    fn isa(&self) -> &str;

    /// Whether the target computes an op as it stands. Passes ask before they take a composite apart or widen its types.
    fn claims(&self, func: &TensorFunc, op: OpId) -> Claim;

    /// Facts that rewrites of tensor programs act on.
    fn preferences(&self) -> &Preferences;

    /// What the kernel of `root` computes at `place` by itself; `None`: it reads a buffer there.
    fn fuses(&self, func: &TensorFunc, root: OpId, place: Place, symbols: &Symbols) -> Option<Fused>;

    /// How a kernel wants its operands to lie in memory. Before kernels are formed, `op` is what would be its root.
    fn layouts(&self, func: &TensorFunc, op: OpId, symbols: &Symbols) -> Layouts;

    /// Predicted costs of a kernel, one a launch.
    fn cost(&self, func: &TensorFunc, kernel: OpId, launches: &Launches) -> Vec<CostRecord>;

    fn codegen(&self) -> Codegen<'_>;
}

/// Who computes a program: the host's target, and where there is one, a graph target that takes regions of it.
#[derive(Clone, Copy)]
pub struct Targets<'a> {
    pub host: &'a dyn Target,
    pub device: Option<&'a dyn Target>,
    pub contractions: Contractions,
}

/// Who computes dots, convolutions, attention and recurrent layers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Contractions {
    /// The device those that it claims, the host all others.
    #[default]
    Anywhere,
    /// The device: one that it does not claim is an error.
    Device,
}

impl<'a> Targets<'a> {
    /// No device takes a region.
    pub fn host(host: &'a dyn Target) -> Targets<'a> {
        Targets { host, device: None, contractions: Contractions::Anywhere }
    }

    /// A device takes what it claims.
    pub fn beside(host: &'a dyn Target, device: &'a dyn Target) -> Targets<'a> {
        Targets { device: Some(device), ..Targets::host(host) }
    }

    /// The target that compiles kernels of a class.
    pub fn of(&self, class: KernelClass) -> &'a dyn Target {
        match (class, self.device) {
            (KernelClass::Region, Some(device)) => device,
            _ => self.host,
        }
    }
}

/// Whether a target computes an op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    Yes,
    /// Why not, as the end of a sentence about the op.
    No(Cow<'static, str>),
    /// The machine has too little of something for it.
    Short(Short),
}

impl Claim {
    /// Why not, as the end of a sentence about the op.
    pub fn refusal(&self) -> Option<Cow<'static, str>> {
        match self {
            Claim::Yes => None,
            Claim::No(reason) => Some(reason.clone()),
            Claim::Short(short) => Some(short.to_string().into()),
        }
    }

    pub fn is_yes(&self) -> bool {
        *self == Claim::Yes
    }
}

/// Where ops would stand in a kernel, seen from its root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Between buffers and the factors of a contraction: what unpacks or scales them.
    Factors,
    /// Between this operand of an attention, and the pages that a table gathers it from.
    Pages(usize),
    /// Before an operand of an attention: transposes, slices and reshapes that leave its rows whole. The asker knows which.
    MovedRows,
}

/// What a kernel computes by itself on the way to its root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fused {
    /// The ops, each after those whose results it reads.
    pub ops: Vec<OpId>,
    /// The values that the kernel then reads in place of the operands.
    pub buffers: Vec<Value>,
}

/// How a kernel wants its operands to lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layouts {
    /// Of the right side of a contraction, or of the weights of a convolution.
    pub packing: Option<Packing>,
    /// A convolution multiplies several input channels at once: they lie next to each other.
    pub channel_groups: bool,
    /// The side of the squares in which an operand is transposed quickly, in elements.
    pub transposed_square: Option<i64>,
    /// A convolution of constant filters takes their transforms by Winograd's algorithm.
    pub transformed_filters: bool,
}

/// The layout of a factor, and when it pays to bring it about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packing {
    pub layout: Layout,
    /// Rows of the other factor from which a factor that is computed is packed by a pass of its own. A kernel that writes it
    /// anyway writes it so for any number of rows.
    pub fewest_rows: i64,
}
