//! `speed [--only ID] [--rounds N]`: run time against ONNX Runtime, both as long-lived processes on the same
//! threads and inputs, outputs preallocated, in interleaved rounds.
//! Ratio of a row: median over rounds of (our time / theirs).  Bars: geometric mean <= 1.4 at 1 and at 2 threads,
//! no row above 3.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::baseline::{self, Baseline};
use crate::catalog::Catalog;
use crate::outcome::Outcome;
use crate::shell::Shell;
use crate::tegula_cli::Tegula;
use crate::{python, workspace};

const THREADS: [usize; 2] = [1, 2];
const ROUNDS: usize = 15;
/// A round lasts about this long on each side, so that the clock's and the scheduler's noise are small in it.
const ROUND_NS: u64 = 30_000_000;
/// Worker threads of the side that just ran spin for a while; the other side waits for them to park. After 5 ms
/// ONNX Runtime's still took a core from the run that was timed.
const SETTLE: Duration = Duration::from_millis(60);
const MEAN_BAR: f64 = 1.4;
const WORST_BAR: f64 = 3.0;

pub fn run(args: &[String]) -> Result<Outcome> {
    let catalog = Catalog::load()?;
    let after = |flag: &str| args.iter().position(|arg| arg == flag).and_then(|at| args.get(at + 1));
    let ids = after("--only").map_or_else(|| catalog.checked.clone(), |id| vec![id.clone()]);
    let rounds =
        after("--rounds").map_or(Ok(ROUNDS), |text| text.parse()).context("--rounds takes a number")?;
    let tegula = Tegula::build()?;
    let python = python::with_pins(&catalog)?;
    let baselines = baseline::prepare(&catalog, &ids)?;
    println!(
        "{:22} {:13} {:>7} {:>12} {:>12} {:>7}",
        "model", "shapes", "threads", "tegula us", "ort us", "ratio"
    );
    let mut ratios: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    let mut failed = 0;
    for baseline in &baselines {
        for threads in THREADS {
            let row = format!("{:22} {:13} {threads:>7}", baseline.id, baseline.shape_set);
            match measure(&tegula, &python, baseline, threads, rounds) {
                Ok(row_of) => {
                    println!("{row} {:12.1} {:12.1} {:7.3}", row_of.ours_us, row_of.theirs_us, row_of.ratio);
                    ratios.entry(threads).or_default().push(row_of.ratio);
                }
                Err(error) => {
                    println!("{row} FAIL {error:#}");
                    failed += 1;
                }
            }
        }
    }
    let worst = ratios.values().flatten().copied().fold(0.0, f64::max);
    let means: BTreeMap<usize, f64> =
        ratios.iter().map(|(threads, row)| (*threads, geometric_mean(row))).collect();
    let holds = failed == 0 && worst <= WORST_BAR && means.values().all(|mean| *mean <= MEAN_BAR);
    let mut outcome = Outcome::pass_if(holds).with("rows", ratios.values().map(Vec::len).sum::<usize>());
    for (threads, mean) in means {
        outcome = outcome.with(&format!("mean_{threads}_threads"), format!("{mean:.3}"));
    }
    Ok(outcome.with("worst", format!("{worst:.3}")).with("failed", failed))
}

/// Median run times and the median of the rounds' ratios.
struct Row {
    ours_us: f64,
    theirs_us: f64,
    ratio: f64,
}

fn measure(
    tegula: &Tegula,
    python: &Path,
    baseline: &Baseline,
    threads: usize,
    rounds: usize,
) -> Result<Row> {
    let inputs = &baseline.steps.first().context("the baseline has no step")?.inputs;
    let ort = Shell::new(python)
        .arg(workspace::tool("ort_rounds.py"))
        .arg(&baseline.model)
        .arg(threads.to_string());
    let ort = inputs.iter().fold(ort, |ort, (name, file)| ort.arg(format!("{name}={}", file.display())));
    let mut theirs = Racer::start("ort_rounds.py", ort)?;
    let mut ours = Racer::start("tegula bench", tegula.serve_rounds(&baseline.model, inputs, threads))?;

    let (our_runs, their_runs) = (ours.runs_per_round()?, theirs.runs_per_round()?);
    let (mut our_times, mut their_times, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        // Each side goes first in every other round.
        let (our_ns, their_ns) = if round % 2 == 0 {
            let our_ns = ours.round(our_runs)?;
            (our_ns, theirs.round(their_runs)?)
        } else {
            let their_ns = theirs.round(their_runs)?;
            (ours.round(our_runs)?, their_ns)
        };
        our_times.push(our_ns);
        their_times.push(their_ns);
        ratios.push(our_ns / their_ns);
    }
    Ok(Row { ours_us: median(our_times) / 1e3, theirs_us: median(their_times) / 1e3, ratio: median(ratios) })
}

/// A process that answers `run N` with N run times in nanoseconds.
struct Racer {
    name: &'static str,
    child: Child,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Racer {
    fn start(name: &'static str, command: Shell) -> Result<Racer> {
        let mut child = command.converse()?;
        let stdin = child.stdin.take().context("the process has no stdin")?;
        let stdout = child.stdout.take().context("the process has no stdout")?;
        let mut racer = Racer { name, child, stdin, lines: BufReader::new(stdout).lines() };
        let first = racer.line()?;
        ensure!(first == "ready", "`{name}` said `{first}` where `ready` is expected");
        Ok(racer)
    }

    fn line(&mut self) -> Result<String> {
        match self.lines.next() {
            Some(line) => Ok(line?.trim().to_string()),
            None => bail!("`{}` ended early with {}", self.name, self.child.wait()?),
        }
    }

    /// Median run time of one round in nanoseconds.
    fn round(&mut self, runs: u64) -> Result<f64> {
        thread::sleep(SETTLE);
        writeln!(self.stdin, "run {runs}")?;
        self.stdin.flush()?;
        let line = self.line()?;
        let times: Result<Vec<f64>, _> = line.split_whitespace().map(str::parse).collect();
        let times = times.with_context(|| format!("`{}` said `{line}`", self.name))?;
        ensure!(times.len() as u64 == runs, "`{}` gave {} times for {runs} runs", self.name, times.len());
        Ok(median(times))
    }

    /// How many runs fill a round.
    fn runs_per_round(&mut self) -> Result<u64> {
        let once = self.round(3)?;
        Ok((ROUND_NS / (once as u64).max(1)).clamp(1, 10_000))
    }
}

impl Drop for Racer {
    fn drop(&mut self) {
        // Harmless where the process has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => values[n / 2],
        n => (values[n / 2 - 1] + values[n / 2]) / 2.0,
    }
}

fn geometric_mean(values: &[f64]) -> f64 {
    (values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!((geometric_mean(&[0.5, 2.0]) - 1.0).abs() < 1e-12);
    }
}
