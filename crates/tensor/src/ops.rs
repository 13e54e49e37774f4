//! The ops of the tensor level (`tgn`), whole: what importers build and passes rewrite.
//!
//! Conventions. Rank is static. Axes are non-negative. Operands of elementwise ops have equal rank; an extent of
//! constant 1 broadcasts, other extents must be equal as expressions. An importer that cannot prove two sizes
//! equal emits `assert_size` and uses one of them. Data-dependent results have the shape of their upper bound and
//! come with a count; `bind` turns the count into a size symbol and `slice` cuts the result to it, so that every
//! buffer's size is known before the op that fills it runs.
//! Constraints are numbered `<op>_c<n>` in each op's documentation; `check.rs` holds them. `c0` is common to all:
//! as many operands as the op takes, of the types it takes, no negative size in a result, and none so large that no
//! process could hold it, none of a type that is only stored where the op is arithmetic or asks for order.

use tegula_base::{DType, Dim, Shape};
use tegula_ir::attr::F64;
use tegula_ir::{ConstId, ScalarOp, define_ops, enum_attr, struct_attr};

/// Roles of the axes of a contraction; the result is `[batch..., lhs free..., rhs free...]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DotDims {
    pub lhs_batch: Vec<usize>,
    pub rhs_batch: Vec<usize>,
    pub lhs_contract: Vec<usize>,
    pub rhs_contract: Vec<usize>,
}
struct_attr!(DotDims { lhs_batch, rhs_batch, lhs_contract, rhs_contract });

/// A window sliding over the spatial axes. Padding `low` and `high` may be symbolic (auto-padding).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Window {
    pub size: Vec<i64>,
    pub strides: Vec<i64>,
    pub dilations: Vec<i64>,
    pub low: Vec<Dim>,
    pub high: Vec<Dim>,
}
struct_attr!(Window { size, strides, dilations, low, high });

impl Window {
    /// Output extent along spatial axis `i` of an input extent:
    /// `floor((n + low + high - dilation * (size - 1) - 1) / stride) + 1`.
    pub fn output(&self, i: usize, input: &Dim) -> Dim {
        let reach = Dim::from(self.dilations[i] * (self.size[i] - 1) + 1);
        let padded = input.clone() + self.low[i].clone() + self.high[i].clone();
        (padded - reach).floor_div(&Dim::from(self.strides[i])) + Dim::from(1)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PadMode {
    Constant,
    /// Repeats the border element.
    Edge,
    /// Mirrors without repeating the border element.
    Reflect,
    Wrap,
}
enum_attr!(PadMode { Constant = "constant", Edge = "edge", Reflect = "reflect", Wrap = "wrap" });

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PoolKind {
    Max,
    Sum,
    /// Divides by the window's size.
    Average,
    /// Divides by the number of window elements inside the unpadded input.
    AverageInside,
}
enum_attr!(PoolKind { Max = "max", Sum = "sum", Average = "average", AverageInside = "average_inside" });

/// What a scatter does with an element that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScatterKind {
    /// Overwrites; with equal indices the last update in row-major order wins.
    Set,
    Add,
    Mul,
    Min,
    Max,
}
enum_attr!(ScatterKind { Set = "set", Add = "add", Mul = "mul", Min = "min", Max = "max" });

/// How a quantised tensor's scale and zero point spread over it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct QuantScheme {
    /// The axis along which scales differ; `None`: one scale for the tensor.
    pub axis: Option<usize>,
    /// Elements along `axis` that share a scale; `None`: 1.
    pub block: Option<i64>,
    pub storage: DType,
    /// Whether a zero point operand follows the scale.
    pub zero_point: bool,
}
struct_attr!(QuantScheme { axis, block, storage, zero_point });

/// What kind of root a kernel has; targets claim by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum KernelClass {
    /// Elementwise and movement.
    Map,
    Reduce,
    /// Softmax and normalisations: several reductions over the same rows.
    Rows,
    Dot,
    Conv,
    Pool,
    Gather,
    Scatter,
    /// A scatter whose result takes the memory of its data, which nobody reads after it.
    Update,
    Scan,
    Attention,
    Recurrent,
    /// Sort, top-k, nonzero, NMS, unique: runtime kernels.
    Native,
    /// Many ops, which a graph target compiles to one image.
    Region,
}
enum_attr!(KernelClass {
    Map = "map",
    Reduce = "reduce",
    Rows = "rows",
    Dot = "dot",
    Conv = "conv",
    Pool = "pool",
    Gather = "gather",
    Scatter = "scatter",
    Update = "update",
    Scan = "scan",
    Attention = "attention",
    Recurrent = "recurrent",
    Native = "native",
    Region = "region",
});

