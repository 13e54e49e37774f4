//! Times of the table's rows, ours and the baseline's in turn: medians of both over the same minutes, as clocks follow
//! the power that the card may draw.

use anyhow::Result;
use serde_json::{Value, json};
use tegula_runtime::{Session, TensorView};
use tegula_testkit::gpu_kernels::{GpuKernel, Sizes, gpu_kernels};

use super::Bench;
use super::baseline::Baseline;
use super::rows::{Rows, Subject, code};

/// Bytes that buffers rotate over: twice the L2 of an H200 (60 MB).
const ROTATED: usize = 120 << 20;
const MOST_COPIES: usize = 64;
/// Runs of a round, and rounds of each side.
const RUNS: usize = 200;
const ROUNDS: usize = 3;

pub fn run(bench: &Bench, rows: &mut Rows, part: &str) -> Result<()> {
    let mut baseline = Baseline::start();
    for kernel in gpu_kernels().into_iter().filter(|kernel| part_of(&kernel.name) == part) {
        if !kernel.name.starts_with(&bench.prefix) {
            continue;
        }
        let table: Vec<Sizes> = match bench.small {
            true => kernel.small.iter().take(1).cloned().collect(),
            false => kernel.table().map(|(_, sizes)| sizes.clone()).collect(),
        };
        for sizes in &table {
            let package = bench.package(&kernel, sizes);
            let code = code(&package);
            let subject = Subject { part, kernel: &kernel.name, sizes, fixed: true, code };
            if rows.has(&subject) {
                continue;
            }
            if bench.is_over() {
                return Ok(());
            }
            let session = bench.session(&package);
            let found = session.and_then(|session| time(&kernel, &session, sizes, bench, &mut baseline));
            let facts = found.unwrap_or_else(|why| json!({ "verdict": "refused", "why": why }));
            rows.add(&subject, bench.seed, facts)?;
        }
    }
    Ok(())
}

fn part_of(name: &str) -> &'static str {
    match name.split('_').next() {
        Some("gemm" | "grouped") => "gemm",
        Some("attention") => "attention",
        Some("decode" | "gemv") => "decode",
        _ => "memory",
    }
}

fn time(
    kernel: &GpuKernel,
    session: &Session,
    sizes: &Sizes,
    bench: &Bench,
    baseline: &mut Baseline,
) -> Result<Value, String> {
    let case = kernel.case(sizes, bench.seed)?;
    let views: Vec<TensorView> = case.inputs.iter().map(TensorView::from).collect();
    let bytes: usize = case.inputs.iter().map(|tensor| tensor.bytes.len()).sum();
    let copies = (ROTATED / bytes.max(1) + 1).min(MOST_COPIES);
    let runs = if bench.small { 4 } else { RUNS };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours.extend(session.time_on_card(&views, copies, runs).map_err(|found| found.to_string())?);
        theirs.extend(baseline.time(kernel, sizes, copies, runs));
    }
    let ns = median(&mut ours);
    let (flops, moved) = work(session, sizes);
    let mut facts = json!({
        "ns": ns,
        "p10_ns": ours[ours.len() / 10],
        "p90_ns": ours[ours.len() * 9 / 10],
        "tflops": flops / ns as f64 / 1e3,
        "gbps": moved / ns as f64,
        "copies": copies,
        "data": "random, as `gpu_kernels` fills it",
    });
    if !theirs.is_empty() {
        let baseline_ns = median(&mut theirs);
        facts["baseline_ns"] = json!(baseline_ns);
        facts["ratio"] = json!(baseline_ns as f64 / ns as f64);
    }
    Ok(facts)
}

pub fn median(times: &mut [u64]) -> u64 {
    times.sort_unstable();
    times[times.len() / 2]
}

/// FLOP and bytes of one run, by the package's cost records.
fn work(session: &Session, sizes: &Sizes) -> (f64, f64) {
    let kernels = &session.package().program.kernels;
    let value = |dim: &tegula_base::Dim| dim.eval(&|name| sizes.get(name).copied()).unwrap_or(0) as f64;
    let sum = |of: fn(&tegula_package::CostRecord) -> &tegula_base::Dim| {
        kernels.iter().map(|kernel| value(of(&kernel.cost))).sum()
    };
    (sum(|cost| &cost.flops), sum(|cost| &cost.bytes))
}
