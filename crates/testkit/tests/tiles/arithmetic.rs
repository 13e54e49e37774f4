//! Tile kernels against their meaning: arithmetic, reductions, products, loops, and random kernels. The tile level's
//! executor is the oracle.
//! A target's tests include this file; their `harness` says how a kernel runs there.

use crate::harness::{Case, Check};
use tegula_base::DType::{self, *};
use tegula_ir::{ScalarOp, Value};
use tegula_testkit::tiles::kernels::random_kernel;
use tegula_testkit::tiles::{load, store, times};
use tegula_tile::{IndexOp, TileBuilder};

const ADD: ScalarOp = ScalarOp::Add;

#[test]
fn elementwise_rows() {
    Case::new("4", &[]).input(F32, "4,64").input(F32, "64").output(F32, "4,64").check(|b, views, units| {
        let zero = b.index(0);
        let x = load(b, views[0], &[units[0], zero], &[1, 64]);
        let y = load(b, views[1], &[zero], &[64]);
        let y = b.reshape(y, &[1, 64]);
        let sum = b.elementwise(ADD, &[x, y]);
        let product = b.elementwise(ScalarOp::Mul, &[sum, x]);
        store(b, views[2], product, &[units[0], zero]);
    });
}

#[test]
fn row_sums_and_maxima() {
    for f in [ADD, ScalarOp::Max, ScalarOp::Min, ScalarOp::Mul] {
        for (dtype, n) in
            [(F32, 45), (F64, 9), (I32, 45), (I64, 17), (F32, 150), (U8, 20), (F16, 33), (Bool, 21)]
        {
            if dtype == Bool && matches!(f, ScalarOp::Mul | ScalarOp::Add) {
                continue;
            }
            let shape = format!("3,{n}");
            let case = Case::new("3", &[]).input(dtype, &shape).output(dtype, "3,1").tolerance(2e-2);
            case.check(|b, views, units| {
                let zero = b.index(0);
                let x = load(b, views[0], &[units[0], zero], &[1, n]);
                let sum = b.reduce(f, x, 1);
                store(b, views[1], sum, &[units[0], zero]);
            });
        }
    }
}

#[test]
fn extremes_of_special_values() {
    // Negative zero, NaN, negative infinity.
    for f in [ScalarOp::Max, ScalarOp::Min] {
        for (dtype, bits) in
            [(F32, 0x8000_0000u32 as i64), (F32, 0x7fc0_0000), (F64, i64::MIN), (F32, 0xff80_0000)]
        {
            Case::new("2", &[]).input(dtype, "2,21").output(dtype, "2,1").check(|b, views, units| {
                let zero = b.index(0);
                let x = load(b, views[0], &[units[0], zero], &[1, 21]);
                // Half of the row is the special value, the rest no greater (or no less) than zero.
                let none = b.splat(dtype, &[1, 21], 0);
                let bound = if f == ScalarOp::Max { ScalarOp::Min } else { ScalarOp::Max };
                let x = b.elementwise(bound, &[x, none]);
                let ramp = b.iota(I32, &[1, 21], 1);
                let half = b.splat(I32, &[1, 21], 9);
                let early = b.elementwise(ScalarOp::Lt, &[ramp, half]);
                let special = b.splat(dtype, &[1, 21], bits);
                let x = b.elementwise(ScalarOp::Select, &[early, special, x]);
                let result = b.reduce(f, x, 1);
                store(b, views[1], result, &[units[0], zero]);
            });
        }
    }
}

#[test]
fn column_sums() {
    Case::new("1", &[]).input(F32, "5,20").output(F32, "1,20").check(|b, views, _| {
        let zero = b.index(0);
        let x = load(b, views[0], &[zero, zero], &[5, 20]);
        let sum = b.reduce(ADD, x, 0);
        store(b, views[1], sum, &[zero, zero]);
    });
}

