//! Lanes for products whose columns leave much of a register empty.

use tegula_tile::{TileFunc, TileOp};

/// The share of products in empty lanes that makes half registers worth their larger number: conversions, addresses and
/// what else is no product take an instruction a register.
const GAIN: f64 = 0.05;

/// As many lanes as there are, or half of them, where that multiplies so much less that is nothing.
pub(super) fn lanes(func: &TileFunc, lanes: u32) -> u32 {
    let half = lanes / 2;
    let [whole, halved] = [lanes, half].map(|lanes| multiplied(func, i64::from(lanes.max(1))) as f64);
    if half > 1 && halved < (1.0 - GAIN) * whole { half } else { lanes }
}

/// Whether `columns` in vectors of half of so many lanes multiply enough less.
pub(crate) fn wants_halves(columns: i64, lanes: i64) -> bool {
    let filled = |lanes: i64| (columns + lanes - 1) / lanes * lanes;
    lanes > 2 && (filled(lanes / 2) as f64) < (1.0 - GAIN) * filled(lanes) as f64
}

/// Products of all contractions of a function, of empty lanes too, each counted once.
fn multiplied(func: &TileFunc, lanes: i64) -> i64 {
    let ops = func.walk();
    let dots = ops.iter().filter(|op| matches!(func.kind(**op), TileOp::Dot { .. }));
    let products = dots.filter_map(|op| {
        let (_, left) = func.ty(func.operand(*op, 1)).as_tile()?;
        let (_, right) = func.ty(func.operand(*op, 2)).as_tile()?;
        Some(left[0] * left[1] * ((right[1] + lanes - 1) / lanes * lanes))
    });
    products.sum()
}
