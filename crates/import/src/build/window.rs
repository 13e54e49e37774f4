//! Geometry of sliding windows, as convolutions and pooling of every format have them.

use tegula_base::{Dim, SymbolInfo};

/// Whether a size, stride or dilation is one that an axis may have.
pub(crate) fn is_extent(n: &i64) -> bool {
    (1..=SymbolInfo::MAX).contains(n)
}

/// Splits a padding in two; the odd element goes to the end when `upper`.
pub(crate) fn halves(total: Dim, upper: bool) -> (Dim, Dim) {
    let small = total.floor_div(&Dim::from(2));
    let large = total - small.clone();
    if upper { (small, large) } else { (large, small) }
}

/// Padding with which a window of `size` at `stride` gives as many outputs as inputs over the stride.
/// The odd element goes to the end when `upper`.
pub(crate) fn same_pads(extent: &Dim, size: i64, stride: i64, dilation: i64, upper: bool) -> (Dim, Dim) {
    let stride = Dim::from(stride);
    let reach = Dim::from(dilation * (size - 1) + 1);
    let covered = (extent.ceil_div(&stride) - Dim::from(1)) * stride + reach;
    halves((covered - extent.clone()).maximum(&Dim::from(0)), upper)
}
