//! `bench ops [--only PREFIX ...] [--rounds N] [--threads 1,2]`: ops one by one, as models of one op each
//! (`tegula_tools.op_models`), against ONNX Runtime in rounds that take turns. Whole models say little of an op that none of
//! them has, or has in another form: this finds the cliffs. The bar is for each op; the report lists the worst first.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use tegula_automation::catalog::Catalog;
use tegula_automation::outcome::Outcome;
use tegula_automation::statistics::{Interval, geometric_mean, median};
use tegula_automation::tegula_cli::Tegula;
use tegula_automation::{cores, python, workspace};

use super::Options;
use super::bars::Bars;
use super::chart::{Chart, Mark, Row, Scale};
use super::host::{self, Host};
use super::report;
use crate::peers::{Peer, Peers};
use crate::race::{Racer, race, ratios};

/// Enough to tell a cliff: a bar is a factor, not percents.
const ROUNDS: usize = 9;

/// A row of `cases.json`.
#[derive(Deserialize)]
struct Case {
    name: String,
    inputs: BTreeMap<String, PathBuf>,
}

#[derive(Serialize)]
struct Report {
    host: Host,
    rounds: usize,
    bar: f64,
    ops: Vec<Op>,
}

/// An op at a number of threads.
#[derive(Serialize)]
struct Op {
    name: String,
    threads: usize,
    us: f64,
    peer_us: f64,
    /// Tegula's time over ONNX Runtime's.
    ratio: Option<Interval>,
    error: Option<String>,
}

pub fn run(options: &Options) -> Result<Outcome> {
    let load = host::load();
    let bar = Bars::load()?.op.worst;
    let catalog = Catalog::load()?;
    let tegula = Tegula::build()?;
    let host = Host::describe(&tegula, load, options.refuse_loaded)?;
    let peers = Peers::installed(&catalog, &[Peer::OnnxRuntime])?;
    let folder = workspace::target().join("ops");
    python::run_once(&["op_models"], &catalog, &folder)?;
    let cases: Vec<Case> = serde_json::from_str(&fs::read_to_string(folder.join("cases.json"))?)
        .context("`tegula_tools.op_models` changed its format")?;
    let asked = |case: &&Case| {
        options.only.is_empty() || options.only.iter().any(|prefix| case.name.starts_with(prefix.as_str()))
    };
    let asked: Vec<&Case> = cases.iter().filter(asked).collect();
    ensure!(!asked.is_empty(), "no op's name begins so: {}", options.only.join(", "));
    let rounds = options.rounds.unwrap_or(ROUNDS);
    print!("{}", host.markdown());

    let mut ops = Vec::new();
    for case in asked {
        for threads in &options.threads {
            let mut op = Op {
                name: case.name.clone(),
                threads: *threads,
                us: 0.0,
                peer_us: 0.0,
                ratio: None,
                error: None,
            };
            if let Err(error) = op.measure(&tegula, &peers, case, rounds) {
                op.error = Some(format!("{error:#}"));
            }
            println!("{}", op.cells(bar).join("  "));
            ops.push(op);
        }
    }
    let report = Report { host, rounds, bar, ops };
    let dir = report::folder(options)?;
    report::write(&dir, "ops", &report.markdown(), &report, &report.chart(&options.threads))?;
    println!("\nreport: {}", dir.join("ops.md").display());
    Ok(report.outcome(&options.threads))
}

impl Op {
    fn measure(&mut self, tegula: &Tegula, peers: &Peers, case: &Case, rounds: usize) -> Result<()> {
        let model = workspace::target().join("ops").join(format!("{}.onnx", case.name));
        let on = cores::last(self.threads);
        ensure!(on.is_empty() || on.len() == self.threads, "there are no {} processors", self.threads);
        let ours = tegula.serve_rounds(&model, &case.inputs, self.threads);
        let theirs = peers.serve_rounds(Peer::OnnxRuntime, Some(&model), &case.inputs, self.threads);
        let start = |name: &str, command| cores::on(&on, || Racer::start(name, command, self.threads));
        let mut racers = [start("tegula bench", ours)?, start(Peer::OnnxRuntime.name(), theirs)?];
        let [ours, theirs]: [Vec<f64>; 2] =
            race(&mut racers, rounds)?.try_into().expect("invariant: one list a racer");
        self.ratio = Some(Interval::of(&ratios(&ours, &theirs)));
        (self.us, self.peer_us) = (median(ours) / 1e3, median(theirs) / 1e3);
        Ok(())
    }

