//! What a machine is asked about contractions and convolutions, and the tiles that it answers with.

use tegula_base::{DType, Dim};

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
    /// It is computed in each iteration of a loop, where rows whose number is not known are few: a recurrent layer's batch.
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

impl Contract {
    /// A matrix product on its own: right sides in panels of the tile, row-major sides, nothing before the product.
    /// `sizes` are batch, m, n and k; `types` those of the left side, the right side and the sums.
    pub fn new(sizes: [Dim; 4], types: [DType; 3]) -> Contract {
        let ([batch, m, n, k], [lhs, rhs, acc]) = (sizes, types);
        let innermost = [k.clone(), n.clone()];
        Contract {
            batch,
            m,
            n,
            k,
            lhs,
            rhs,
            acc,
            panels: Panels::OfTile,
            in_loop: false,
            pair_sums: false,
            windowed: false,
            batch_axes: 0,
            innermost,
            prologue: None,
        }
    }
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
    /// Row blocking: row tiles that one panel of the right side serves before the next panel is touched.
    pub m_block: i64,
    /// Column blocking: parts of the columns, a divisor of their tiles' number. All rows pass over one before the next is
    /// touched. With cut edges only.
    pub n_slabs: i64,
    /// Rows of sums that keep the multiply-add units busy: a tile of fewer rows sums k in as many chains.
    pub busy_rows: i64,
    /// Row tiles of a block for which a panel of weights stored narrower becomes floats once, in memory of the unit's own;
    /// `None`: each converts what it reads. With cut edges only.
    pub converts_for: Option<i64>,
    pub edges: Edges,
    /// Columns of the result are the rows of the unit's product; with padded edges only.
    pub swapped: bool,
    /// Splits of k (split-K), whose sums are computed apart and then added up; with padded edges only.
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

impl ContractForm {
    /// The one form of a contraction that has the same tile for any number of rows.
    pub fn only(tile: ContractTile) -> Vec<ContractForm> {
        vec![ContractForm { most_rows: i64::MAX, tile, reason: String::new() }]
    }
}
