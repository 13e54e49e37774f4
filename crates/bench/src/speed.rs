//! `speed [--only ID] [--rounds N]`: run time against ONNX Runtime on the models of CI, all their shapes; `bench onnx`
//! has the finer bars.
//! Ratio of a row: median over rounds of (our time / theirs).  Bars: geometric mean <= 1.4 at 1 and at 2 threads,
//! no row above 3.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use tegula_automation::baseline::{self, Baseline};
use tegula_automation::catalog::Catalog;
use tegula_automation::outcome::Outcome;
use tegula_automation::statistics::{geometric_mean, median};
use tegula_automation::tegula_cli::Tegula;

use crate::peers::{Peer, Peers};
use crate::race::{Racer, race, ratios};

const THREADS: [usize; 2] = [1, 2];
const ROUNDS: usize = 15;
const MEAN_BAR: f64 = 1.4;
const WORST_BAR: f64 = 3.0;

pub fn run(args: &[String]) -> Result<Outcome> {
    let catalog = Catalog::load()?;
    let after = |flag: &str| args.iter().position(|arg| arg == flag).and_then(|at| args.get(at + 1));
    let ids = after("--only").map_or_else(|| catalog.checked.clone(), |id| vec![id.clone()]);
    let rounds =
        after("--rounds").map_or(Ok(ROUNDS), |text| text.parse()).context("--rounds takes a number")?;
    let tegula = Tegula::build()?;
    let peers = Peers::installed(&catalog, &[Peer::OnnxRuntime])?;
    let baselines = baseline::prepare(&catalog, &ids)?;
    println!(
        "{:22} {:13} {:>7} {:>12} {:>12} {:>7}",
        "model", "shapes", "threads", "tegula us", "ort us", "ratio"
    );
    let mut found: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    let mut failed = 0;
    for baseline in &baselines {
        for threads in THREADS {
            let row = format!("{:22} {:13} {threads:>7}", baseline.id, baseline.shape_set);
            match measure(&tegula, &peers, baseline, threads, rounds) {
                Ok([ours, theirs]) => {
                    let ratio = median(ratios(&ours, &theirs));
                    println!("{row} {:12.1} {:12.1} {ratio:7.3}", median(ours) / 1e3, median(theirs) / 1e3);
                    found.entry(threads).or_default().push(ratio);
                }
                Err(error) => {
                    println!("{row} FAIL {error:#}");
                    failed += 1;
                }
            }
        }
    }
    let worst = found.values().flatten().copied().fold(0.0, f64::max);
    let means: BTreeMap<usize, f64> =
        found.iter().map(|(threads, row)| (*threads, geometric_mean(row))).collect();
    let holds = failed == 0 && worst <= WORST_BAR && means.values().all(|mean| *mean <= MEAN_BAR);
    let mut outcome = Outcome::pass_if(holds).with("rows", found.values().map(Vec::len).sum::<usize>());
    for (threads, mean) in means {
        outcome = outcome.with(&format!("mean_{threads}_threads"), format!("{mean:.3}"));
    }
    Ok(outcome.with("worst", format!("{worst:.3}")).with("failed", failed))
}

/// Our times and ONNX Runtime's, round by round.
fn measure(
    tegula: &Tegula,
    peers: &Peers,
    baseline: &Baseline,
    threads: usize,
    rounds: usize,
) -> Result<[Vec<f64>; 2]> {
    let inputs = &baseline.steps.first().context("the baseline has no step")?.inputs;
    let theirs = peers.serve_rounds(Peer::OnnxRuntime, Some(&baseline.model), inputs, threads);
    let ours = tegula.serve_rounds(&baseline.model, inputs, threads);
    let mut racers = [
        Racer::start("tegula bench", ours, threads)?,
        Racer::start(Peer::OnnxRuntime.name(), theirs, threads)?,
    ];
    let times: [Vec<f64>; 2] = race(&mut racers, rounds)?.try_into().expect("invariant: one list a racer");
    Ok(times)
}
