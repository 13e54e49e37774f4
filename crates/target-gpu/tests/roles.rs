//! Kernels with roles (copies, rings, products by warpgroups) on the simulator, in race mode and with random times of
//! completion. The tile level's executor is the oracle.

use tegula_backend::Code;
use tegula_base::DType::*;
use tegula_base::Symbols;
use tegula_ir::{ScalarOp, Value};
use tegula_machine::Machine;
use tegula_package::PtxExecutor;
use tegula_sim_ptx::{Options, Simulator};
use tegula_target_gpu::model::GpuTarget;
use tegula_testkit::tiles::products::{Product, padded, product};
use tegula_testkit::tiles::{Case, times};
use tegula_tile::{IndexOp, TileBuilder, TileKernel};
use tegula_tiling::TileMachine;

/// Runs the kernel by roles; panics where it has none, or where results differ.
fn check(case: &Case, kernel: &TileKernel) {
    tegula_ir::verify(&kernel.func).unwrap_or_else(|errors| panic!("{errors}"));
    let target = GpuTarget::new(Machine::class("h200").expect("a class")).expect("a GPU");
    let start = case.buffers();
    let expected = case.expected(kernel, &start).expect("the executor takes the kernel");
    let compiled = target.compile("kernel", kernel, &Symbols::default()).expect("is lowered");
    let Code::Ptx(ptx) = &compiled.code else { panic!("a GPU runs PTX") };
    assert!(ptx.launch.persistent.is_some(), "no roles:\n{}", ptx.text);
    for seed in [None, Some(1), Some(2)] {
        let simulator = Simulator { options: Options { seed, races: true, ..Options::default() } };
        let code = simulator.prepare(ptx).expect("the simulator has all instructions");
        let run = case.run(kernel, &*code, &compiled.sizes, &start);
        let same = run.and_then(|got| case.compare_all(&expected, &got));
        same.unwrap_or_else(|error| panic!("{seed:?}: {error}\n{}", ptx.text));
    }
}

#[test]
fn products_of_all_types_with_tails() {
    let base = Product {
        lhs: BF16,
        rhs: BF16,
        out: BF16,
        size: [200, 136, 152],
        tile: [128, 64, 64],
        by_columns: true,
    };
    let cases = [
        base,
        Product { by_columns: false, ..base },
        Product { lhs: F16, rhs: F16, out: F32, tile: [64, 128, 32], ..base },
        Product { lhs: I8, rhs: I8, out: I32, size: [130, 70, 208], tile: [128, 32, 64], by_columns: true },
        Product { lhs: U8, rhs: I8, out: I32, size: [70, 32, 96], tile: [64, 32, 96], by_columns: true },
        Product {
            lhs: F8E4M3FN,
            rhs: F8E5M2,
            out: F32,
            size: [64, 40, 144],
            tile: [64, 40, 128],
            by_columns: true,
        },
        // Rows of two CTAs: clusters, whose CTAs share the right side.
        Product { size: [256, 256, 320], tile: [256, 128, 64], ..base },
        Product { size: [300, 264, 200], tile: [256, 256, 64], out: F32, ..base },
        Product { size: [520, 72, 136], tile: [256, 64, 64], by_columns: false, ..base },
    ];
    for p in cases {
        let (case, kernel) = product(p);
        check(&case, &kernel);
    }
}

