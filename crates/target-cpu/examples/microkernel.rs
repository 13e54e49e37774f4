//! Measures the emitter on its main customer: the inner kernel of a matrix product, against the peak of a loop of
//! independent fused multiply-adds. Prints GFLOP/s and compile times; asserts nothing.
//!
//! `cargo run --release -p tegula-target-cpu --example microkernel`

#[path = "../tests/native/call.rs"]
#[allow(dead_code)]
mod call;

use call::Loaded;
use std::time::Instant;
use tegula_base::DType;
use tegula_ir::Value;
use tegula_target_cpu::native::compile;
use tegula_target_cpu::schedule::builder::At;
use tegula_target_cpu::schedule::{Builder, CpuFunc, LoopLevel, VecOp};
use tegula_target_cpu::tier::Tier;

/// Depth of the product: panels of 12 x 256 and 256 x 32 floats fit the first-level cache.
const K: i64 = 256;
const REPEATS: u64 = 20_000;

fn main() {
    for tier in Tier::ALL {
        let (rows, vectors) = if tier == Tier::Avx512 { (12, 2) } else { (6, 2) };
        let lanes = (tier.vector_bytes() / 4) as u32;
        if !call::runs(&compile(&peak_loop(lanes), tier).expect("a kernel")) {
            continue;
        }
        let (peak, _) = measure(&peak_loop(lanes), tier, 24.0 * f64::from(lanes) * K as f64);
        let func = matmul(rows, vectors, lanes);
        let flops = 2.0 * rows as f64 * vectors as f64 * f64::from(lanes) * K as f64;
        let (speed, compile_us) = measure(&func, tier, flops);
        let code = compile(&func, tier).expect("a kernel");
        println!(
            "{}: {rows} x {} kernel {speed:.1} GFLOP/s, peak {peak:.1}, {:.1} %; {} spills, {} bytes, compiled in {compile_us:.0} us",
            tier.name(),
            vectors * lanes as usize,
            100.0 * speed / peak,
            code.n_spills,
            code.code_bytes,
        );
        for n in [100, 1000, 4000] {
            let func = long_chain(n);
            let start = Instant::now();
            let code = compile(&func, tier).expect("a kernel");
            let (us, spills) = (start.elapsed().as_micros(), code.n_spills);
            println!("{}: {} ops, {} spills, compiled in {us} us", tier.name(), func.op_count(), spills);
        }
        if std::env::args().any(|arg| arg == "--asm") {
            println!("{}", code.listing(&func));
        }
    }
}

/// Best of several runs in GFLOP/s, and the median time of compilation.
fn measure(func: &CpuFunc, tier: Tier, flops: f64) -> (f64, f64) {
    let mut times: Vec<f64> = (0..50)
        .map(|_| {
            let start = Instant::now();
            compile(func, tier).expect("a kernel");
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let kernel = Loaded::new(&compile(func, tier).expect("a kernel").bytes);
    let a = vec![1.0f32; 16 * K as usize + 64];
    let b = vec![0.5f32; 64 * K as usize + 64];
    let mut c = vec![0.0f32; 64 * 64 + 64];
    let aligned = |address: u64| address.next_multiple_of(64);
    let args = [aligned(a.as_ptr() as u64), aligned(b.as_ptr() as u64), aligned(c.as_mut_ptr() as u64)];
    let mut best = f64::INFINITY;
    for _ in 0..20 {
        let start = Instant::now();
        kernel.run(&args, &mut [0; 64], 0, REPEATS);
        best = best.min(start.elapsed().as_secs_f64());
    }
    (flops * REPEATS as f64 / best / 1e9, times[times.len() / 2])
}

/// `REPEATS` times: 12 chains of `K` fused multiply-adds on registers.
fn peak_loop(lanes: u32) -> CpuFunc {
    let mut b = Builder::new("peak");
    let (begin, end, lo, hi) = (b.begin(), b.end(), b.index(0), b.index(K / 4));
    let out = b.arg(3);
    let (x, y) = (b.f32(lanes, 0.999), b.f32(lanes, 0.001));
    b.for_(begin, end, 1, LoopLevel::Parallel, &[], |b, _, _| {
        let inits: Vec<Value> = (0..12).map(|i| b.f32(lanes, i as f32)).collect();
        let sums = b.for_(lo, hi, 1, LoopLevel::Register, &inits, |b, _, sums| {
            let mut sums = sums.to_vec();
            for _ in 0..4 {
                sums = sums.iter().map(|s| b.vec(VecOp::Fma, &[x, y, *s])).collect();
            }
            sums
        });
        for (i, sum) in sums.into_iter().enumerate() {
            b.store(DType::F32, sum, out, i as i64 * 64);
        }
        vec![]
    });
    b.finish()
}

/// C (rows x vectors) += A panel (K x rows) * B panel (K x vectors), both packed.
fn matmul(rows: usize, vectors: usize, lanes: u32) -> CpuFunc {
    let mut b = Builder::new("matmul");
    let (begin, end, lo, hi) = (b.begin(), b.end(), b.index(0), b.index(K));
    let (a_panel, b_panel, c) = (b.arg(1), b.arg(2), b.arg(3));
    let bytes = i64::from(lanes) * 4;
    b.for_(begin, end, 1, LoopLevel::Parallel, &[], |b, _, _| {
        let zero = b.f32(lanes, 0.0);
        let mut inits = vec![zero; rows * vectors];
        inits.extend([a_panel, b_panel]);
        let sums = b.for_(lo, hi, 1, LoopLevel::Register, &inits, |b, _, args| {
            let (sums, panels) = args.split_at(rows * vectors);
            let columns: Vec<Value> =
                (0..vectors).map(|v| b.load(DType::F32, lanes, panels[1], v as i64 * bytes)).collect();
            let mut next = Vec::new();
            for row in 0..rows {
                let x = b.load_splat(DType::F32, lanes, At::new(panels[0]).disp(row as i64 * 4));
                for (v, column) in columns.iter().enumerate() {
                    next.push(b.vec(VecOp::Fma, &[x, *column, sums[row * vectors + v]]));
                }
            }
            next.push(b.add_const(panels[0], rows as i64 * 4));
            next.push(b.add_const(panels[1], vectors as i64 * bytes));
            next
        });
        for (i, sum) in sums[..rows * vectors].iter().enumerate() {
            b.store(DType::F32, *sum, c, i as i64 * bytes);
        }
        vec![]
    });
    b.finish()
}

/// A kernel of many ops: `n` links of a chain over `n` values that stay alive.
fn long_chain(n: usize) -> CpuFunc {
    let mut b = Builder::new("long_chain");
    let (lo, hi, x, y) = (b.begin(), b.end(), b.arg(1), b.arg(2));
    b.for_(lo, hi, 8, LoopLevel::L1, &[], |b, i, _| {
        let mut values: Vec<Value> = Vec::new();
        for k in 0..n {
            let v = b.load_at(DType::F32, 8, At::new(x).indexed(i, 4).disp(32 * (k % 100) as i64));
            let c = b.f32(8, k as f32);
            let last = values.get(k.saturating_sub(20)).copied().unwrap_or(v);
            values.push(b.vec(VecOp::Fma, &[v, last, c]));
        }
        for (k, v) in values.iter().enumerate().skip(n - 20) {
            b.store_at(DType::F32, *v, At::new(y).indexed(i, 4).disp(32 * (k % 20) as i64));
        }
        vec![]
    });
    b.finish()
}
