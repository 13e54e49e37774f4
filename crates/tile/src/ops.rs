//! The ops of the tile level (`tgt`): static tiles, views of memory, structured loops. Layout-free: nothing here
//! says which lane, register or bank holds an element.
//!
//! A load or store names a box of a view: one offset (`index`) an axis, the tile's extents, an element step an
//! axis. Along a `bounded` axis coordinates outside of `0..extent` are allowed: they load as `pad` and store
//! nothing; along the others the recipe guarantees that the box is inside.

use tegula_base::{DType, Dim};
use tegula_ir::{ScalarOp, define_ops, enum_attr};

/// How a `dot` adds up its products, where it adds not each to the accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Accumulation {
    /// Those of steps `2i` and `2i + 1` are summed first, to the nearest number of `i16`.
    I16Pairs,
}
enum_attr!(Accumulation { I16Pairs = "i16_pairs" });

/// Arithmetic on `index` values; wraps. Comparisons give 0 or 1; division by zero gives 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IndexOp {
    Add,
    Sub,
    Mul,
    /// Rounds towards negative infinity.
    FloorDiv,
    /// Sign of the divisor.
    Mod,
    Min,
    Max,
    Eq,
    Ne,
    Lt,
    Le,
    And,
}
enum_attr!(IndexOp {
    Add = "add",
    Sub = "sub",
    Mul = "mul",
    FloorDiv = "floordiv",
    Mod = "mod",
    Min = "min",
    Max = "max",
    Eq = "eq",
    Ne = "ne",
    Lt = "lt",
    Le = "le",
    And = "and",
});

define_ops! {
    /// Ops of the tile level.
    pub enum TileOp: "tgt" {
        // --- indexes -----------------------------------------------------------------------------------
        /// A constant index.
        Const = "const" { value: i64 },
        /// The run's value of a size expression.
        Size = "size" { dim: Dim },
        /// `(index, index) -> index`.
        Index = "index" { op: IndexOp },
        /// A scalar integer tile as an index (`u64` wraps).
        ToIndex = "to_index" {},
        /// An index as a scalar tile of an integer (low bits) or float dtype.
        FromIndex = "from_index" { dtype: DType },

        // --- tiles -------------------------------------------------------------------------------------
        /// Every element the same bits.
        Splat = "splat" { dtype: DType, shape: Vec<i64>, bits: i64 },
        /// The coordinate along `axis`, from 0.
        Iota = "iota" { dtype: DType, shape: Vec<i64>, axis: usize },
        /// `f` on each element. c1: equal shapes (no implicit broadcast). c2: dtypes fit `f`.
        Elementwise = "elementwise" { f: ScalarOp },
        /// Repeats extents of 1. c1: equal rank. c2: each extent equal or 1 in the operand.
        Broadcast = "broadcast" { shape: Vec<i64> },
        /// Same elements in row-major order. c1: equal counts.
        Reshape = "reshape" { shape: Vec<i64> },
        /// Result axis `i` is operand axis `perm[i]`.
        Transpose = "transpose" { perm: Vec<usize> },
        /// The box at static `offsets` of static `sizes`.
        Extract = "extract" { offsets: Vec<i64>, sizes: Vec<i64> },
        /// Joins tiles along `axis`. c1: other extents equal.
        Concat = "concat" { axis: usize },
        /// `(acc: [M,N], a: [M,K], b: [K,N])`: `acc + a b` in acc's dtype; `docs/numerics.md` states rounding.
        /// c1: inner extents equal. c2: acc is f32/f64/i32/i64 and holds the operands' products. c3: `i16_pairs` are of `u8` by
        /// `i8`, with an even inner extent.
        Dot = "dot" { accumulation: Option<Accumulation> },
        /// Combines along `axis`, which stays as 1, with `add`, `mul`, `min`, `max`, `and`, `or`, `xor`.
        Reduce = "reduce" { f: ScalarOp, axis: usize },
        /// Inclusive running combination along `axis`.
        Scan = "scan" { f: ScalarOp, axis: usize, reverse: bool },

        // --- memory ------------------------------------------------------------------------------------
        /// A row-major view of memory that is the work unit's own. What it holds at the unit's start is unspecified.
        /// In the body itself, outside of every region.
        Scratch = "scratch" { dtype: DType, shape: Vec<i64> },
        /// `(view, offset...) -> tile` of `shape`; see the module's head. `pad` are the element's bits.
        Load = "load" { shape: Vec<i64>, steps: Vec<i64>, bounded: Vec<bool>, pad: i64 },
        /// `(view, tile, offset...)`.
        Store = "store" { steps: Vec<i64>, bounded: Vec<bool> },
        /// `(view of rank 1, coordinates: integer tile) -> tile` of the coordinates' shape. Inside by construction.
        Gather = "gather" {},
        /// `(view of rank 1, tile, coordinates)`: in row-major order of the tile; the last of equal ones wins.
        Scatter = "scatter" {},

        /// `(view, offset...)`: the cache line of this element is read soon. May lie outside; changes nothing.
        Prefetch = "prefetch" {},

        // --- control -----------------------------------------------------------------------------------
        /// `(lo, hi, inits...)`: region arguments are the induction variable (`index`) and the carried values;
        /// `yield` gives the next ones; results are the last ones. `step` is positive. The region captures.
        For = "for" { step: i64 },
        /// `(condition: index)`: two regions ending in `yield` of the results; they capture.
        If = "if" {},
        /// Ends a region.
        Yield = "yield" {},
        /// Ends the kernel.
        Return = "return" {},
    }
}
