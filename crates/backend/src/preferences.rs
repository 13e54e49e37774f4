//! Facts of a target that rewrites of tensor programs act on, as plain data.

use serde::Serialize;
use std::fmt;
use tegula_base::DType;

/// `tegula explain` prints them. [`Preferences::default`] asks for no rewrite.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Preferences {
    /// A function of bytes becomes a lookup table.
    pub lookup_tables: bool,
    /// Contractions read their right side transposed at no cost.
    pub transposed_factors: bool,
    /// Weights of 4 bits become factors on their way to the product.
    pub unpacked_nibbles: bool,
    /// Products of bytes are of an unsigned by a signed one.
    pub signed_weights: bool,
    /// Products of bytes, unsigned by signed, in the time of one of `f32`.
    pub byte_products: i64,
    /// Sums of two products of bytes in `i16`; `None`: products are summed exactly.
    pub byte_pairs: Option<BytePairs>,
    /// Products an element takes part in (columns, times the places of a window that meet it) from which products of `i16`
    /// by `i8` take less time than those of bytes, with the widening; `None`: never.
    pub fewest_i16_products: Option<usize>,
    /// The type that contractions of 8-bit floats are computed in; `None`: their own.
    #[serde(serialize_with = "name")]
    pub f8_products: Option<DType>,
    /// 16-bit floats of which contractions take longer than of `f32`.
    #[serde(serialize_with = "names")]
    pub widened: Vec<DType>,
    /// Types that are computed at less than the rate of `f32`.
    #[serde(serialize_with = "names")]
    pub slow_types: Vec<DType>,
    /// The greatest or least of a whole tensor is found in two steps: of each row, then of the rows.
    pub two_step_extremes: bool,
    /// Input channels from which a convolution to one channel is a depthwise one whose results are summed; `None`: never.
    pub fewest_summed_channels: Option<i64>,
    /// The longest row, in elements of `f32`, that a kernel keeps on chip between two passes over it.
    pub resident_row: i64,
}

/// Costs of products of bytes whose pairs are summed in 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BytePairs {
    /// The part of the time that the same product takes without.
    pub share: f64,
    /// Columns whose products, without, take the time of copying the left side's row once.
    pub copy: f64,
}

impl fmt::Display for Preferences {
    /// A line each, `name: value`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = serde_json::to_value(self).map_err(|_| fmt::Error)?;
        let facts = value.as_object().into_iter().flatten();
        facts.into_iter().try_for_each(|(name, value)| writeln!(f, "{name}: {value}"))
    }
}

fn name<S: serde::Serializer>(dtype: &Option<DType>, serializer: S) -> Result<S::Ok, S::Error> {
    dtype.map(DType::name).serialize(serializer)
}

fn names<S: serde::Serializer>(dtypes: &[DType], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(dtypes.iter().map(|dtype| dtype.name()))
}