    fn met(&self, bar: f64) -> Option<bool> {
        self.ratio.map(|ratio| ratio.median <= bar)
    }

    fn cells(&self, bar: f64) -> Vec<String> {
        let first = vec![self.name.clone(), self.threads.to_string()];
        let figures = match (&self.ratio, &self.error) {
            (Some(ratio), _) => vec![
                format!("{:.1}", self.us),
                format!("{:.1}", self.peer_us),
                report::interval(ratio),
                report::verdict(self.met(bar)).to_string(),
            ],
            (None, error) => vec![format!("fails: {}", error.as_deref().unwrap_or(""))],
        };
        [first, figures].concat()
    }
}

impl Report {
    /// Failures first, then by ratio.
    fn worst_first(&self) -> Vec<&Op> {
        let mut ops: Vec<&Op> = self.ops.iter().collect();
        let ratio = |op: &Op| op.ratio.map_or(f64::INFINITY, |ratio| ratio.median);
        ops.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
        ops
    }

    fn outcome(&self, threads: &[usize]) -> Outcome {
        let missed = self.ops.iter().filter(|op| op.met(self.bar) == Some(false)).count();
        let failed = self.ops.iter().filter(|op| op.error.is_some()).count();
        let mut outcome = Outcome::pass_if(missed == 0 && failed == 0)
            .with("part", "ops")
            .with("loaded", if self.host.loaded { "yes" } else { "no" })
            .with("rows", self.ops.len())
            .with("missed", missed)
            .with("failed", failed);
        for threads in threads {
            let of = self.ops.iter().filter(|op| op.threads == *threads);
            let of: Vec<f64> = of.filter_map(|op| Some(op.ratio?.median)).collect();
            let worst = of.iter().copied().fold(0.0, f64::max);
            outcome = outcome
                .with(&format!("mean_{threads}"), format!("{:.3}", geometric_mean(&of)))
                .with(&format!("worst_{threads}"), format!("{worst:.2}"));
        }
        outcome
    }

    fn markdown(&self) -> String {
        let rows: Vec<Vec<String>> = self.worst_first().into_iter().map(|op| op.cells(self.bar)).collect();
        let header = ["op", "threads", "us", "ONNX Runtime us", "ratio", "verdict"];
        format!(
            "# Ops one by one against ONNX Runtime\n\n{}{} rounds that take turns; a ratio is Tegula's time over ONNX \
             Runtime's, the median over the rounds with its 90 % interval, the worst first. Inputs and outputs lie as ONNX \
             says, channels first: what a layout costs on the way in and out is in the time.\n\
             A bar is met when the median is at most {}.\n\n![ratios](ops.svg)\n\n{}",
            self.host.markdown(),
            self.rounds,
            self.bar,
            report::table(&header, 1, &rows)
        )
    }

    fn chart(&self, threads: &[usize]) -> String {
        let mut rows: Vec<Row> = Vec::new();
        for op in self.worst_first() {
            let Some(at) = threads.iter().position(|threads| *threads == op.threads) else { continue };
            let row = rows.iter().position(|row| row.label == op.name).unwrap_or_else(|| {
                rows.push(Row { label: op.name.clone(), marks: threads.iter().map(|_| None).collect() });
                rows.len() - 1
            });
            rows[row].marks[at] = op.ratio.map(|value| Mark { value, bar: Some(self.bar) });
        }
        Chart {
            title: "Time over ONNX Runtime's: lower is better".into(),
            series: threads.iter().map(|threads| report::threads(*threads)).collect(),
            scale: Scale::Logarithmic { ticks: &[0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0] },
            line: 1.0,
            rows,
        }
        .svg()
    }
}
