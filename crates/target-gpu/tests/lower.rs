//! Tile kernels of every target (`crates/testkit/tests/tiles`) on the simulator, and what only a GPU has. The tile
//! level's executor is the oracle.

use crate::harness;

use harness::{Case, Check};
use tegula_base::DType::*;
use tegula_testkit::tiles::{load, store};

/// Products that tensor cores take, with a tail of steps that they do not, from both orders of the right side.
#[test]
fn matrix_units() {
    for (lhs, rhs, acc) in
        [(BF16, BF16, F32), (F16, F16, F32), (I8, I8, I32), (U8, I8, I32), (U8, U8, I32), (I8, U8, I32)]
    {
        for (m, n, k) in [(16, 8, 32), (64, 64, 75), (48, 24, 64), (32, 128, 33)] {
            let shapes = [format!("{m},{k}"), format!("{n},{k}"), format!("{m},{n}")];
            let case =
                Case::new("1", &[]).input(lhs, &shapes[0]).input(rhs, &shapes[1]).output(acc, &shapes[2]);
            case.tolerance(1e-4).check(|b, views, _| {
                let zero = b.index(0);
                let none = b.splat(acc, &[m, n], 0);
                let (whole, end) = (b.index(k / 32 * 32), b.index(k));
                let mut sum = none;
                for (lo, hi, step) in [(zero, whole, 32), (whole, end, 1)] {
                    let scope = b.begin_for(lo, hi, step, &[sum]);
                    let x = load(b, views[0], &[zero, scope.iv], &[m, step]);
                    let y = load(b, views[1], &[zero, scope.iv], &[n, step]);
                    let y = b.transpose(y, &[1, 0]);
                    let next = b.dot(scope.carried[0], x, y);
                    sum = b.end_for(scope, &[next])[0];
                }
                store(b, views[2], sum, &[zero, zero]);
            });
        }
    }
}
