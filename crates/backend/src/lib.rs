//! The interface between `opt` and a target: trait `TargetModel`.
//! In: kernels.  Out: claims, tile candidates, costs, compiled sections.
//! May use: tensor, tile, machine, perf, package, ir, base.  Never knows: any particular target.
//! Start reading at `lib.rs`.

pub mod coefficients;
pub mod look_up;
pub mod tuning;

use tegula_base::{Bytes, DType, Diagnostic, Dim, Symbols};
use tegula_machine::Machine;
use tegula_package::PtxKernel;
use tegula_tensor::KernelClass;
use tegula_tile::TileKernel;
use tuning::TunedTile;

/// What `opt` asks of a target while it forms, lays out, lowers and compiles kernels.
/// Answers depend on the machine description and the question only, never on the process or its host.
pub trait TargetModel: Sync {
    fn machine(&self) -> &Machine;

    /// Whether kernels with this kind of root compile here. Attention and recurrent layers that are not claimed are
    /// taken to pieces; every other kind must be. Unless a target says otherwise: what has a recipe.
    fn claims(&self, class: KernelClass) -> bool {
        match class {
            KernelClass::Map
            | KernelClass::Reduce
            | KernelClass::Rows
            | KernelClass::Dot
            | KernelClass::Conv
            | KernelClass::Pool
            | KernelClass::Gather
            | KernelClass::Scatter
            | KernelClass::Update
            | KernelClass::Scan => true,
            // Taken apart: no recipe computes them whole.
            KernelClass::Attention | KernelClass::Recurrent | KernelClass::Native => false,
        }
    }

    /// Elements of `dtype` that one vector register holds, at least 1.
    fn lanes(&self, dtype: DType) -> i64;

    /// Tile extents for a contraction or convolution.
    fn contract_tile(&self, contract: &Contract, symbols: &Symbols) -> ContractTile;

    /// Tiles that a contraction might have besides, the likeliest first: what is worth measuring. None where tiles are not
    /// taken from a record ([`tuning`]).
    fn other_tiles(&self, _contract: &Contract, _symbols: &Symbols) -> Vec<TunedTile> {
        vec![]
    }

    /// Why a contraction has the tile that it has, where that is not what the target chooses by itself.
    fn tile_reason(&self, _contract: &Contract) -> Option<String> {
        None
    }

    /// The forms of a contraction for ranges of its rows, in rising order; the last is for all that remain. Where rows are
    /// constant there is one. Only forms with padded edges may be several, or split.
    fn contract_forms(&self, contract: &Contract, symbols: &Symbols) -> Vec<ContractForm> {
        let tile = self.contract_tile(contract, symbols);
        vec![ContractForm { most_rows: i64::MAX, tile, reason: String::new() }]
    }

    /// Whether a contraction reads the right side with its rows and columns in either order, for nothing: then it is not
    /// turned before, and constants lie column after column.
    fn reads_turned(&self) -> bool {
        false
    }

    /// Rows of a contraction from which it pays to put its right side, which is no constant, into panels of a tile's columns
    /// first, one step of k after another. Who writes that side anyway does so for any number of rows. `None`: it is read as
    /// it lies; always so where the target takes several steps together.
    fn rows_worth_packing(&self, _contract: &Contract) -> Option<i64> {
        None
    }

    /// Whether any kernel may read an element of a table for each of its own elements; then a function of bytes becomes a
    /// table of it ([`look_up`]).
    fn looks_up(&self) -> bool {
        false
    }

    /// Extents of an attention's blocks; `None` where it is taken apart all the same.
    fn attention_tile(&self, _attention: &Attention) -> Option<AttentionTile> {
        None
    }

    /// Runs that keys are seen in, in the program's runs that have too few blocks of queries to fill the machine; `None`
    /// where there are none such. `heads` are those of the blocks: heads that share a block are one.
    fn attention_runs(
        &self,
        _attention: &Attention,
        _tile: &AttentionTile,
        _symbols: &Symbols,
    ) -> Option<AttentionRuns> {
        None
    }

