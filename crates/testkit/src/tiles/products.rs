//! Products of matrices in whole tiles, as matrix units take them: what is outside of the views counts as 0.

use super::generate::Rng;
use super::{Case, times};
use tegula_base::DType::{self, *};
use tegula_ir::{ScalarOp, Value};
use tegula_tile::{TileBuilder, TileKernel};

/// A matrix whose elements outside of the view are 0.
pub fn padded(b: &mut TileBuilder, view: Value, offsets: &[Value], shape: &[i64]) -> Value {
    b.load(view, offsets, shape, &vec![1; shape.len()], &vec![true; shape.len()], 0)
}

/// What one product is.
#[derive(Clone, Copy, Debug)]
pub struct Product {
    pub lhs: DType,
    pub rhs: DType,
    pub out: DType,
    pub size: [i64; 3],
    pub tile: [i64; 3],
    /// Neighbours of the right factor lie along k.
    pub by_columns: bool,
}

/// `out = max(a b + bias, 0)`, by tiles.
pub fn product(p: Product) -> (Case, TileKernel) {
    let ([m, n, k], [tm, tn, tk]) = (p.size, p.tile);
    let acc = if p.lhs.is_float() { F32 } else { I32 };
    let (rows, columns) = ((m + tm - 1) / tm, (n + tn - 1) / tn);
    let right = if p.by_columns { format!("{n},{k}") } else { format!("{k},{n}") };
    let case = Case::new(&format!("{rows},{columns}"), &[])
        .input(p.lhs, &format!("{m},{k}"))
        .input(p.rhs, &right)
        .input(acc, &format!("{n}"))
        .output(p.out, &format!("{m},{n}"))
        .tolerance(1e-2);
    let kernel = case.kernel(|b, views, units| {
        let (row, column) = (times(b, units[0], tm), times(b, units[1], tn));
        let (zero, end) = (b.index(0), b.index(k));
        let none = b.splat(acc, &[tm, tn], 0);
        let scope = b.begin_for(zero, end, tk, &[none]);
        let x = padded(b, views[0], &[row, scope.iv], &[tm, tk]);
        let y = match p.by_columns {
            true => {
                let y = padded(b, views[1], &[column, scope.iv], &[tn, tk]);
                b.transpose(y, &[1, 0])
            }
            false => padded(b, views[1], &[scope.iv, column], &[tk, tn]),
        };
        let next = b.dot(scope.carried[0], x, y);
        let sum = b.end_for(scope, &[next])[0];
        let bias = padded(b, views[2], &[column], &[tn]);
        let bias = b.reshape(bias, &[1, tn]);
        let bias = b.broadcast(bias, &[tm, tn]);
        let sum = b.elementwise(ScalarOp::Add, &[sum, bias]);
        let zeros = b.splat(acc, &[tm, tn], 0);
        let sum = b.elementwise(ScalarOp::Max, &[sum, zeros]);
        let sum = b.elementwise(ScalarOp::Cast { to: p.out, saturate: true }, &[sum]);
        b.store(views[3], sum, &[row, column], &[1, 1], &[true, true]);
    });
    (case, kernel)
}

/// A random product by seed: types, orders, extents with tails, tiles of one warpgroup to those of a cluster.
pub fn random_product(seed: u64) -> (Case, TileKernel) {
    let rng = &mut Rng::new(seed);
    let types = [(BF16, BF16), (F16, F16), (I8, I8), (U8, I8), (F8E4M3FN, F8E5M2)];
    let (lhs, rhs) = rng.pick(&types);
    let out = match lhs.is_float() {
        true => rng.pick(&[F32, BF16]),
        false => I32,
    };
    let is_byte = lhs.size() == 1;
    // Rows of both sides are multiples of 16 bytes; products of bytes have k next to each other.
    let step = if is_byte { 16 } else { 8 };
    let tile = [rng.pick(&[64, 128, 256]), rng.pick(&[16, 32, 64, 96]), rng.pick(&[32, 64])];
    let by_columns = is_byte || rng.below(2) == 0;
    let mut upto =
        |tiles: i64, unit: i64, tile: i64| (1 + rng.below((tiles * tile / unit) as usize) as i64) * unit;
    let (m, k) = (upto(2, 1, tile[0]), upto(4, step, tile[2]));
    let n = upto(2, if by_columns { 1 } else { 8 }, tile[1]);
    product(Product { lhs, rhs, out, size: [m, n, k], tile, by_columns })
}
