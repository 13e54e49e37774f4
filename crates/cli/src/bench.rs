//! `tegula bench`: compile, load, first run, then timed runs and some profiled by kernel.

use crate::args::BenchArgs;
use crate::failure::Failure;
use crate::inputs::{Inputs, inputs};
use crate::load::{self, Loaded};
use crate::run::arena_bytes;
use crate::{output, perf_map, serve_rounds, trace};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tegula::Session;
use tegula::clock::WallClock;
use tegula_base::HostTensor;
use tegula_base::face::Clock;
use tegula_driver::forecast::{Basis, Forecast, forecast_run};
use tegula_driver::trace::trace_events;
use tegula_runtime::{RunProfile, TensorView};

pub fn bench(args: &BenchArgs) -> Result<(), Failure> {
    output::keep_input(&args.file, args.trace_file.as_ref())?;
    output::progress(&format!("loading {}", args.file.display()));
    let Loaded { session, compile_ns, load_ns, records } =
        load::load(&args.file, &args.compile, &args.inputs, &args.threads)?;
    if args.perf_map {
        perf_map::write(&session)?;
    }
    let given = inputs(session.inputs(), &args.inputs, &load::dims(&args.compile.dims)?)?;
    given.note();
    let Inputs { tensors, made_up, sizes } = given;
    if args.serve_rounds {
        return serve_rounds::serve(&session, &tensors, compile_ns + load_ns);
    }
    let views: Vec<TensorView> = tensors.iter().map(TensorView::from).collect();
    let (clock, mut outputs) = (WallClock::default(), Vec::new());
    let first = session.run_into(&views, &mut outputs);
    first.map_err(|found| Inputs::explain(&sizes, &made_up, found))?;
    let first_run_ns = clock.now_ns();
    let mut times = Vec::new();
    for _ in 0..args.runs {
        let start = clock.now_ns();
        session.run_into(&views, &mut outputs)?;
        times.push((clock.now_ns() - start) as f64);
    }
    times.sort_by(f64::total_cmp);
    let profiles = (0..times.len().min(PROFILED_RUNS))
        .map(|_| session.run_profiled(&views, &mut outputs))
        .collect::<Result<Vec<RunProfile>, _>>()?;
    let profile = &profiles[0];
    if let Some(file) = &args.trace_file {
        trace::write(file, &trace_events(&records, Some((profile, session.package())))?)?;
    }
    let sizes = symbol_values(&session, &tensors);
    // Before what predicting takes.
    let peak = peak_memory();
    let forecast = forecast_run(session.package(), profile, &sizes)?;
    let rows = kernel_rows(&session, &profiles, &forecast);
    let (predicted_ns, cycles) = (forecast.ns(), forecast.cycles());
    let summary = Summary {
        compile_ns,
        load_ns,
        first_run_ns,
        median: percentile(&times, 0.5),
        p10: percentile(&times, 0.1),
        p90: percentile(&times, 0.9),
        runs: times.len(),
        threads: session.threads(),
        predicted_ns,
        cycles,
        basis: forecast.basis,
        arena: arena_bytes(profile),
        peak,
        made_up,
        sizes,
    };
    if args.json { summary.print_json(&rows) } else { summary.print(&rows) }
}

/// Runs that are timed by kernel; a kernel's time is the median of them.
const PROFILED_RUNS: usize = 9;

struct Summary {
    compile_ns: u64,
    load_ns: u64,
    first_run_ns: u64,
    median: f64,
    p10: f64,
    p90: f64,
    runs: usize,
    threads: usize,
    predicted_ns: f64,
    /// Of the launches on streaming chips, predicted and run.
    cycles: Option<u64>,
    basis: Basis,
    arena: u64,
    peak: Option<u64>,
    made_up: Vec<String>,
    /// Of the dims that the code leaves open.
    sizes: BTreeMap<String, i64>,
}

/// All launches of one kernel in one run; times are medians over the profiled runs.
struct Row {
    name: String,
    nodes: Vec<String>,
    class: String,
    launches: usize,
    ns: u64,
    bytes: f64,
    flops: f64,
    predicted_ns: f64,
    bound: String,
}

impl Summary {
    fn print_json(&self, rows: &[Row]) -> Result<(), Failure> {
        let kernels: Vec<Value> = rows
            .iter()
            .map(|row| {
                json!({
                    "name": row.name,
                    "nodes": row.nodes,
                    "class": row.class,
                    "launches": row.launches,
                    "ns": row.ns,
                    "bytes": row.bytes,
                    "flops": row.flops,
                    "predicted_ns": row.predicted_ns,
                    "bound": row.bound,
                })
            })
            .collect();
        output::print_json(&json!({
            "compile_ns": self.compile_ns,
            "load_ns": self.load_ns,
            "first_run_ns": self.first_run_ns,
            "median_ns": self.median,
            "p10_ns": self.p10,
            "p90_ns": self.p90,
            "runs": self.runs,
            "threads": self.threads,
            "predicted_ns": self.predicted_ns,
            "cycles": self.cycles,
            "prediction": output::basis(&self.basis),
            "arena_bytes": self.arena,
            "peak_bytes": self.peak,
            "made_up_inputs": self.made_up,
            "sizes": self.sizes,
            "kernels": kernels,
        }))
    }