#[test]
fn softmax_in_two_passes() {
    Case::new("3", &[("n", 77)]).input(F32, "3,n").output(F32, "3,n").check(|b, views, units| {
        let (zero, size) = (b.index(0), b.size(&"n".parse().unwrap()));
        let lowest = b.splat(F32, &[1, 32], f32::NEG_INFINITY.to_bits().into());
        let scope = b.begin_for(zero, size, 32, &[lowest]);
        let offsets = [units[0], scope.iv];
        let x =
            b.load(views[0], &offsets, &[1, 32], &[1, 1], &[false, true], f32::NEG_INFINITY.to_bits().into());
        let next = b.elementwise(ScalarOp::Max, &[scope.carried[0], x]);
        let max = b.end_for(scope, &[next])[0];
        let max = b.reduce(ScalarOp::Max, max, 1);
        let wide = b.broadcast(max, &[1, 32]);
        let none = b.splat(F32, &[1, 32], 0);
        let scope = b.begin_for(zero, size, 32, &[none]);
        let offsets = [units[0], scope.iv];
        let x =
            b.load(views[0], &offsets, &[1, 32], &[1, 1], &[false, true], f32::NEG_INFINITY.to_bits().into());
        let x = b.elementwise(ScalarOp::Sub, &[x, wide]);
        let e = b.elementwise(ScalarOp::Exp, &[x]);
        b.store(views[1], e, &offsets, &[1, 1], &[false, true]);
        let next = b.elementwise(ADD, &[scope.carried[0], e]);
        let sum = b.end_for(scope, &[next])[0];
        let sum = b.reduce(ADD, sum, 1);
        let inverse = b.elementwise(ScalarOp::Reciprocal, &[sum]);
        let wide = b.broadcast(inverse, &[1, 32]);
        let scope = b.begin_for(zero, size, 32, &[]);
        let offsets = [units[0], scope.iv];
        // Reads what this kernel has written.
        let e = b.load(views[1], &offsets, &[1, 32], &[1, 1], &[false, true], 0);
        let y = b.elementwise(ScalarOp::Mul, &[e, wide]);
        b.store(views[1], y, &offsets, &[1, 1], &[false, true]);
        b.end_for(scope, &[]);
    });
}

fn matmul(lhs: DType, rhs: DType, acc: DType, m: i64, n: i64, k: i64, tile: [i64; 3]) {
    let (sizes, units) = ([("m", m), ("n", n), ("k", k)], (m + 4) / 5);
    let case = Case::new(&units.to_string(), &sizes)
        .input(lhs, "m,k")
        .input(rhs, "k,n")
        .output(acc, "m,n")
        .tolerance(1e-4);
    case.check(|b, views, units| {
        let [tm, tn, tk] = tile;
        assert_eq!(tm, 5);
        let (zero, k, n) = (b.index(0), b.size(&"k".parse().unwrap()), b.size(&"n".parse().unwrap()));
        let row = times(b, units[0], tm);
        let columns = b.begin_for(zero, n, tn, &[]);
        let none = b.splat(acc, &[tm, tn], 0);
        let scope = b.begin_for(zero, k, tk, &[none]);
        let x = b.load(views[0], &[row, scope.iv], &[tm, tk], &[1, 1], &[true, true], 0);
        let y = b.load(views[1], &[scope.iv, columns.iv], &[tk, tn], &[1, 1], &[true, true], 0);
        let next = b.dot(scope.carried[0], x, y);
        let sum = b.end_for(scope, &[next])[0];
        b.store(views[2], sum, &[row, columns.iv], &[1, 1], &[true, true]);
        b.end_for(columns, &[]);
    });
}

#[test]
fn matrix_products() {
    matmul(F32, F32, F32, 7, 33, 10, [5, 32, 1]);
    matmul(F32, F32, F32, 5, 20, 8, [5, 20, 4]);
    matmul(F64, F64, F64, 7, 9, 5, [5, 16, 2]);
    matmul(BF16, BF16, F32, 7, 33, 10, [5, 32, 2]);
    matmul(U8, I8, I32, 7, 33, 8, [5, 32, 4]);
    matmul(I64, I64, I64, 6, 9, 3, [5, 8, 1]);
}

#[test]
fn rows_past_the_border() {
    // The left side's rows leave the view; k is walked within a loop.
    for (dtype, pad) in [(F32, 0), (F32, i64::from(2.5f32.to_bits())), (U8, 7), (F16, 0x3c00)] {
        let acc = if dtype == U8 { I32 } else { F32 };
        let right = if dtype == U8 { I8 } else { dtype };
        let case = Case::new("3", &[("m", 5)]).input(dtype, "m,12").input(right, "12,20").output(acc, "9,20");
        case.tolerance(1e-4).check(|b, views, units| {
            let (zero, end, one) = (b.index(0), b.index(12), b.index(1));
            let row = times(b, units[0], 3);
            let from = b.sub(row, one);
            let none = b.splat(acc, &[3, 20], 0);
            let scope = b.begin_for(zero, end, 4, &[none]);
            let x = b.load(views[0], &[from, scope.iv], &[3, 4], &[1, 1], &[true, false], pad);
            let y = load(b, views[1], &[scope.iv, zero], &[4, 20]);
            let next = b.dot(scope.carried[0], x, y);
            let sum = b.end_for(scope, &[next])[0];
            store(b, views[2], sum, &[row, zero]);
        });
    }
}