/// Attention of one head by blocks of keys, with running maximum and sum (FlashAttention-2, algorithm 1); rows see keys
/// up to their own.
fn attention(rows: i64, keys: i64, dim: i64, tile: [i64; 2], causal: bool) -> (Case, TileKernel) {
    let [tm, tn] = tile;
    let case = Case::new(&format!("{}", (rows + tm - 1) / tm), &[])
        .input(BF16, &format!("{rows},{dim}"))
        .input(BF16, &format!("{keys},{dim}"))
        .input(BF16, &format!("{keys},{dim}"))
        .output(F32, &format!("{rows},{dim}"))
        .tolerance(2e-2);
    let kernel = case.kernel(|b, views, units| {
        let first = times(b, units[0], tm);
        let (zero, end) = (b.index(0), b.index(keys));
        let q = padded(b, views[0], &[first, zero], &[tm, dim]);
        let low = b.splat(F32, &[tm, 1], i64::from((-1e30_f32).to_bits()));
        let (none, sum) = (b.splat(F32, &[tm, 1], 0), b.splat(F32, &[tm, dim], 0));
        let scope = b.begin_for(zero, end, tn, &[low, none, sum]);
        let [max, total, out] = scope.carried[..] else { unreachable!("three values") };
        let k = padded(b, views[1], &[scope.iv, zero], &[tn, dim]);
        let k = b.transpose(k, &[1, 0]);
        let start = b.splat(F32, &[tm, tn], 0);
        let s = b.dot(start, q, k);
        let position = |b: &mut TileBuilder, first: Value, axis: usize| {
            let at = b.iota(I32, &[tm, tn], axis);
            let first = b.from_index(I32, first);
            let first = b.reshape(first, &[1, 1]);
            let first = b.broadcast(first, &[tm, tn]);
            b.elementwise(ScalarOp::Add, &[at, first])
        };
        let (row, key) = (position(b, first, 0), position(b, scope.iv, 1));
        let last = b.splat(I32, &[tm, tn], if causal { 1 << 30 } else { keys });
        let limit = if causal { b.elementwise(ScalarOp::Min, &[row, last]) } else { last };
        let seen = match causal {
            true => b.elementwise(ScalarOp::Le, &[key, limit]),
            false => b.elementwise(ScalarOp::Lt, &[key, limit]),
        };
        let hidden = b.splat(F32, &[tm, tn], i64::from((-1e30_f32).to_bits()));
        let s = b.elementwise(ScalarOp::Select, &[seen, s, hidden]);
        let top = b.reduce(ScalarOp::Max, s, 1);
        let top = b.elementwise(ScalarOp::Max, &[top, max]);
        let spread = b.broadcast(top, &[tm, tn]);
        let p = b.elementwise(ScalarOp::Sub, &[s, spread]);
        let p = b.elementwise(ScalarOp::Exp, &[p]);
        let fade = b.elementwise(ScalarOp::Sub, &[max, top]);
        let fade = b.elementwise(ScalarOp::Exp, &[fade]);
        let own = b.reduce(ScalarOp::Add, p, 1);
        let total = b.elementwise(ScalarOp::Mul, &[total, fade]);
        let total = b.elementwise(ScalarOp::Add, &[total, own]);
        let fade = b.broadcast(fade, &[tm, dim]);
        let out = b.elementwise(ScalarOp::Mul, &[out, fade]);
        let p = b.elementwise(ScalarOp::Cast { to: BF16, saturate: true }, &[p]);
        let v = padded(b, views[2], &[scope.iv, zero], &[tn, dim]);
        let out = b.dot(out, p, v);
        let results = b.end_for(scope, &[top, total, out]);
        let total = b.broadcast(results[1], &[tm, dim]);
        let out = b.elementwise(ScalarOp::Div, &[results[2], total]);
        b.store(views[3], out, &[first, zero], &[1, 1], &[true, true]);
    });
    (case, kernel)
}

#[test]
fn attention_keeps_scores_in_registers() {
    for (rows, keys, dim, tile, causal) in
        [(200, 200, 64, [128, 64], false), (130, 96, 128, [64, 48], false), (256, 256, 64, [128, 128], true)]
    {
        let (case, kernel) = attention(rows, keys, dim, tile, causal);
        check(&case, &kernel);
    }
}

/// Sums that nothing scales: the second product adds to them where they are, a round late.
#[test]
fn a_product_of_a_product_adds_up() {
    let (rows, keys, dim, [tm, tn]) = (130, 200, 64, [128, 64]);
    let case = Case::new("2", &[])
        .input(BF16, &format!("{rows},{dim}"))
        .input(BF16, &format!("{keys},{dim}"))
        .input(BF16, &format!("{keys},{dim}"))
        .output(F32, &format!("{rows},{dim}"))
        .tolerance(2e-2);
    let kernel = case.kernel(|b, views, units| {
        let first = times(b, units[0], tm);
        let (zero, end) = (b.index(0), b.index(keys));
        let q = padded(b, views[0], &[first, zero], &[tm, dim]);
        let sums = b.splat(F32, &[tm, dim], 0);
        let scope = b.begin_for(zero, end, tn, &[sums]);
        let k = padded(b, views[1], &[scope.iv, zero], &[tn, dim]);
        let k = b.transpose(k, &[1, 0]);
        let none = b.splat(F32, &[tm, tn], 0);
        let s = b.dot(none, q, k);
        let s = b.elementwise(ScalarOp::Max, &[s, none]);
        let s = b.elementwise(ScalarOp::Cast { to: BF16, saturate: true }, &[s]);
        let v = padded(b, views[2], &[scope.iv, zero], &[tn, dim]);
        let sums = b.dot(scope.carried[0], s, v);
        let sums = b.end_for(scope, &[sums])[0];
        b.store(views[3], sums, &[first, zero], &[1, 1], &[true, true]);
    });
    check(&case, &kernel);
}