    fn print(&self, rows: &[Row]) -> Result<(), Failure> {
        let time = |ns: u64| output::duration(ns as f64);
        let mut text = format!(
            "{}load {}, first run {}\n{} runs on {} {}: median {}, p10 {}, p90 {} (predicted for one thread: {}{})\narena {}, peak {}\n",
            output::compile_time(self.compile_ns),
            time(self.load_ns),
            time(self.first_run_ns),
            self.runs,
            self.threads,
            if self.threads == 1 { "thread" } else { "threads" },
            output::duration(self.median),
            output::duration(self.p10),
            output::duration(self.p90),
            output::cycles(self.cycles),
            output::duration(self.predicted_ns),
            output::size(self.arena),
            self.peak.map_or("unknown".to_string(), output::size),
        );
        if !self.sizes.is_empty() {
            let sizes: Vec<String> = self.sizes.iter().map(|(name, n)| format!("{name}={n}")).collect();
            text += &format!("code for open dims, run at {}\n", sizes.join(", "));
        }
        text += &format!("predicted by the {}\n", self.basis);
        text += &format!(
            "{:>10} {:>10} {:>8} {:>8}  {:<8} {:<18} nodes\n",
            "time", "predicted", "GB/s", "GFLOP/s", "bound", "kernel"
        );
        for row in rows {
            let rate = |amount: f64| if row.ns == 0 { 0.0 } else { amount / row.ns as f64 };
            let nodes = match row.nodes.as_slice() {
                [] => String::new(),
                [one] => one.clone(),
                [first, rest @ ..] => format!("{first} (+{})", rest.len()),
            };
            text += &format!(
                "{:>10} {:>10} {:>8.1} {:>8.1}  {:<8} {:<18} {nodes}\n",
                time(row.ns),
                output::duration(row.predicted_ns),
                rate(row.bytes),
                rate(row.flops),
                row.bound,
                row.name,
            );
        }
        output::print(&text)
    }
}

/// One row a kernel, the longest first.
fn kernel_rows(session: &Session, profiles: &[RunProfile], forecast: &Forecast) -> Vec<Row> {
    let kernels = &session.package().program.kernels;
    let mut rows: Vec<Option<Row>> = kernels.iter().map(|_| None).collect();
    let mut times = vec![vec![0.0; profiles.len()]; kernels.len()];
    for (run, profile) in profiles.iter().enumerate() {
        for launch in &profile.launches {
            times[launch.kernel as usize][run] += launch.ns as f64;
        }
    }
    for launch in profiles.iter().take(1).flat_map(|profile| &profile.launches) {
        let kernel = &kernels[launch.kernel as usize];
        let row = rows[launch.kernel as usize].get_or_insert_with(|| Row {
            name: kernel.name.clone(),
            nodes: kernel.source.to_vec(),
            class: kernel.cost.class.clone(),
            launches: 0,
            ns: 0,
            bytes: 0.0,
            flops: 0.0,
            predicted_ns: 0.0,
            bound: kernel.cost.bound.clone(),
        });
        row.launches += 1;
    }
    for launch in &forecast.launches {
        let Some(row) = &mut rows[launch.kernel as usize] else { continue };
        row.bytes += launch.bytes;
        row.flops += launch.flops;
        row.predicted_ns += launch.ns;
        row.bound.clone_from(&launch.bound);
    }
    for (row, times) in rows.iter_mut().zip(&mut times) {
        times.sort_by(f64::total_cmp);
        if let Some(row) = row {
            row.ns = percentile(times, 0.5) as u64;
        }
    }
    let mut rows: Vec<Row> = rows.into_iter().flatten().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.ns));
    rows
}

/// The input symbols' values.
fn symbol_values(session: &Session, tensors: &[HostTensor]) -> BTreeMap<String, i64> {
    let mut values = BTreeMap::new();
    for (port, tensor) in session.inputs().iter().zip(tensors) {
        for (dim, extent) in port.shape.iter().zip(&tensor.shape) {
            if let Some(symbol) = dim.as_symbol() {
                values.insert(symbol.to_string(), *extent as i64);
            }
        }
    }
    values
}

fn percentile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted.get((share * last as f64).round() as usize).copied().unwrap_or(0.0)
}

/// The most memory this process ever had, where the system tells.
fn peak_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kb| kb * 1024)
}
