//! `compile-time [--all] [--only ID ...]`: model file to first launch ready, warm page cache, one thread, median of 11 processes.
//! Bars: 100 ms for files up to 24 MB, 300 ms for larger ones; each pass <= 10 ms on a graph of about 10,000 ops
//! (MiniLM's block repeated with 8-wide weights).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use tegula_automation::baseline;
use tegula_automation::catalog::Catalog;
use tegula_automation::cores;
use tegula_automation::outcome::Outcome;
use tegula_automation::statistics::median;
use tegula_automation::tegula_cli::Tegula;
use tegula_automation::{python, workspace};

const REPEATS: usize = 11;
const SMALL_FILE_BYTES: u64 = 24_000_000;
const SMALL_BAR_MS: f64 = 100.0;
const LARGE_BAR_MS: f64 = 300.0;
const LARGE_GRAPH_OPS: usize = 10_000;
const PASS_BAR_MS: f64 = 10.0;

pub fn run(args: &[String]) -> Result<Outcome> {
    let catalog = Catalog::load()?;
    let tegula = Tegula::build()?;
    let mut failed = 0;
    let mut worst: f64 = 0.0;
    println!("{:22} {:>12} {:>10} {:>8}", "model", "bytes", "median ms", "bar ms");
    for baseline in baseline::prepare(&catalog, &catalog.selected(args))? {
        if baseline.shape_set != "run_shapes" {
            continue;
        }
        let size = fs::metadata(&baseline.model)?.len();
        let bar = if size <= SMALL_FILE_BYTES { SMALL_BAR_MS } else { LARGE_BAR_MS };
        match ready_ms(&tegula, &baseline.model, &baseline.steps[0].inputs) {
            Ok(ms) => {
                println!("{:22} {size:>12} {ms:10.1} {bar:8.0}", baseline.id);
                worst = worst.max(ms / bar);
                failed += usize::from(ms > bar);
            }
            Err(error) => {
                println!("{:22} {size:>12} FAIL {error:#}", baseline.id);
                failed += 1;
            }
        }
    }
    let slowest = slowest_pass(&catalog, &tegula)?;
    Ok(Outcome::pass_if(failed == 0 && slowest.1 <= PASS_BAR_MS)
        .with("failed", failed)
        .with("worst_share_of_bar", format!("{worst:.2}"))
        .with("slowest_pass", &slowest.0)
        .with("slowest_pass_ms", format!("{:.2}", slowest.1)))
}

fn ready_ms(tegula: &Tegula, model: &Path, inputs: &BTreeMap<String, PathBuf>) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..REPEATS {
        let report = on_one_core(|| tegula.bench(model, inputs, 1, 1))?;
        times.push((report.compile_ns + report.load_ns) as f64 / 1e6);
    }
    Ok(median(times))
}

/// A process that may use one core compiles on one thread.
fn on_one_core<T>(start: impl FnOnce() -> Result<T>) -> Result<T> {
    cores::on(&cores::last(1), start)
}

/// A model file of about 10,000 ops, made anew.
pub fn large_graph(catalog: &Catalog) -> Result<PathBuf> {
    let model = workspace::models().join("repeated-block.onnx");
    python::script(python::with_pins(catalog)?, "repeated_block")
        .arg(LARGE_GRAPH_OPS.to_string())
        .arg(&model)
        .run()?;
    Ok(model)
}

/// The pass with the largest median time on the large graph, and that time in milliseconds.
fn slowest_pass(catalog: &Catalog, tegula: &Tegula) -> Result<(String, f64)> {
    let model = large_graph(catalog)?;
    let package = workspace::target().join("repeated-block.tgl");
    let mut times: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for _ in 0..REPEATS {
        for pass in on_one_core(|| tegula.compile(&model, &package))?.passes {
            times.entry(pass.name).or_default().push(pass.ns as f64 / 1e6);
        }
    }
    ensure!(!times.is_empty(), "`tegula compile --json` lists no passes");
    println!("\n{:32} {:>10}", format!("pass on {LARGE_GRAPH_OPS} ops"), "median ms");
    let mut slowest = (String::new(), 0.0);
    for (name, times) in times {
        let ms = median(times);
        println!("{name:32} {ms:10.3}");
        if ms > slowest.1 {
            slowest = (name, ms);
        }
    }
    Ok(slowest)
}