/// Two products share their left factor; both stay pending over the loop's edge.
#[test]
fn gated_products_share_a_factor() {
    let (m, n, k, [tm, tn, tk]) = (140, 72, 160, [128, 64, 64]);
    let case = Case::new("2,2", &[])
        .input(BF16, &format!("{m},{k}"))
        .input(BF16, &format!("{n},{k}"))
        .input(BF16, &format!("{n},{k}"))
        .output(BF16, &format!("{m},{n}"))
        .tolerance(2e-2);
    let kernel = case.kernel(|b, views, units| {
        let (row, column) = (times(b, units[0], tm), times(b, units[1], tn));
        let (zero, end) = (b.index(0), b.index(k));
        let none = b.splat(F32, &[tm, tn], 0);
        let scope = b.begin_for(zero, end, tk, &[none, none]);
        let x = padded(b, views[0], &[row, scope.iv], &[tm, tk]);
        let mut next = Vec::new();
        for (view, sum) in views[1..3].iter().zip(scope.carried.clone()) {
            let y = padded(b, *view, &[column, scope.iv], &[tn, tk]);
            let y = b.transpose(y, &[1, 0]);
            next.push(b.dot(sum, x, y));
        }
        let sums = b.end_for(scope, &next);
        let gate = b.elementwise(ScalarOp::Tanh, &[sums[0]]);
        let product = b.elementwise(ScalarOp::Mul, &[gate, sums[1]]);
        let product = b.elementwise(ScalarOp::Cast { to: BF16, saturate: true }, &[product]);
        b.store(views[3], product, &[row, column], &[1, 1], &[true, true]);
    });
    check(&case, &kernel);
}

/// What reads a factor's tile besides a product that stays pending, and a tile that nobody reads.
#[test]
fn slots_wait_for_all_who_read_them() {
    let case = Case::new("2,2", &[])
        .input(BF16, "256,768")
        .input(BF16, "128,768")
        .output(BF16, "256,128")
        .output(F32, "256,128")
        .tolerance(2e-2);
    let kernel = case.kernel(|b, views, units| {
        let (row, column) = (times(b, units[0], 128), times(b, units[1], 64));
        let (zero, end) = (b.index(0), b.index(768));
        let none = b.splat(F32, &[128, 64], 0);
        let scope = b.begin_for(zero, end, 64, &[none, none]);
        let x = padded(b, views[0], &[row, scope.iv], &[128, 64]);
        padded(b, views[0], &[row, scope.iv], &[64, 64]);
        let y = padded(b, views[1], &[column, scope.iv], &[64, 64]);
        let y = b.transpose(y, &[1, 0]);
        let limit = b.index(128);
        let is_early = b.index_op(IndexOp::Lt, scope.iv, limit);
        let branch = b.begin_if(is_early);
        let some = b.dot(scope.carried[1], x, y);
        b.begin_else(&branch, &[some]);
        let some = b.end_if(branch, &[scope.carried[1]])[0];
        let all = b.dot(scope.carried[0], x, y);
        let sums = b.end_for(scope, &[all, some]);
        let all = b.elementwise(ScalarOp::Cast { to: BF16, saturate: true }, &[sums[0]]);
        b.store(views[2], all, &[row, column], &[1, 1], &[true, true]);
        b.store(views[3], sums[1], &[row, column], &[1, 1], &[true, true]);
    });
    check(&case, &kernel);
}

#[test]
fn results_of_different_widths_leave_side_by_side() {
    let case = Case::new("4", &[])
        .input(BF16, "512,64")
        .input(BF16, "64,64")
        .input(BF16, "32,64")
        .output(BF16, "512,64")
        .output(BF16, "512,32")
        .tolerance(2e-2);
    let kernel = case.kernel(|b, views, units| {
        let (row, zero) = (times(b, units[0], 128), b.index(0));
        let x = padded(b, views[0], &[row, zero], &[128, 64]);
        for (right, out, n) in [(1, 3, 64), (2, 4, 32)] {
            let y = padded(b, views[right], &[zero, zero], &[n, 64]);
            let y = b.transpose(y, &[1, 0]);
            let none = b.splat(F32, &[128, n], 0);
            let sum = b.dot(none, x, y);
            let sum = b.elementwise(ScalarOp::Cast { to: BF16, saturate: true }, &[sum]);
            b.store(views[out], sum, &[row, zero], &[1, 1], &[true, true]);
        }
    });
    check(&case, &kernel);
}

