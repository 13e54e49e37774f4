//! What recipes ask of a machine that computes on tiles: a processor, a GPU.
//!
//! Four records hold what is a fact of the machine ([`Facts`]); the trait's methods answer what depends on sizes. Answers
//! depend on the machine description and the question alone.

mod attention;
mod contraction;

pub use attention::{Attention, AttentionSplits, AttentionTile, Scores};
pub use contraction::{Contract, ContractForm, ContractTile, Edges, Panels, Prologue};

use crate::tuning::TunedTile;
use tegula_backend::{BytePairs, CompiledKernel};
use tegula_base::{Bytes, DType, Diagnostic, Symbols};
use tegula_machine::Machine;
use tegula_tile::TileKernel;

/// A machine that tile kernels are compiled for.
pub trait TileMachine: Sync {
    fn machine(&self) -> &Machine;

    /// As [`tegula_backend::Target::isa`].
    fn isa(&self) -> &str;

    fn facts(&self) -> &Facts;

    /// Elements of `dtype` that one vector register holds, at least 1.
    fn lanes(&self, dtype: DType) -> i64;

    /// Tile extents for a contraction or convolution.
    fn contract_tile(&self, contract: &Contract, symbols: &Symbols) -> ContractTile;

    /// The forms of a contraction for ranges of its rows, in rising order; the last is for all that remain. Where rows are
    /// constant there is one. Only forms with padded edges may be several, or split.
    fn contract_forms(&self, contract: &Contract, symbols: &Symbols) -> Vec<ContractForm>;

    /// Tiles that a contraction might have besides, the likeliest first: what is worth measuring. None where tiles are not
    /// taken from a record ([`crate::tuning`]).
    fn other_tiles(&self, contract: &Contract, symbols: &Symbols) -> Vec<TunedTile>;

    /// Why a contraction has the tile that it has, where that is not what the machine chooses by itself.
    fn tile_reason(&self, contract: &Contract) -> Option<String>;

    /// Rows of a contraction from which it pays to put its right side, which is no constant, into panels of a tile's columns
    /// first, one step of k after another. Who writes that side anyway does so for any number of rows. `None`: it is read as
    /// it lies; always so where the machine sums k-groups.
    fn rows_worth_packing(&self, contract: &Contract) -> Option<i64>;

    /// The k-group: of `k` steps, how many one instruction adds up, for factors of these types. Packed right sides have the
    /// factors of a group next to each other. Where `k` is no multiple, floats left over go by themselves, bytes as a group
    /// that is not full. 1: each step goes by itself.
    fn k_group(&self, lhs: DType, rhs: DType, k: i64) -> i64;

    /// Lines of a convolution's result that one panel of its weights serves before the next panel is touched, where all
    /// weights take so many bytes, and the input that one more line of the result needs.
    fn lines_of_panel(&self, weights: Bytes, line: Bytes) -> i64;

    /// Extents for the products of a convolution by Winograd's algorithm, whose rows are an image's tiles: a work unit has
    /// `m_block` row tiles of them, and one of `n_slabs` parts of the columns, a divisor of their tiles' number. `None` where
    /// its windows are walked instead.
    fn winograd_tile(&self, products: &Contract, symbols: &Symbols) -> Option<ContractTile>;

    /// Whether a row tile of a contraction prefetches the rows of the next one, as far as they are whole cache lines.
    fn prefetches_rows(&self, contract: &Contract) -> bool;

    /// Elements along the innermost axis that a row kernel handles a step: a multiple of [`Self::lanes`].
    fn row_tile(&self, widest: DType, live_rows: i64) -> i64;

    /// As [`Self::row_tile`], of a row that is reduced and too long for [`Self::resident_row`].
    fn long_row_tile(&self, widest: DType, live_rows: i64) -> i64;

    /// The largest row, in elements, that a row kernel keeps in registers between its passes.
    fn resident_row(&self, widest: DType) -> i64;

    /// Elements along the innermost axis that a work unit takes at the same time where it goes along other axes, as a pool
    /// or a running sum does: a multiple of [`Self::lanes`].
    fn columns_together(&self, widest: DType) -> i64;

    /// Extents of an attention's blocks; `None` where it is taken apart.
    fn attention_tile(&self, attention: &Attention) -> Option<AttentionTile>;

    /// How keys are split (split-KV), in the program's runs that have too few blocks of queries to fill the machine;
    /// `None` where there are none such. `heads` are those of the blocks: heads that share a block are one.
    fn attention_splits(
        &self,
        attention: &Attention,
        tile: &AttentionTile,
        symbols: &Symbols,
    ) -> Option<AttentionSplits>;

    /// Compiles a tile kernel. Errors: internal only; what recipes make must compile.
    fn compile(
        &self,
        name: &str,
        kernel: &TileKernel,
        symbols: &Symbols,
    ) -> Result<CompiledKernel, Diagnostic>;
}

impl dyn TileMachine + '_ {
    /// The side of the squares in which a movement kernel transposes in registers; `None` where it reads the elements of a
    /// column one by one.
    pub fn transposed_square(&self, widest: DType) -> Option<i64> {
        self.facts().rows.transposes.then(|| self.lanes(widest))
    }
}

