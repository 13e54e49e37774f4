//! `bench kernels [--only PREFIX ...] [--rounds N] [--threads 1,2]`: ops one by one, as models of one op each
//! (`tegula_tools.kernel_models`), against what the processor reaches in the same rounds.
//! A kernel's bound is the longer of two times: its multiply-adds at the rate of a loop over registers, and its inputs,
//! weights and outputs at the rate of reading a block of their size again and again. Its share is bound over time, the
//! median over rounds; the processor's rates are measured in each round, on the same processors.
//! The rates stand beside width times ports (of the machine class) times a measured clock, of which they must be 97 %.

mod peaks;

use std::fs;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use tegula_automation::catalog::Catalog;
use tegula_automation::outcome::Outcome;
use tegula_automation::statistics::{Interval, median};
use tegula_automation::tegula_cli::Tegula;
use tegula_automation::{cores, python, workspace};
use tegula_machine::Machine;

use super::Options;
use super::bars::Bars;
use super::chart::{Chart, Mark, Row, Scale};
use super::host::{self, Host};
use super::report;
use crate::race::Racer;
use peaks::{Peaks, Sampler};

const ROUNDS: usize = 30;

/// A row of `cases.json`.
#[derive(Deserialize)]
struct Case {
    name: String,
    group: String,
    arithmetic: String,
    operations: f64,
    bytes: usize,
}

#[derive(Serialize)]
struct Report {
    host: Host,
    rounds: usize,
    peaks: Peaks,
    kernels: Vec<Kernel>,
}

#[derive(Serialize)]
struct Kernel {
    name: String,
    group: String,
    threads: usize,
    us: f64,
    /// `arithmetic` with its type, or `reads`.
    bound: String,
    /// Multiply-adds a second, each counted two.
    operations_per_second: f64,
    bytes_per_second: f64,
    /// Of the bound.
    share: Option<Interval>,
    bar: Option<f64>,
    met: Option<bool>,
    error: Option<String>,
}

pub fn run(options: &Options) -> Result<Outcome> {
    let load = host::load();
    let bars = Bars::load()?;
    let tegula = Tegula::build()?;
    let host = Host::describe(&tegula, load, options.refuse_loaded)?;
    let machine = Machine::class(&host.machine_class).context("the machine class is not checked in")?;
    if !peaks::are_measured() {
        return Ok(Outcome::skip("no code to measure this processor with"));
    }
    let folder = workspace::target().join("kernels");
    python::run_once(&["kernel_models"], &Catalog::load()?, &folder)?;
    let cases: Vec<Case> = serde_json::from_str(&fs::read_to_string(folder.join("cases.json"))?)
        .context("`tegula_tools.kernel_models` changed its format")?;
    let asked = |case: &&Case| {
        options.only.is_empty() || options.only.iter().any(|prefix| case.name.starts_with(prefix.as_str()))
    };
    let cases: Vec<&Case> = cases.iter().filter(asked).collect();
    let rounds = options.rounds.unwrap_or(ROUNDS);
    print!("{}", host.markdown());

    let peaks = Peaks::measure(&machine, &options.threads, rounds)?;
    print!("{}", peaks.markdown());
    let mut kernels = Vec::new();
    for case in cases {
        for threads in &options.threads {
            let kernel = Kernel::measure(&tegula, &bars, case, *threads, rounds);
            println!("{}", kernel.cells().join("  "));
            kernels.push(kernel);
        }
    }
    let report = Report { host, rounds, peaks, kernels };
    let dir = report::folder(options)?;
    report::write(&dir, "kernels", &report.markdown(), &report, &report.chart(&options.threads))?;
    println!("\nreport: {}", dir.join("kernels.md").display());
    Ok(report.outcome())
}

impl Kernel {
    fn measure(tegula: &Tegula, bars: &Bars, case: &Case, threads: usize, rounds: usize) -> Kernel {
        let mut kernel = Kernel {
            name: case.name.clone(),
            group: case.group.clone(),
            threads,
            us: 0.0,
            bound: String::new(),
            operations_per_second: 0.0,
            bytes_per_second: 0.0,
            share: None,
            bar: bars.kernel(&case.name, threads),
            met: None,
            error: None,
        };
        if let Err(error) = kernel.fill(tegula, case, rounds) {
            kernel.error = Some(format!("{error:#}"));
        }
        kernel
    }