/// A maximum over all rows of a tile that a cluster would share: its CTAs cannot exchange it, one does it all.
#[test]
fn what_ctas_would_exchange_stays_in_one() {
    let case =
        Case::new("2", &[]).input(BF16, "512,64").input(BF16, "32,64").output(F32, "2,32").tolerance(2e-2);
    let kernel = case.kernel(|b, views, units| {
        let (row, zero) = (times(b, units[0], 256), b.index(0));
        let x = padded(b, views[0], &[row, zero], &[256, 64]);
        let y = padded(b, views[1], &[zero, zero], &[32, 64]);
        let y = b.transpose(y, &[1, 0]);
        let none = b.splat(F32, &[256, 32], 0);
        let sum = b.dot(none, x, y);
        let top = b.reduce(ScalarOp::Max, sum, 0);
        b.store(views[2], top, &[units[0], zero], &[1, 1], &[false, true]);
    });
    check(&case, &kernel);
}

/// Weights of 8 or 4 bits with a scale a group of 32: rows of the product, unpacked from the ring's slots.
fn unpacked(bits: i64, half: tegula_base::DType, size: [i64; 3], tile: [i64; 3]) -> (Case, TileKernel) {
    const GROUP: i64 = 32;
    let ([n, m, k], [tn, tm, tk]) = (size, tile);
    let stored = if bits == 8 { I8 } else { U8 };
    let case = Case::new(&format!("{},{}", (n + tn - 1) / tn, (m + tm - 1) / tm), &[])
        .input(stored, &format!("{n},{}", k * bits / 8))
        .input(half, &format!("{n},{}", k / GROUP))
        .input(half, &format!("{m},{k}"))
        .output(F32, &format!("{n},{m}"))
        .tolerance(2e-2);
    let kernel = case.kernel(|b, views, units| {
        let (row, column) = (times(b, units[0], tn), times(b, units[1], tm));
        let (zero, end) = (b.index(0), b.index(k));
        let none = b.splat(F32, &[tn, tm], 0);
        let scope = b.begin_for(zero, end, tk, &[none]);
        let part = |b: &mut TileBuilder, by: i64| {
            let by = b.index(by);
            b.index_op(IndexOp::FloorDiv, scope.iv, by)
        };
        let at = part(b, 8 / bits);
        let w = padded(b, views[0], &[row, at], &[tn, tk * bits / 8]);
        let w = match bits {
            8 => w,
            _ => {
                let wide = b.reshape(w, &[tn, tk / 2, 1]);
                let wide = b.broadcast(wide, &[tn, tk / 2, 2]);
                let place = b.iota(U8, &[tn, tk / 2, 2], 2);
                let four = b.splat(U8, &[tn, tk / 2, 2], 4);
                let shift = b.elementwise(ScalarOp::Mul, &[place, four]);
                let halves = b.elementwise(ScalarOp::ShiftRight, &[wide, shift]);
                let mask = b.splat(U8, &[tn, tk / 2, 2], 15);
                let halves = b.elementwise(ScalarOp::And, &[halves, mask]);
                b.reshape(halves, &[tn, tk])
            }
        };
        let w = b.elementwise(ScalarOp::Cast { to: half, saturate: true }, &[w]);
        let at = part(b, GROUP);
        let scale = padded(b, views[1], &[row, at], &[tn, tk / GROUP]);
        let scale = b.reshape(scale, &[tn, tk / GROUP, 1]);
        let scale = b.broadcast(scale, &[tn, tk / GROUP, GROUP]);
        let scale = b.reshape(scale, &[tn, tk]);
        let w = b.elementwise(ScalarOp::Mul, &[w, scale]);
        let x = padded(b, views[2], &[column, scope.iv], &[tm, tk]);
        let x = b.transpose(x, &[1, 0]);
        let next = b.dot(scope.carried[0], w, x);
        let sum = b.end_for(scope, &[next])[0];
        b.store(views[3], sum, &[row, column], &[1, 1], &[true, true]);
    });
    (case, kernel)
}

#[test]
fn weights_are_unpacked_from_slots() {
    for (bits, half, size, tile) in [
        (8, BF16, [200, 20, 256], [128, 24, 128]),
        (8, F16, [64, 8, 192], [64, 8, 64]),
        (4, BF16, [200, 20, 256], [128, 24, 128]),
        (4, F16, [72, 40, 160], [64, 40, 64]),
        (4, BF16, [130, 8, 96], [128, 8, 32]),
    ] {
        let (case, kernel) = unpacked(bits, half, size, tile);
        check(&case, &kernel);
    }
}
