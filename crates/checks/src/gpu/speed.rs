//! Times of the table's rows, ours and the baseline's in turn: medians of both over the same minutes, as clocks follow
//! the power that the card may draw.

use anyhow::Result;
use serde_json::{Value, json};
use tegula_runtime::{Session, TensorView};
use tegula_testkit::gpu_kernels::{GpuKernel, Sizes, gpu_kernels};

use super::baseline::{Baseline, Times};
use super::rows::{Rows, Subject, code};
use super::worker::Worker;

/// Bytes that buffers rotate over: twice the L2 of an H200 (60 MB).
const ROTATED: usize = 120 << 20;
const MOST_COPIES: usize = 64;
/// Bytes of a copy that shows what memory gives.
const COPIED: usize = 2 << 30;
/// A round's time, its runs at least and at most, and the rounds of each side.
const ROUND_NS: u64 = 60_000_000;
const RUNS: (usize, u64) = (20, 200);
const ROUNDS: usize = 3;

pub fn run(worker: &Worker, rows: &mut Rows, part: &str) -> Result<()> {
    let plan = worker.plan;
    let asked =
        gpu_kernels().into_iter().filter(|kernel| part_of(&kernel.name) == part && plan.asks(&kernel.name));
    let mut bench: Option<(Baseline, f64)> = None;
    for kernel in asked {
        let table: Vec<Sizes> = match plan.small {
            true => kernel.small.iter().take(1).cloned().collect(),
            false => kernel.table().map(|(_, sizes)| sizes.clone()).collect(),
        };
        for sizes in &table {
            let package = plan.package(&kernel, sizes);
            let code = code(&package);
            let subject = Subject { part, kernel: &kernel.name, sizes, fixed: true, code };
            if rows.has(&subject) {
                continue;
            }
            if plan.is_over() {
                return Ok(());
            }
            let (baseline, copy) = match &mut bench {
                Some(bench) => bench,
                None => {
                    let bytes = if plan.fake { ROTATED } else { COPIED };
                    bench.insert((Baseline::start(), worker.device.copy_rate(bytes)?))
                }
            };
            worker.row(rows, &subject, |watch| match worker.session(&package, false) {
                Err(why) => json!({ "verdict": "refused", "why": why }),
                Ok(session) => {
                    let theirs = |copies, runs| watch.beside(|| baseline.time(&kernel, sizes, copies, runs));
                    time(&kernel, &session, sizes, worker, *copy, theirs)
                        .unwrap_or_else(|why| json!({ "verdict": "wrong", "why": why }))
                }
            })?;
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

/// `baseline` takes how many copies and runs. Errors: what went wrong on the card.
fn time(
    kernel: &GpuKernel,
    session: &Session,
    sizes: &Sizes,
    worker: &Worker,
    copy: f64,
    mut baseline: impl FnMut(usize, usize) -> Times,
) -> Result<Value, String> {
    let case = kernel.case(sizes, worker.seed)?;
    let views: Vec<TensorView> = case.inputs.iter().map(TensorView::from).collect();
    let bytes: usize = case.inputs.iter().map(|tensor| tensor.bytes.len()).sum();
    let copies = (ROTATED / bytes.max(1) + 1).min(MOST_COPIES);
    let least = if worker.plan.fake { 2 } else { RUNS.0 };
    let timer = session.timer_on_card(&views, copies).map_err(|found| found.to_string())?;
    let timed = |runs| timer.times(runs).map_err(|found| found.to_string());
    let first = median(&mut timed(least)?).max(1);
    let runs =
        if worker.plan.fake { least } else { (ROUND_NS / first).clamp(RUNS.0 as u64, RUNS.1) as usize };
    let (mut ours, mut theirs) = (Vec::new(), Times::default());
    for _ in 0..ROUNDS {
        ours.extend(timed(runs)?);
        theirs.add(baseline(copies, runs));
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
        "copy_gbps": copy / 1e9,
        "of_copy": moved / ns as f64 / (copy / 1e9),
        "data": "random, as `gpu_kernels` fills it",
    });
    if let Some(why) = theirs.error {
        facts["no_baseline"] = json!(why);
    }
    if !theirs.ns.is_empty() {
        let baseline_ns = median(&mut theirs.ns);
        facts["baseline_ns"] = json!(baseline_ns);
        facts["baseline"] = json!(theirs.which);
        facts["ratio"] = json!(baseline_ns as f64 / ns as f64);
    }
    if let [spilled, ..] = session.warnings() {
        facts["warning"] = json!(spilled.message);
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