/// Which way a recurrent layer walks the sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    Forward,
    Reverse,
}
enum_attr!(Direction { Forward = "forward", Reverse = "reverse" });

define_ops! {
    /// Ops of the tensor level.
    pub enum TensorOp: "tgn" {
        // --- sources -----------------------------------------------------------------------------------
        /// A tensor of the constant store. c1: type and byte count are the store's. c2: sizes are constant.
        Constant = "constant" { id: ConstId, dtype: DType, shape: Shape },
        /// Every element the same; `bits` are the element's, little-endian, zero-extended.
        Splat = "splat" { dtype: DType, shape: Shape, bits: i64 },
        /// The index along `axis` as a number. c1: the axis exists. c2: dtype is a number's, not `bool` or one that is only stored.
        Iota = "iota" { dtype: DType, shape: Shape, axis: usize },
        /// Sizes as data: `i64[n]`.
        Sizes = "sizes" { dims: Vec<Dim> },

        // --- elementwise -------------------------------------------------------------------------------
        /// `f` on each element, with broadcasting of constant-1 extents.
        /// c1: dtypes fit `f`. c2: ranks are equal. c3: extents are equal or constant 1.
        Elementwise = "elementwise" { f: ScalarOp },

        // --- movement ----------------------------------------------------------------------------------
        /// Repeats along extents of 1; an open extent may be 1 in some runs, and an assert says that it is equal in the others.
        /// c1: rank equal. c2: each extent equal, or 1 in the operand, or open there.
        Broadcast = "broadcast" { shape: Shape },
        /// Same elements in row-major order. c1: counts are equal (as expressions, or asserted by the builder).
        Reshape = "reshape" { shape: Shape },
        /// Result axis `i` is operand axis `perm[i]`. c1: a permutation.
        /// c2: a result that has a layout shows the operand's buffer: no element moves.
        Transpose = "transpose" { perm: Vec<usize> },
        /// Element `i` along an axis is operand element `start + i * step`; `sizes` is the result's shape.
        /// c1: list lengths are the rank. c2: steps are not 0.
        /// c3: elements are inside, where all sizes are constant; else by construction or assert.
        /// c4: a constant start is no farther off than a process can address.
        Slice = "slice" { starts: Vec<Dim>, sizes: Vec<Dim>, steps: Vec<i64> },
        /// Operands `x` and, for `constant`, a scalar of x's dtype. c1: list lengths are the rank.
        /// c2: amounts are not negative. c3: an empty axis is padded with a constant only.
        Pad = "pad" { low: Vec<Dim>, high: Vec<Dim>, mode: PadMode },
        /// One or more operands joined along `axis`. c1: the axis exists, other extents are equal.
        Concat = "concat" { axis: usize },
        /// `(data, indices)`: replaces axis `axis` of data by the axes of indices (`i32` or `i64`).
        /// Negative indices count from the end; beyond that they clamp to the border.
        /// c1: the axis exists. c2: indices are `i32` or `i64`.
        Gather = "gather" { axis: usize },
        /// `(data, indices)` of equal rank: `out[i, j] = data[indices[i, j], j]` for axis 0. Indices as `gather`.
        /// c1: the axis exists. c2: indices are `i32` or `i64`. c3: ranks are equal, other extents within data's.
        GatherElements = "gather_elements" { axis: usize },
        /// `(data, indices)`: the last axis of indices holds a coordinate into data after `batch_dims` axes.
        /// c1: its extent is constant and fits data's rank. c2: indices are `i32` or `i64`. c3: batch extents are equal.
        GatherNd = "gather_nd" { batch_dims: usize },
        /// `(data, indices, updates)`, the inverse of `gather_elements`.
        /// c1: the axis exists. c2: indices are `i32` or `i64`. c3: ranks are equal. c4: `kind` fits the dtype.
        ScatterElements = "scatter_elements" { axis: usize, kind: ScatterKind },
        /// `(data, indices, updates)`, the inverse of `gather_nd` with `batch_dims` 0.
        /// c1: the coordinate's extent is constant and fits. c2: indices are `i32` or `i64`. c4: `kind` fits the dtype.
        ScatterNd = "scatter_nd" { kind: ScatterKind },

        // --- reductions --------------------------------------------------------------------------------
        /// Combines along `axes` (sorted) with `add`, `mul`, `min`, `max`, `and`, `or` or `xor`; the axes stay
        /// as extents of 1. Empty ranges give the identity. c1: `f` is one of those and fits the dtype.
        /// c2: axes exist and rise.
        Reduce = "reduce" { f: ScalarOp, axes: Vec<usize> },
        /// Index (`i64`) of the largest or smallest element along `axis`, which stays as extent 1.
        /// Ties: the first, or the last when `last`. NaN wins. c1: the axis exists. c2: it is not empty.
        ArgReduce = "arg_reduce" { max: bool, axis: usize, last: bool },
        /// Running `add`, `mul`, `min` or `max` along `axis`. c1: the axis exists. c2: `f` is one of those and fits.
        Scan = "scan" { f: ScalarOp, axis: usize, exclusive: bool, reverse: bool },

        // --- contractions ------------------------------------------------------------------------------
        /// Contraction; products and sums in the accumulation type of `out` (`docs/numerics.md`). Where `pair_sums` is given, the
        /// products of steps `2i` and `2i + 1` are summed first, and that sum is the nearest number of this type.
        /// c1: axis lists are valid, disjoint, of equal length. c2: paired extents are equal.
        /// c3: `out` is the operands' dtype, or `i32` for 8-bit operands (of any sign each) or `i16` by `i8`, or `f32` for 16-bit floats,
        /// any float of 16 bits or more for floats of 8, or for `f32` by `i8`, `f16` or `bf16`: weights stored narrower.
        /// c4: `pair_sums` is `i16`, for `u8` by `i8` along one axis of even length.
        Dot = "dot" { dims: Box<DotDims>, out: DType, pair_sums: Option<DType> },
        /// `(x: [N,C,s...], w: [O,C/groups,k...])`: convolution (correlation).
        /// c1: `window.size` is w's. c2: C and O divide by groups. c3: `out` as for `dot`.
        Conv = "conv" { window: Box<Window>, groups: i64, out: DType },
        /// `(x: f32[N,C,h,w], u: f32[O,C,4,4])`: `conv` of one group by filters of 3x3 whose transforms `u` are, as Winograd's
        /// algorithm takes them ([`winograd`](crate::winograd)). `transform_filters` makes it.
        /// c1: `window` is 3x3, without strides or dilations. c2: `u` is `[O,C,4,4]`. c3: both are `f32`.
        WinogradConv = "winograd_conv" { window: Box<Window> },
        /// `(x: [N,C,s...], w: [C,O/groups,k...])`: the transpose of `conv`. `window.low/high` are cut from the
        /// full result; `output` gives the spatial extents.
        /// c1: `window.size` is w's. c2: C is w's and divides by groups. c3: dtypes are equal. c4: `output` is spatial.
        ConvTranspose = "conv_transpose" { window: Box<Window>, groups: i64, output: Vec<Dim> },
        /// `x: [N,C,s...]`. Padding never wins a maximum and counts as `kind` says.
        /// c1: the window has a positive entry for each spatial axis.
        Pool = "pool" { kind: PoolKind, window: Box<Window> },
        /// As `pool` with `max`: also the flat index (`i64`, into the whole tensor) of each maximum;
        /// spatial part row-major, or column-major; -1 for a window in the padding alone. c1: as `pool`.
        MaxPoolIndices = "max_pool_indices" { window: Box<Window>, column_major: bool },

        // --- composites: their decomposition is their meaning (decompose.rs) -------------------------------
        /// `exp(x - max) / sum` along `axis`, or its logarithm. c1: the axis exists.
        Softmax = "softmax" { axis: usize, log: bool },
        /// `(x, scale, bias?)`: over axes from `axis` on: `(x - mean) / sqrt(var + eps) * scale + bias`;
        /// scale and bias have the extents of those axes. c1: the axis exists.
        LayerNorm = "layer_norm" { axis: usize, eps: F64 },
        /// `(x, scale)`: over axes from `axis` on: `x / sqrt(mean(x^2) + eps) * scale`.
        /// c1: the axis exists.
        RmsNorm = "rms_norm" { axis: usize, eps: F64 },
        /// `x/2 * (1 + erf(x / sqrt 2))`, or with `tanh` its approximation.
        Gelu = "gelu" { tanh: bool },
        /// `(q: [B,H,L,D], k: [B,G,S,D], v: [B,G,S,E], mask?: [B|1,H|1,L|1,S])`, G divides H:
        /// `softmax(q k^T * scale (+ mask)) v`, the weights rounded to the operands' dtype. A softcap of 0 is none, else
        /// scores become `cap * tanh(score / cap)` before the mask. Row `i` stands at key `i + S - L`: causal rows see no later
        /// key, rows with a window that is not 0 see none that is `window` or more keys earlier.
        /// c1: all of one dtype and rank 4. c2: sizes fit. c3: G divides H. c4: the mask fits.
        Attention = "attention" { scale: F64, causal: bool, window: i64, softcap: F64 },
        /// `(x: [S,B,I], w: [4H,I], r: [4H,H], bias: [8H], h0: [B,H], c0: [B,H], peephole?: [3H])`, gates in ONNX
        /// order i,o,f,c; results `(y: [S,B,H], h, c)`. Activations sigmoid, tanh, tanh. Where `rounded`, each row of x
        /// meets the weights as bytes less a zero point, each of h as 16-bit integers, times a scale of its own.
        /// c1: x and h0 have ranks 3 and 2.
        Lstm = "lstm" { direction: Direction, rounded: bool },
        /// `(x: [S,B,I], w: [3H,I], r: [3H,H], bias: [6H], h0: [B,H])`, gates z,r,h; results `(y, h)`.
        /// c1: x and h0 have ranks 3 and 2.
        Gru = "gru" { direction: Direction, linear_before_reset: bool },
        /// `(x, scale, zero_point?)`: `saturate(round_even(x / scale) + zero_point)`.
        /// c1: scale and zero point fit the scheme. c2: x and scale are of one float type.
        Quantize = "quantize" { scheme: Box<QuantScheme> },
        /// `(x, scale, zero_point?)`: `(x - zero_point) * scale`, the result has the scale's dtype.
        /// c1: scale and zero point fit the scheme. c2: x is the storage, the scale a float.
        Dequantize = "dequantize" { scheme: Box<QuantScheme> },
        /// `(a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero)`: an integer contraction requantised:
        /// `saturate(round_even(dot(a - a_zero, b - b_zero) * (a_scale * b_scale / y_scale)) + y_zero)`; b's scale is a scalar or
        /// one a result column.
        /// c1: axes as `dot`. c2: paired extents are equal. c3: storage is 8-bit, scales are floats of one type, and fit.
        QDot = "q_dot" { dims: Box<DotDims> },
        /// `(x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias?: i32[O])`, likewise; w's scale a scalar or `[O]`.
        /// c1: the window as `conv`. c2: channels as `conv`. c3: as `q_dot`.
        QConv = "q_conv" { window: Box<Window>, groups: i64 },

        // --- order and counting: results of upper-bound shape with a count --------------------------------
        /// The `k` largest (or smallest) along `axis`, best first, ties by lower index: `(values, indices: i64)`.
        /// c1: the axis exists. c2: it has k elements.
        TopK = "top_k" { axis: usize, k: Dim, largest: bool },
        /// Coordinates of elements that are not 0: `(i64[rank, count(x)], count: i64)`; columns past count are 0.
        NonZero = "non_zero" {},
        /// Distinct elements along `axis` (flattened when `None`):
        /// `(values, first_index: i64, inverse: i64, counts: i64, count: i64)`. c1: the axis exists.
        Unique = "unique" { axis: Option<usize>, sorted: bool },
        /// `(boxes: [N,B,4], scores: [N,C,B], max_per_class: i64, iou: f32, score: f32)` scalars last:
        /// `(i64[N*C*min(B, limit), 3], count)`; ONNX NonMaxSuppression. c1: boxes and scores fit.
        NonMaxSuppression = "non_max_suppression" { center_point_box: bool, limit: Dim },

        // --- control and sizes -----------------------------------------------------------------------------
        /// `(i64 scalar)`: from here on the size symbol `symbol` has this value. c1: the name is one.
        Bind = "bind" { symbol: String },
        /// Fails the run with `message` unless the sizes are equal.
        AssertSize = "assert_size" { left: Dim, right: Dim, message: String },
        /// `(bool scalar)`: two regions that capture and `yield` the results.
        /// c1: regions take no arguments. c2: they yield equal types. c3: no size bound inside leaves.
        If = "if" {},
        /// `(go: bool scalar, carried...)`: at most `trip` iterations while `go`. Region arguments:
        /// iteration (`i64` scalar), carried...; yields `go, carried..., stacked...`. Results:
        /// number of iterations (`i64`), carried..., stacked with a leading extent of `trip`, rows past the last iteration zero. Region captures.
        /// c1: counts of arguments and yields fit. c2: what is carried keeps its type. c3: no size bound inside leaves.
        Loop = "loop" { trip: Dim, stacked: usize },
        /// Ends a region. c1: not the function.
        Yield = "yield" {},
        /// Ends the function; operands are its results. c1: not a region.
        Return = "return" {},

        // --- after kernel formation -----------------------------------------------------------------------
        /// Same tensor, other layout (the result type's).
        Relayout = "relayout" { layout: crate::Layout },
        /// One launch: the region (arguments as operands, captures nothing) computes the results.
        /// c1: arguments are as the operands.
        Kernel = "kernel" { class: KernelClass },
    }
}

impl TensorOp {
    /// A contraction whose products are summed one by one.
    pub fn dot(dims: DotDims, out: DType) -> TensorOp {
        TensorOp::Dot { dims: Box::new(dims), out, pair_sums: None }
    }
}
