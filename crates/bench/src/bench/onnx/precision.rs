//! `--precision bf16` against OpenVINO in `bf16`: time of a run, and how far results are from the reference evaluator's,
//! which adds up in `f64`.
//! A distance is the root of the summed squares of differences over that of the evaluator's results, over all inputs; of
//! several outputs the worst. Inputs are drawn as those of other checks, sixteen times.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use tegula_automation::baseline::{self, Baseline, Step};
use tegula_automation::catalog::Catalog;
use tegula_automation::cores;
use tegula_automation::statistics::{Interval, median};
use tegula_automation::tegula_cli::{RunError, RunOptions};
use tegula_automation::workspace;
use tegula_base::HostTensor;
use tegula_checks::npy::read_npy;

use super::Bench;
use crate::bench::report;
use crate::peers::Peer;
use crate::race::{Racer, race, ratios};

const PRECISION: &str = "bf16";
const PEER: Peer = Peer::OpenVinoBf16;
const INPUTS: usize = 16;

#[derive(Serialize)]
pub struct Precision {
    pub rows: Vec<PrecisionRow>,
    pub judged: usize,
    pub missed: usize,
    pub failed: usize,
}

#[derive(Serialize)]
pub struct PrecisionRow {
    model: String,
    times: Vec<RunTime>,
    errors: Option<Errors>,
    /// Why something is missing.
    error: Option<String>,
}

#[derive(Serialize)]
struct RunTime {
    threads: usize,
    tegula_us: f64,
    peer_us: f64,
    ratio: Interval,
    /// At 1 thread alone.
    met: Option<bool>,
}

/// Distances to the evaluator.
#[derive(Serialize)]
struct Errors {
    tegula: f64,
    peer: f64,
    met: bool,
}

/// The peers that this part needs; none where no model has a bar.
pub fn peers(bench: &super::Bars) -> Vec<Peer> {
    if bench.bf16.models.is_empty() { vec![] } else { vec![PEER] }
}

pub fn measure(bench: &Bench, catalog: &Catalog, threads: &[usize], rounds: usize) -> Result<Precision> {
    let is_judged = |baseline: &&Baseline| {
        baseline.shape_set == "run_shapes" && bench.bars.bf16.models.contains(&baseline.id)
    };
    let mut rows = Vec::new();
    for baseline in bench.baselines.iter().filter(is_judged) {
        let mut row =
            PrecisionRow { model: baseline.id.clone(), times: Vec::new(), errors: None, error: None };
        if let Err(error) = fill(bench, catalog, baseline, threads, rounds, &mut row) {
            row.error = Some(format!("{error:#}"));
        }
        print!("{}", row.cells().iter().map(|cells| cells.join("  ") + "\n").collect::<String>());
        rows.push(row);
    }
    let failed = rows.iter().filter(|row| row.error.is_some()).count();
    let verdicts = rows.iter().flat_map(PrecisionRow::verdicts);
    let (judged, missed) = (verdicts.clone().count(), verdicts.filter(|met| !met).count());
    Ok(Precision { rows, judged, missed, failed })
}

fn fill(
    bench: &Bench,
    catalog: &Catalog,
    baseline: &Baseline,
    threads: &[usize],
    rounds: usize,
    row: &mut PrecisionRow,
) -> Result<()> {
    for threads in threads.iter().copied() {
        row.times.push(time(bench, baseline, threads, rounds)?);
    }
    row.errors = Some(errors(bench, catalog, baseline)?);
    Ok(())
}

fn time(bench: &Bench, baseline: &Baseline, threads: usize, rounds: usize) -> Result<RunTime> {
    let inputs = &baseline.steps.first().context("the baseline has no step")?.inputs;
    let cores = cores::last(threads);
    let start = |name: &str, command| cores::on(&cores, || Racer::start(name, command, threads));
    let ours = bench.tegula.with_precision(PRECISION).serve_rounds(&baseline.model, inputs, threads);
    let theirs = bench.peers.serve_rounds(PEER, Some(&baseline.model), inputs, threads);
    let mut racers = [start("tegula bench", ours)?, start(PEER.name(), theirs)?];
    let times = race(&mut racers, rounds)?;
    let ratio = Interval::of(&ratios(&times[0], &times[1]));
    let met = (threads == 1).then_some(ratio.high <= bench.bars.bf16.time + bench.bars.slack);
    let [tegula_us, peer_us] = [0, 1].map(|racer: usize| median(times[racer].clone()) / 1e3);
    Ok(RunTime { threads, tegula_us, peer_us, ratio, met })
}

/// What the peer's script reads.
#[derive(Serialize)]
struct Plan<'a> {
    inputs: &'a BTreeMap<String, PathBuf>,
    outputs: PathBuf,
}