#[test]
fn packed_bytes_past_the_border() {
    for pad in [0, 131] {
        let case = Case::new("4", &[("m", 5)]).input(U8, "m,8").input(I8, "2,20,4").output(I32, "12,20");
        case.int_limit(256).check(|b, views, units| {
            let (zero, end, one) = (b.index(0), b.index(2), b.index(1));
            let row = times(b, units[0], 3);
            let from = b.sub(row, one);
            let none = b.splat(I32, &[3, 20], 0);
            let scope = b.begin_for(zero, end, 1, &[none]);
            let k = times(b, scope.iv, 4);
            let x = b.load(views[0], &[from, k], &[3, 4], &[1, 1], &[true, false], pad);
            let y = load(b, views[1], &[scope.iv, zero, zero], &[1, 20, 4]);
            let y = b.reshape(y, &[20, 4]);
            let y = b.transpose(y, &[1, 0]);
            let next = b.dot(scope.carried[0], x, y);
            let sum = b.end_for(scope, &[next])[0];
            store(b, views[2], sum, &[row, zero]);
        });
    }
}

#[test]
fn packed_bytes_past_the_end_of_k() {
    // The last group of a row ends early, inside of buffers that end with it; other steps between rows, rows apart.
    for k in 1..=9 {
        for (m, step, beyond) in [(1, 1, 0), (3, 1, 0), (3, 2, 0), (3, 1, 5)] {
            for border in [false, true] {
                let (first, last) = ((k - 1) / 4, (k + 3) / 4);
                let rows = step * (2 * m - 1) + 1 - if border { 2 } else { 0 };
                if rows < 1 {
                    continue;
                }
                let case = Case::new("2", &[])
                    .input_with(U8, &format!("{rows},{k}"), &format!("{},1", k + beyond))
                    .input(I8, &format!("{last},20,4"))
                    .output(I32, &format!("{},20", 2 * m));
                case.int_limit(256).check(|b, views, units| {
                    let (zero, end) = (b.index(0), b.index(first));
                    let row = times(b, units[0], m);
                    let up = b.index(if border { 1 } else { 0 });
                    let from = times(b, row, step);
                    let from = b.sub(from, up);
                    let group = |b: &mut TileBuilder, group: Value, ends: bool, sum: Value| {
                        let k = times(b, group, 4);
                        let x = b.load(views[0], &[from, k], &[m, 4], &[step, 1], &[border, ends], 0);
                        let y = load(b, views[1], &[group, zero, zero], &[1, 20, 4]);
                        let y = b.reshape(y, &[20, 4]);
                        let y = b.transpose(y, &[1, 0]);
                        b.dot(sum, x, y)
                    };
                    let none = b.splat(I32, &[m, 20], 0);
                    let scope = b.begin_for(zero, end, 1, &[none]);
                    let next = group(b, scope.iv, false, scope.carried[0]);
                    let whole = b.end_for(scope, &[next])[0];
                    let sum = group(b, end, true, whole);
                    store(b, views[2], sum, &[row, zero]);
                });
            }
        }
    }
}

#[test]
fn rows_a_run_time_stride_apart() {
    for (m, k) in [(7, 4), (8, 9)] {
        let case = Case::new("1", &[("k", k), ("s", k + 3)]).input_with(F32, "8,k", "s,1").input(F32, "k,16");
        case.output_with(F32, "8,16", "2*s,1").tolerance(1e-4).check(|b, views, _| {
            let (zero, end) = (b.index(0), b.size(&"k".parse().unwrap()));
            let none = b.splat(F32, &[m, 16], 0);
            let scope = b.begin_for(zero, end, 1, &[none]);
            let x = load(b, views[0], &[zero, scope.iv], &[m, 1]);
            let y = load(b, views[1], &[scope.iv, zero], &[1, 16]);
            let next = b.dot(scope.carried[0], x, y);
            let sum = b.end_for(scope, &[next])[0];
            store(b, views[2], sum, &[zero, zero]);
        });
    }
}

