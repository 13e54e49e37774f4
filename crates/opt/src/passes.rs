//! Passes on tensor programs, one file each; `pipeline.rs` has their order.

pub mod canonicalise;
pub mod decompose_composites;
pub mod fold_constants;
pub mod fold_scales;
pub mod inline_branches;
pub mod legalise_types;
mod narrow_places;
pub mod recover_composites;
mod requantise;
mod round_factors;
pub mod simplify_sizes;
mod sum_channels;
mod sum_pairs;
mod transform_filters;
pub mod transpose_factors;
mod unpack_nibbles;
mod widen_rows;

pub use canonicalise::canonicalise;
pub use decompose_composites::{decompose_composites, decompose_recurrent, decompose_wide_attention};
pub use fold_constants::fold_constants;
pub use fold_scales::fold_scales;
pub use inline_branches::inline_branches;
pub use legalise_types::legalise_types;
pub use narrow_places::narrow_places;
pub use recover_composites::recover_composites;
pub use requantise::requantise;
pub use round_factors::{Precision, round_factors};
pub use simplify_sizes::simplify_sizes;
pub use sum_channels::sum_channels;
pub use sum_pairs::sum_pairs;
pub use transform_filters::transform_filters;
pub use transpose_factors::transpose_factors;
pub use unpack_nibbles::unpack_nibbles;
pub use widen_rows::widen_rows;