    fn fill(&mut self, tegula: &Tegula, case: &Case, rounds: usize) -> Result<()> {
        let model = workspace::target().join("kernels").join(format!("{}.onnx", case.name));
        let on = cores::last(self.threads);
        ensure!(on.is_empty() || on.len() == self.threads, "there are no {} processors", self.threads);
        let command = tegula.serve_rounds(&model, &Default::default(), self.threads);
        let mut racer = cores::on(&on, || Racer::start(&case.name, command, self.threads))?;
        let sampler = Sampler::of(&case.arithmetic, case.bytes, self.threads)?;
        racer.warm_up()?;
        let (mut times, mut shares, mut by_operations) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..rounds {
            let seconds = racer.round()? / 1e9;
            let rates = sampler.sample()?;
            let of_operations = case.operations / rates.operations_per_second;
            let of_bytes = case.bytes as f64 / rates.bytes_per_second;
            shares.push(of_operations.max(of_bytes) / seconds);
            by_operations.push(of_operations / of_bytes);
            times.push(seconds);
        }
        let seconds = median(times);
        let is_by_operations = median(by_operations) > 1.0;
        self.bound = if is_by_operations { case.arithmetic.clone() } else { "reads".to_string() };
        self.us = seconds * 1e6;
        self.operations_per_second = case.operations / seconds;
        self.bytes_per_second = case.bytes as f64 / seconds;
        let share = Interval::of(&shares);
        self.share = Some(share);
        self.met = self.bar.map(|bar| share.median >= bar);
        Ok(())
    }

    fn cells(&self) -> Vec<String> {
        let first = vec![self.name.clone(), self.group.clone(), self.threads.to_string()];
        let figures = match (&self.share, &self.error) {
            (Some(share), _) => vec![
                format!("{:.1}", self.us),
                format!("{:.1}", self.operations_per_second / 1e9),
                format!("{:.1}", self.bytes_per_second / 1e9),
                self.bound.clone(),
                report::interval(share),
                report::bar(self.bar),
                report::verdict(self.met).to_string(),
            ],
            (None, error) => vec![format!("fails: {}", error.as_deref().unwrap_or(""))],
        };
        [first, figures].concat()
    }
}

impl Report {
    fn outcome(&self) -> Outcome {
        let judged = || self.kernels.iter().filter_map(|kernel| kernel.met);
        let missed = judged().filter(|met| !met).count();
        let failed = self.kernels.iter().filter(|kernel| kernel.error.is_some()).count();
        let mut outcome = Outcome::pass_if(missed == 0 && failed == 0 && self.peaks.hold())
            .with("part", "kernels")
            .with("loaded", if self.host.loaded { "yes" } else { "no" })
            .with("rows", self.kernels.len())
            .with("judged", judged().count())
            .with("missed", missed)
            .with("failed", failed)
            .with("peaks", format!("{:.3}", self.peaks.worst()));
        for kernel in self.kernels.iter().filter(|kernel| kernel.bar.is_some()) {
            if let Some(share) = kernel.share {
                outcome = outcome
                    .with(&format!("{}_{}", kernel.name, kernel.threads), format!("{:.3}", share.median));
            }
        }
        outcome
    }

    fn markdown(&self) -> String {
        let rows: Vec<Vec<String>> = self.kernels.iter().map(Kernel::cells).collect();
        let header =
            ["kernel", "group", "threads", "us", "Gop/s", "GB/s", "bound", "share", "bar", "verdict"];
        format!(
            "# Kernels against the processor's peaks\n\n{}{} rounds; in each the kernel's runs, then the rates of the \
             processor on the same cores. A share is the bound over the time: the longer of multiply-adds (a multiply-add \
             counts two) at the rate of a loop over registers, and of inputs, weights and outputs at the rate of reading a \
             block of their size; median and 90 % interval. A bar is met when the median reaches it.\n\n{}\n\
             ![shares](kernels.svg)\n\n## Kernels\n\n{}",
            self.host.markdown(),
            self.rounds,
            self.peaks.markdown(),
            report::table(&header, 2, &rows)
        )
    }

    fn chart(&self, threads: &[usize]) -> String {
        let mut rows: Vec<Row> = Vec::new();
        for kernel in &self.kernels {
            let at = threads.iter().position(|threads| *threads == kernel.threads);
            if rows.last().is_none_or(|row| row.label != kernel.name) {
                rows.push(Row { label: kernel.name.clone(), marks: threads.iter().map(|_| None).collect() });
            }
            if let (Some(row), Some(at), Some(value)) = (rows.last_mut(), at, kernel.share) {
                row.marks[at] = Some(Mark { value, bar: kernel.bar });
            }
        }
        Chart {
            title: "Share of the bound that holds a kernel: higher is better".into(),
            series: threads.iter().map(|threads| report::threads(*threads)).collect(),
            scale: Scale::Linear { ticks: &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2] },
            line: 1.0,
            rows,
        }
        .svg()
    }
}