/// Facts of a machine, by the recipes that ask for them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    pub contractions: ContractionFacts,
    pub byte_products: ByteProductFacts,
    pub rows: RowFacts,
    pub attention: AttentionFacts,
}

/// Of contractions and convolutions.
#[derive(Clone, Debug, PartialEq)]
pub struct ContractionFacts {
    /// The right side is read with its rows and columns in either order, for nothing: it is not transposed before, and
    /// constants lie column after column.
    pub reads_transposed: bool,
    /// 16-bit floats of which a contraction, read element by element, takes longer than one of `f32` whose elements come
    /// widened.
    pub widened: Vec<DType>,
    /// The type that contractions of 8-bit floats are computed in; `None`: their own.
    pub f8_products: Option<DType>,
    /// Types of factors that a contraction's own kernel computes from integers in few bits.
    pub unpacks_to: Vec<DType>,
    /// Both sides may be 8-bit floats times a factor each block.
    pub block_scales: bool,
    /// A vector holds channels of several groups of a convolution, each of whose elements goes to the lanes of its group by
    /// a shuffle.
    pub shuffles_groups: bool,
    /// Input channels from which a convolution to one channel pays as a depthwise one whose results are summed over
    /// channels; `None` where results' channels do not lie in lanes.
    pub fewest_summed_channels: Option<i64>,
    /// Bytes of a cache line, where kernels prefetch what they will read.
    pub prefetched_line: Option<Bytes>,
    /// A row tile of fewer rows than usual, perhaps the only one, prefetches as the others do.
    pub prefetches_tails: bool,
}

impl Default for ContractionFacts {
    fn default() -> ContractionFacts {
        ContractionFacts {
            reads_transposed: false,
            widened: Vec::new(),
            // It holds the numbers of each of them.
            f8_products: Some(DType::F32),
            unpacks_to: Vec::new(),
            block_scales: false,
            shuffles_groups: false,
            fewest_summed_channels: None,
            prefetched_line: None,
            prefetches_tails: true,
        }
    }
}

impl ContractionFacts {
    /// The type on which a contraction of an 8-bit float is computed.
    pub fn product_of_f8(&self, dtype: DType) -> DType {
        self.f8_products.unwrap_or(dtype)
    }

    /// Whether a contraction does this to its operands in its own kernel, on their way to the products.
    pub fn takes(&self, prologue: Prologue) -> bool {
        match prologue {
            Prologue::Unpack { to, .. } => self.unpacks_to.contains(&to),
            Prologue::BlockScales { .. } => self.block_scales,
        }
    }
}

/// Of products of bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct ByteProductFacts {
    /// Products, unsigned by signed, that are added up in the time of one of `f32`.
    pub rate: i64,
    /// They are of an unsigned by a signed byte, and of others as slow as of `i32`.
    pub signed_weights: bool,
    /// What it costs to sum the products of two steps in `i16`, with saturation, before they are summed in `i32`; `None`
    /// where nothing is won, and such contractions are refused.
    pub pairs: Option<BytePairs>,
    /// Products an element takes part in from which on those of `i16` by `i8` take less time than those of bytes that are
    /// not summed in pairs, with what it takes to widen the elements; `None` where they never do.
    pub fewest_i16_products: Option<usize>,
}

impl Default for ByteProductFacts {
    fn default() -> ByteProductFacts {
        ByteProductFacts { rate: 1, signed_weights: false, pairs: None, fewest_i16_products: None }
    }
}

/// Of kernels that go along rows: elementwise ops, movement, reductions.
#[derive(Clone, Debug, PartialEq)]
pub struct RowFacts {
    /// Squares of a vector's side are transposed in registers.
    pub transposes: bool,
    /// A kernel may read an element of a lookup table for each of its own elements. A function of bytes then becomes such
    /// a table ([`tegula_tensor::lookup`]).
    pub lookup_tables: bool,
    /// Rows that a work unit reduces at the same time, at most: while one waits for its sum the others go on.
    pub rows_together: i64,
    /// A work unit reads back at little cost what it stored in its results. Between the passes over a row, what took long
    /// to compute is then spilled to them.
    pub rereads_results: bool,
    /// The greatest or least of a whole tensor is found in two steps, of each row and then of the rows: one thread does what
    /// is no more than one row.
    pub two_step_extremes: bool,
    /// Work that makes one work unit worth its dispatch.
    pub unit_bytes: Bytes,
    /// Vector instructions that do, where an element takes many; `None`: bytes alone count.
    pub unit_instructions: Option<i64>,
}

impl Default for RowFacts {
    fn default() -> RowFacts {
        RowFacts {
            transposes: false,
            lookup_tables: false,
            rows_together: 1,
            rereads_results: false,
            two_step_extremes: false,
            unit_bytes: Bytes(0),
            unit_instructions: None,
        }
    }
}

/// Of attention.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AttentionFacts {
    /// Attention has a recipe of its own; else it is taken apart, whatever [`TileMachine::attention_tile`] says.
    pub has_recipe: bool,
}