    /// The type on which contractions of 8-bit floats are computed: themselves, or one that holds all their numbers.
    fn product_of_bytes(&self, _dtype: DType) -> DType {
        DType::F32
    }

    /// Whether a contraction of 16-bit floats that is read element by element takes longer than one of `f32`, of which the
    /// elements come widened.
    fn widens(&self, _dtype: DType) -> bool {
        false
    }

    /// Whether a vector holds channels of several groups of a convolution, each of whose elements goes to the lanes of its
    /// group by a shuffle.
    fn shuffles_groups(&self) -> bool {
        false
    }

    /// Of `k` steps, how many one instruction adds up, for factors of these types: packed right sides have the factors of
    /// so many steps next to each other. Where `k` is no multiple, floats left over go by themselves, bytes as a group that
    /// is not full. 1: each step goes by itself.
    fn steps_together(&self, lhs: DType, rhs: DType, k: i64) -> i64 {
        match (lhs, rhs) {
            (DType::U8, DType::I8) if k % 4 == 0 => 4,
            _ => 1,
        }
    }

    /// Products of bytes, unsigned by signed, that the machine adds up in the time of one of `f32`.
    fn byte_products(&self) -> i64 {
        1
    }

    /// What it costs to sum the products of two steps, of an unsigned by a signed byte, in `i16` with saturation before they are
    /// summed in `i32`; `None` where nothing is won, and such contractions are refused.
    fn byte_pairs(&self) -> Option<BytePairs> {
        None
    }

    /// How many products an element takes part in (columns, times what places of a convolution's window meet it) from which on
    /// those of 16-bit integers by signed bytes take less time than those of bytes that are not summed in pairs, with what it
    /// takes to widen the elements; `None` where it never does, and such products are not made.
    fn words_pay_from(&self) -> Option<usize> {
        None
    }

    /// Whether products of bytes are of an unsigned by a signed one, and of others as slow as of `i32`.
    fn wants_signed_bytes(&self) -> bool {
        false
    }

    /// Whether a contraction does this to its operands in its own kernel, on their way to the products.
    fn takes_prologue(&self, _prologue: Prologue) -> bool {
        false
    }

    /// Lines of a convolution's result that one panel of its weights serves before the next panel is touched, where all
    /// weights take so many bytes, and the input that one more line of the result needs.
    fn lines_of_panel(&self, _weights: Bytes, _line: Bytes) -> i64 {
        1
    }

    /// Extents for the products of a convolution by Winograd's algorithm, whose rows are an image's tiles: a work unit has
    /// `m_block` row tiles of them, and one of `n_slabs` parts of the columns, a divisor of their tiles' number. `None` where
    /// its windows are walked instead.
    fn winograd_tile(&self, _products: &Contract, _symbols: &Symbols) -> Option<ContractTile> {
        None
    }

    /// Input channels from which a convolution to one channel pays as a depthwise one whose results are summed over
    /// channels; `None` where results' channels do not lie in lanes.
    fn sums_channels_from(&self) -> Option<i64> {
        None
    }

    /// Bytes of a cache line, where kernels are to ask ahead for what they will read (`tgt.prefetch`).
    fn prefetched_line(&self) -> Option<Bytes> {
        None
    }

    /// Whether a row tile of fewer rows than usual, perhaps the only one, asks ahead as the others do.
    fn prefetches_tails(&self) -> bool {
        true
    }

    /// Whether a row tile of a contraction asks ahead for the rows of the next one, as far as they are whole cache lines.
    fn prefetches_rows(&self, _contract: &Contract) -> bool {
        false
    }

    /// Elements along the innermost axis that a row kernel handles a step: a multiple of [`Self::lanes`].
    fn row_tile(&self, widest: DType, live_rows: i64) -> i64;