fn errors(bench: &Bench, catalog: &Catalog, baseline: &Baseline) -> Result<Errors> {
    let steps = baseline::draws(catalog, baseline, INPUTS)?;
    let dir = workspace::target().join("run").join(&baseline.id).join(PRECISION);
    let folder = |at: usize| dir.join("peer").join(at.to_string());
    let plan: Vec<Plan> = steps
        .iter()
        .enumerate()
        .map(|(at, step)| Plan { inputs: &step.inputs, outputs: folder(at) })
        .collect();
    let mut child = bench.peers.outputs(PEER, &baseline.model).converse()?;
    child.stdin.take().context("the script has no stdin")?.write_all(&serde_json::to_vec(&plan)?)?;
    let status = child.wait()?;
    ensure!(status.success(), "`tegula_tools.peer_outputs` ended with {status}");

    fs::create_dir_all(&dir)?;
    let package = dir.join("model.tgl");
    bench.tegula.with_precision(PRECISION).compile(&baseline.model, &package)?;
    let mut distances: Vec<[Distance; 2]> = Vec::new();
    for (at, step) in steps.iter().enumerate() {
        let truth = outputs(bench, &baseline.model, step, &dir.join("evaluator"), true)?;
        let ours = outputs(bench, &package, step, &dir.join("tegula"), false)?;
        distances.resize_with(truth.len(), Default::default);
        for (i, (truth, ours)) in truth.iter().zip(&ours).enumerate() {
            let theirs = read_npy(&folder(at).join(format!("{i}.npy")))?;
            distances[i][0].add(ours, truth)?;
            distances[i][1].add(&theirs, truth)?;
        }
    }
    let worst = |side: usize| distances.iter().map(|output| output[side].relative()).fold(0.0, f64::max);
    let (tegula, peer) = (worst(0), worst(1));
    Ok(Errors { tegula, peer, met: tegula <= bench.bars.bf16.error * peer })
}

/// A model's outputs in its order.
fn outputs(bench: &Bench, model: &Path, step: &Step, dir: &Path, evaluator: bool) -> Result<Vec<HostTensor>> {
    let options = RunOptions { threads: usize::from(!evaluator), evaluator, ..RunOptions::default() };
    let report = bench.tegula.run_files(model, &step.inputs, dir, options).map_err(|error| match error {
        RunError::Refused(reason) | RunError::Crashed(reason) => anyhow::anyhow!(reason),
    })?;
    report.outputs.iter().map(|output| read_npy(&output.path_in(dir))).collect()
}

/// Sums of squares over all inputs.
#[derive(Default)]
struct Distance {
    difference: f64,
    truth: f64,
}

impl Distance {
    fn add(&mut self, got: &HostTensor, truth: &HostTensor) -> Result<()> {
        ensure!(got.shape == truth.shape, "an output is {:?}, expected {:?}", got.shape, truth.shape);
        for (got, truth) in got.to_f64().iter().zip(truth.to_f64()) {
            self.difference += (got - truth) * (got - truth);
            self.truth += truth * truth;
        }
        Ok(())
    }

    fn relative(&self) -> f64 {
        (self.difference / self.truth.max(f64::MIN_POSITIVE)).sqrt()
    }
}

impl PrecisionRow {
    fn verdicts(&self) -> impl Iterator<Item = bool> + Clone {
        self.times.iter().filter_map(|time| time.met).chain(self.errors.as_ref().map(|errors| errors.met))
    }

    fn cells(&self) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        for time in &self.times {
            let mut cells = vec![self.model.clone(), format!("time, {}", report::threads(time.threads))];
            cells.extend([time.tegula_us, time.peer_us].map(|us| format!("{us:.1} us")));
            cells.extend([report::interval(&time.ratio), report::verdict(time.met).to_string()]);
            rows.push(cells);
        }
        if let Some(errors) = &self.errors {
            let mut cells = vec![self.model.clone(), "distance".to_string()];
            cells.extend([errors.tegula, errors.peer].map(|error| format!("{error:.2e}")));
            let ratio = errors.tegula / errors.peer.max(f64::MIN_POSITIVE);
            cells.extend([format!("{ratio:.2}"), report::verdict(Some(errors.met)).to_string()]);
            rows.push(cells);
        }
        if let Some(error) = &self.error {
            rows.push([vec![self.model.clone(), format!("fails: {error}")], vec![String::new(); 4]].concat());
        }
        rows
    }
}

impl Precision {
    pub fn holds(&self) -> bool {
        self.missed == 0 && self.failed == 0
    }

    /// Nothing where no model was looked at.
    pub fn markdown(&self) -> String {
        if self.rows.is_empty() {
            return String::new();
        }
        let rows: Vec<Vec<String>> = self.rows.iter().flat_map(PrecisionRow::cells).collect();
        let header = ["model", "of", "tegula", PEER.name(), "ratio", "verdict"];
        format!(
            "## Products in bf16\n\nCompiled with `--precision {PRECISION}`, against {}. A distance is that to the reference \
             evaluator's results over {INPUTS} inputs: the root of the squares of all differences over that of all results.\n\n{}\n",
            PEER.title(),
            report::table(&header, 2, &rows)
        )
    }
}