#[test]
fn dot_of_computed_operands() {
    Case::new("1", &[]).input(F32, "6,20").input(F32, "20,17").output(F32, "6,17").tolerance(1e-4).check(
        |b, views, _| {
            let zero = b.index(0);
            let x = load(b, views[0], &[zero, zero], &[6, 20]);
            let x = b.elementwise(ScalarOp::Neg, &[x]);
            let y = load(b, views[1], &[zero, zero], &[20, 17]);
            let y = b.elementwise(ADD, &[y, y]);
            let none = b.splat(F32, &[6, 17], 0);
            let z = b.dot(none, x, y);
            store(b, views[2], z, &[zero, zero]);
        },
    );
}

#[test]
fn packed_bytes() {
    // The right side is packed [k/4, n, 4].
    Case::new("1", &[]).input(U8, "6,12").input(I8, "3,40,4").output(I32, "6,40").int_limit(256).check(
        |b, views, _| {
            let (zero, end) = (b.index(0), b.index(3));
            let none = b.splat(I32, &[6, 40], 0);
            let scope = b.begin_for(zero, end, 1, &[none]);
            let k = times(b, scope.iv, 4);
            let x = load(b, views[0], &[zero, k], &[6, 4]);
            let y = load(b, views[1], &[scope.iv, zero, zero], &[1, 40, 4]);
            let y = b.reshape(y, &[40, 4]);
            let y = b.transpose(y, &[1, 0]);
            let next = b.dot(scope.carried[0], x, y);
            let sum = b.end_for(scope, &[next])[0];
            store(b, views[2], sum, &[zero, zero]);
        },
    );
}

#[test]
fn scans() {
    for reverse in [false, true] {
        for axis in [0, 1] {
            for f in [ADD, ScalarOp::Mul, ScalarOp::Max] {
                Case::new("1", &[]).input(F32, "5,37").output(F32, "5,37").tolerance(1e-3).check(
                    |b, views, _| {
                        let zero = b.index(0);
                        let x = load(b, views[0], &[zero, zero], &[5, 37]);
                        let y = b.scan(f, x, axis, reverse);
                        store(b, views[1], y, &[zero, zero]);
                    },
                );
            }
        }
    }
}

#[test]
fn branches() {
    Case::new("6", &[]).input(F32, "6,20").output(F32, "6,20").check(|b, views, units| {
        let (zero, three) = (b.index(0), b.index(3));
        let x = load(b, views[0], &[units[0], zero], &[1, 20]);
        let early = b.index_op(IndexOp::Lt, units[0], three);
        let scope = b.begin_if(early);
        let y = b.elementwise(ADD, &[x, x]);
        b.begin_else(&scope, &[y, zero]);
        let z = b.elementwise(ScalarOp::Neg, &[x]);
        let results = b.end_if(scope, &[z, three]);
        let number = b.from_index(F32, results[1]);
        let number = b.reshape(number, &[1, 1]);
        let number = b.broadcast(number, &[1, 20]);
        let sum = b.elementwise(ADD, &[results[0], number]);
        store(b, views[1], sum, &[units[0], zero]);
    });
}

#[test]
fn masks_and_casts() {
    Case::new("1", &[])
        .input(F32, "40")
        .input(I8, "40")
        .output(Bool, "40")
        .output(U8, "40")
        .output(F32, "40")
        .check(|b, views, _| {
            let zero = b.index(0);
            let x = load(b, views[0], &[zero], &[40]);
            let y = load(b, views[1], &[zero], &[40]);
            let wide = b.elementwise(ScalarOp::Cast { to: F32, saturate: true }, &[y]);
            let less = b.elementwise(ScalarOp::Lt, &[x, wide]);
            store(b, views[2], less, &[zero]);
            let byte = b.elementwise(ScalarOp::Cast { to: U8, saturate: true }, &[wide]);
            store(b, views[3], byte, &[zero]);
            let ramp = b.iota(F32, &[40], 0);
            let chosen = b.elementwise(ScalarOp::Select, &[less, x, ramp]);
            store(b, views[4], chosen, &[zero]);
        });
}

#[test]
fn random_kernels() {
    let count = std::env::var("TEGULA_RANDOM_KERNELS").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    for seed in 1..=count {
        if std::panic::catch_unwind(|| {
            let (case, kernel) = random_kernel(seed);
            case.check_kernel(&kernel);
        })
        .is_err()
        {
            panic!("random_kernel({seed})");
        }
    }
}