    /// Elements along the innermost axis that a work unit takes at the same time where it goes along other axes, as a pool
    /// or a running sum does: a multiple of [`Self::lanes`].
    fn columns_together(&self, widest: DType) -> i64 {
        self.lanes(widest)
    }

    /// Rows that a work unit reduces at the same time, at most: while one waits for its sum the others go on.
    fn rows_together(&self) -> i64 {
        1
    }

    /// The side of the squares in which a movement kernel turns rows into columns in registers; `None` where it reads
    /// the elements of a column one by one.
    fn turned_square(&self, _widest: DType) -> Option<i64> {
        None
    }

    /// Whether a work unit reads back at little cost what it stored in its results: between the passes over a row they
    /// then keep what took long to compute.
    fn rereads_results(&self) -> bool {
        false
    }

    /// Whether the greatest or least of a whole tensor is found in two steps, of each row and then of the rows: one
    /// thread does what is no more than one row.
    fn reduces_rows_first(&self) -> bool {
        false
    }

    /// As [`Self::row_tile`], of a row that is reduced and too long for [`Self::resident_row`].
    fn long_row_tile(&self, widest: DType, live_rows: i64) -> i64 {
        self.row_tile(widest, live_rows)
    }

    /// The largest row, in elements, that a row kernel keeps in registers between its passes.
    fn resident_row(&self, widest: DType) -> i64;

    /// Work that makes one work unit worth its dispatch.
    fn unit_bytes(&self) -> Bytes;

    /// Vector instructions that do, where an element takes many; `None`: bytes alone count.
    fn unit_instructions(&self) -> Option<i64> {
        None
    }

    /// Compiles a kernel. Errors: internal only; a kernel that the target claimed must compile.
    fn compile(
        &self,
        name: &str,
        kernel: &TileKernel,
        symbols: &Symbols,
    ) -> Result<CompiledKernel, Diagnostic>;
}

/// The sizes of `out[batch, m, n] = sum over k of lhs[batch, m, k] * rhs[batch, k, n]`.
/// For a convolution m is the innermost spatial axis of the result, n its channels, k the input channels of a
/// group times the window.
#[derive(Clone, Debug)]
pub struct Contract {
    pub batch: Dim,
    pub m: Dim,
    pub n: Dim,
    pub k: Dim,
    pub lhs: DType,
    pub rhs: DType,
    pub acc: DType,
    pub panels: Panels,
    /// It is computed in each turn of a loop, where rows whose number is not known are few: a recurrent layer's batch.
    pub in_loop: bool,
    /// Products of two steps are summed in `i16` first.
    pub pair_sums: bool,
    /// Rows of the left side are read through a window: a convolution.
    pub windowed: bool,
    /// Axes of the batch.
    pub batch_axes: usize,
    /// Extents of both sides along the axis whose elements are neighbours in memory; of a side with a prologue those of
    /// the buffer that is read.
    pub innermost: [Dim; 2],
    pub prologue: Option<Prologue>,
}

/// How a contraction's right side lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Panels {
    /// As the program has it.
    None,
    /// In panels of the tile's columns, packed when it is compiled or by the kernel that writes it.
    OfTile,
    /// In panels of so many columns, which are the tile's.
    Of(i64),
}

/// Costs of products of bytes whose pairs are summed in 16 bits.
#[derive(Clone, Copy, Debug)]
pub struct BytePairs {
    /// The part of the time that the same product takes without.
    pub share: f64,
    /// Columns whose products, without, take the time of copying the left side's row once.
    pub copy: f64,
}

/// What happens to operands between their buffers and the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prologue {
    /// The right side's elements, of type `to`, are computed from integers of so many bits.
    Unpack { bits: u32, to: DType },
    /// Both sides are 8-bit floats `of` times factors, one each row and column and so many steps of k.
    BlockScales { of: DType, steps: i64 },
}

