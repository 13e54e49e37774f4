//! Factors in few bits: integers with a scale, perhaps a zero point, a group; 8-bit floats with a scale a block.

use super::super::build::Gen;
use super::super::data::Values;
use tegula_base::{DType, Dim, Shape};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::build::Built;

/// Steps of k with a scale of their own; others than powers of two are computed in kernels of their own.
const GROUPS: [i64; 6] = [16, 32, 64, 128, 128, 48];
/// Rows and steps of a block.
const BLOCKS: [i64; 3] = [32, 128, 128];

/// `[n, k]` numbers of `to` from 8 or 4 bits, and k, of whole groups.
pub(super) fn unpacked(
    g: &mut Gen,
    to: DType,
    dims: &dyn Fn([i64; 2]) -> Shape,
    n: i64,
    k: i64,
) -> Built<(i64, Value)> {
    let group = g.rng.pick(&GROUPS);
    let (groups, k) = ((k / group).max(1), (k / group).max(1) * group);
    let in_groups = |last: i64| -> Shape {
        dims([n, groups]).iter().cloned().chain([Dim::from(last)]).collect::<Vec<Dim>>().into()
    };
    let numbers = match g.rng.chance(50) {
        true => {
            let dtype = g.rng.pick(&[DType::I8, DType::U8]);
            g.fresh(dtype, dims([n, k]), Values::Ordinary)
        }
        false => {
            let bytes = g.fresh(DType::U8, dims([n, k / 2]), Values::Special);
            let apart: Vec<Dim> = dims([n, k / 2]).iter().cloned().chain([Dim::from(1)]).collect();
            let axis = apart.len() - 1;
            let bytes = g.b.reshape(bytes, apart)?;
            let low = g.b.with_number(ScalarOp::And, bytes, 15.0)?;
            let high = g.b.with_number(ScalarOp::ShiftRight, bytes, 4.0)?;
            g.b.concat(&[low, high], axis)?
        }
    };
    let numbers = g.b.reshape(numbers, in_groups(group))?;
    let mut wide = g.b.cast(numbers, to)?;
    if g.rng.chance(40) {
        wide = g.b.with_number(ScalarOp::Sub, wide, 8.0)?;
    } else if g.rng.chance(50) {
        let zero = g.fresh(to, in_groups(1), Values::Ordinary);
        wide = g.b.sub(wide, zero)?;
    }
    let scale = g.fresh(to, in_groups(1), Values::Positive);
    let scaled = g.b.mul(wide, scale)?;
    Ok((k, g.b.reshape(scaled, dims([n, k]))?))
}

/// `[m, k]` and `[n, k]` numbers from bytes: a scale for each row of the one and some rows of the other, and some steps.
pub(super) fn block_scaled(g: &mut Gen, [m, n, k]: [i64; 3]) -> Built<(Value, Value)> {
    let (steps, rows) = (g.rng.pick(&BLOCKS), g.rng.pick(&BLOCKS));
    let (blocks, row_blocks) = ((k / steps).max(1), (n / rows).max(1));
    let (k, n) = (blocks * steps, row_blocks * rows);
    let bytes = |g: &mut Gen, rows: i64| -> Built<Value> {
        let bytes = g.fresh(DType::F8E4M3FN, [rows, k].into(), Values::Ordinary);
        g.b.cast(bytes, DType::F32)
    };
    let x = bytes(g, m)?;
    let x = g.b.reshape(x, [m, blocks, steps])?;
    let scale = g.fresh(DType::F32, [m, blocks, 1].into(), Values::Positive);
    let x = g.b.mul(x, scale)?;
    let x = g.b.reshape(x, [m, k])?;
    let w = bytes(g, n)?;
    let w = g.b.reshape(w, [row_blocks, rows, blocks, steps])?;
    let scale = g.fresh(DType::F32, [row_blocks, 1, blocks, 1].into(), Values::Positive);
    let w = g.b.mul(scale, w)?;
    Ok((x, g.b.reshape(w, [n, k])?))
}