/// What tiles at the edges of a result do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edges {
    /// Rows and steps left over run in narrower tiles.
    Cut,
    /// All tiles are whole: elements outside of the operands count as 0, and of the result nothing is stored there.
    Padded,
}

/// Extents of the result tile held in registers, and how work units walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContractTile {
    pub m: i64,
    /// A multiple of the vector length; constant right sides are packed in panels of this width.
    pub n: i64,
    /// Contraction steps unrolled in the inner loop.
    pub k: i64,
    /// Row tiles that one panel of the right side serves before the next panel is touched.
    pub m_block: i64,
    /// Parts of the columns, a divisor of their tiles' number, each of which all rows pass over before the next is touched;
    /// with cut edges only.
    pub n_slabs: i64,
    /// Rows of sums that keep the multiply-add units busy: a tile of fewer rows sums k in as many chains.
    pub busy_rows: i64,
    /// Row tiles of a block for which a panel of weights stored narrower becomes floats once, in memory of the unit's own;
    /// `None`: each converts what it reads. With cut edges only.
    pub converts_for: Option<i64>,
    pub edges: Edges,
    /// Columns of the result are the rows of the unit's product; with padded edges only.
    pub swapped: bool,
    /// Runs of k whose sums are computed apart and then added up; with padded edges only.
    pub splits: i64,
}

/// How a contraction of few or many rows is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContractForm {
    /// Rows that it is for at most, and more than the form before.
    pub most_rows: i64,
    pub tile: ContractTile,
    /// What was predicted, in one line; empty where nothing was.
    pub reason: String,
}

/// The sizes of `softmax(q k^T) v`, as `tgn.attention` names them.
#[derive(Clone, Debug)]
pub struct Attention {
    pub batch: Dim,
    pub heads: Dim,
    /// Heads of keys and values, a divisor of `heads`.
    pub kv_heads: Dim,
    pub queries: Dim,
    pub keys: Dim,
    /// Elements of a query or key, and of a value.
    pub qk_dim: i64,
    pub v_dim: i64,
    pub dtype: DType,
    pub causal: bool,
    /// Keys that a query sees at most; 0 is all.
    pub window: i64,
    /// Something is added to the scores.
    pub masked: bool,
    /// Keys and values lie anywhere, one by one.
    pub scattered: bool,
}

/// What a work unit holds of an attention: a block of queries, while blocks of keys go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttentionTile {
    pub queries: i64,
    pub keys: i64,
    /// Elements of a value at most: wider ones are parts of several units, each with scores of its own.
    pub v_dim: i64,
    pub scores: Scores,
}

/// How a work unit of an attention holds its scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scores {
    /// Rows of queries, as factors of the next product right away.
    Rows,
    /// Turned, in memory of the unit's own: rows of keys, so many made at once, with the queries across lanes. Maxima and
    /// sums then go from row to row, and keys and values are factors as they lie. A unit takes whole values, and sums those
    /// of so many queries at once.
    Turned { rows: i64, queries: i64 },
}

/// Keys in runs that different units see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttentionRuns {
    /// How many, at least 1.
    pub runs: Dim,
    /// 1 where keys are split, 0 where they are not.
    pub used: Dim,
    /// What was predicted, in one line; empty where nothing was.
    pub reason: String,
}

/// A kernel as the package stores it; the argument block (`docs/abi.md`) is the kernel's views, then `sizes`.
#[derive(Clone, Debug)]
pub struct CompiledKernel {
    pub code: Code,
    pub sizes: Vec<Dim>,
    /// Bytes of private memory a thread.
    pub scratch: Dim,
    /// Number of work units.
    pub units: Dim,
    /// What the target did otherwise than the kernel's tiles ask for, and why: a sentence each.
    pub remarks: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// Position-independent machine code; the entry point is its first byte.
    Machine(Vec<u8>),
    /// For the portable executor: the schedule level's text.
    Portable(Vec<u8>),
    /// For an NVIDIA GPU.
    Ptx(PtxKernel),
}
