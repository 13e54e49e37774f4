//! Time of a run, in races of Tegula with its peers.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use tegula_automation::baseline::Baseline;
use tegula_automation::cores;
use tegula_automation::statistics::{Interval, geometric_mean, median};

use super::Bench;
use crate::bench::chart::Mark;
use crate::bench::report;
use crate::peers::Peer;
use crate::race::{Racer, race, ratios};

#[derive(Serialize)]
pub struct Times {
    pub slack: f64,
    pub rows: Vec<TimeRow>,
    /// Geometric means of the ratios to a peer.
    pub means: Vec<Mean>,
    /// How many models are within a bar against a peer.
    pub shares: Vec<Share>,
    /// Ratios with a bar of their own.
    pub judged: usize,
    pub missed: usize,
    /// Rows that Tegula, or a peer with a bar, does not run.
    pub failed: usize,
}

#[derive(Serialize)]
pub struct TimeRow {
    pub model: String,
    pub shapes: String,
    pub threads: usize,
    pub tegula_us: f64,
    pub peers: Vec<PeerTime>,
    /// Why there are no times.
    pub error: Option<String>,
}

#[derive(Serialize)]
pub struct PeerTime {
    pub peer: String,
    pub us: f64,
    /// From the file to a session, this once.
    pub ready_ms: f64,
    pub ratio: Option<Interval>,
    pub bar: Option<f64>,
    pub met: Option<bool>,
    /// Why the peer does not run the model.
    pub refused: Option<String>,
}

#[derive(Serialize)]
pub struct Mean {
    pub peer: String,
    pub threads: usize,
    pub mean: f64,
}

#[derive(Serialize)]
pub struct Share {
    pub peer: String,
    pub threads: usize,
    pub bar: f64,
    pub within: usize,
    /// Models that the peer ran.
    pub of: usize,
    pub least: f64,
    /// Models that it refused.
    pub refused: usize,
}

pub fn measure(
    bench: &Bench,
    racing: &[Peer],
    threads: &[usize],
    rounds: usize,
    all_shapes: bool,
) -> Result<Times> {
    let mut rows = Vec::new();
    for baseline in &bench.baselines {
        if !all_shapes && !is_first(baseline) {
            continue;
        }
        for threads in threads {
            let row = one(bench, racing, baseline, *threads, rounds);
            print!("{}", row.shown());
            rows.push(row);
        }
    }
    Ok(Times::judge(bench, racing, threads, rows))
}

fn is_first(baseline: &Baseline) -> bool {
    baseline.shape_set == "run_shapes"
}

/// One model at one set of shapes and number of threads.
fn one(bench: &Bench, racing: &[Peer], baseline: &Baseline, threads: usize, rounds: usize) -> TimeRow {
    let mut row = TimeRow {
        model: baseline.id.clone(),
        shapes: baseline.shape_set.to_string(),
        threads,
        tegula_us: 0.0,
        peers: Vec::new(),
        error: None,
    };
    if let Err(error) = fill(bench, racing, baseline, rounds, &mut row) {
        row.error = Some(format!("{error:#}"));
    }
    row
}

fn fill(bench: &Bench, racing: &[Peer], baseline: &Baseline, rounds: usize, row: &mut TimeRow) -> Result<()> {
    let inputs = &baseline.steps.first().context("the baseline has no step")?.inputs;
    let threads = row.threads;
    let cores = cores::last(threads);
    ensure!(cores.is_empty() || cores.len() == threads, "there are no {threads} processors");
    let start = |name: &str, command| cores::on(&cores, || Racer::start(name, command, threads));
    let ours = bench.tegula.serve_rounds(&baseline.model, inputs, threads);
    let mut racers = vec![start("tegula bench", ours)?];
    let mut runners = Vec::new();
    for peer in racing {
        let command = bench.peers.serve_rounds(*peer, Some(&baseline.model), inputs, threads);
        match start(peer.name(), command) {
            Ok(racer) => {
                racers.push(racer);
                runners.push(*peer);
            }
            Err(error) => row.peers.push(PeerTime::refused(*peer, &error)),
        }
    }
    let times = race(&mut racers, rounds)?;
    let [ours, theirs @ ..] = times.as_slice() else { return Ok(()) };
    row.tegula_us = median(ours.clone()) / 1e3;
    for ((peer, theirs), racer) in runners.iter().zip(theirs).zip(&racers[1..]) {
        let ratio = Interval::of(&ratios(ours, theirs));
        let bar = bench.bars.time(peer.name(), &baseline.id, is_first(baseline), threads);
        row.peers.push(PeerTime {
            peer: peer.name().to_string(),
            us: median(theirs.clone()) / 1e3,
            ready_ms: racer.ready_ns / 1e6,
            ratio: Some(ratio),
            bar,
            met: bar.map(|bar| ratio.high <= bar + bench.bars.slack),
            refused: None,
        });
    }
    row.peers.sort_by_key(|time| racing.iter().position(|peer| peer.name() == time.peer));
    Ok(())
}

impl PeerTime {
    fn refused(peer: Peer, error: &anyhow::Error) -> PeerTime {
        PeerTime {
            peer: peer.name().to_string(),
            us: 0.0,
            ready_ms: 0.0,
            ratio: None,
            bar: None,
            met: None,
            refused: Some(format!("{error:#}")),
        }
    }
}

impl TimeRow {
    pub fn of(&self, peer: Peer) -> Option<&PeerTime> {
        self.peers.iter().find(|time| time.peer == peer.name())
    }

    /// Threads, and the shapes where they are not the first.
    pub fn label(&self) -> String {
        let second = if self.shapes == "run_shapes" { "" } else { ", 2nd shapes" };
        format!("{}{second}", self.threads)
    }

    pub fn chart_marks(&self, racing: &[Peer]) -> Vec<Option<Mark>> {
        let mark = |peer: &Peer| {
            let time = self.of(*peer)?;
            Some(Mark { value: time.ratio?, bar: time.bar })
        };
        racing.iter().map(mark).collect()
    }

    fn shown(&self) -> String {
        let mut text = format!("{:22} {:13} {}", self.model, self.shapes, self.threads);
        if let Some(error) = &self.error {
            return text + &format!("  FAIL {error}\n");
        }
        text += &format!(" {:10.1} us", self.tegula_us);
        for time in &self.peers {
            text += &match (&time.ratio, &time.refused) {
                (Some(ratio), _) => format!(
                    "  {} {:.1} us {} {}",
                    time.peer,
                    time.us,
                    report::interval(ratio),
                    report::verdict(time.met)
                ),
                (None, refused) => format!("  {} refused: {}", time.peer, refused.as_deref().unwrap_or("")),
            };
        }
        text + "\n"
    }
}

impl Times {
    fn judge(bench: &Bench, racing: &[Peer], threads: &[usize], rows: Vec<TimeRow>) -> Times {
        let judged = rows.iter().flat_map(|row| &row.peers).filter_map(|time| time.met);
        let missed = judged.clone().filter(|met| !met).count();
        let lacks = |row: &&TimeRow| {
            let first = row.shapes == "run_shapes";
            let needs = |peer: &str| bench.bars.time(peer, &row.model, first, row.threads).is_some();
            row.error.is_some() || row.peers.iter().any(|time| time.refused.is_some() && needs(&time.peer))
        };
        let failed = rows.iter().filter(lacks).count();
        let ratios = |peer: &str, threads: usize| -> Vec<Interval> {
            let of_peer = |row: &TimeRow| row.peers.iter().find(|time| time.peer == peer)?.ratio;
            rows.iter().filter(|row| row.threads == threads).filter_map(of_peer).collect()
        };
        let refused = |peer: &str, threads: usize| {
            let of_peer = |row: &&TimeRow| {
                let mut times = row.peers.iter();
                row.threads == threads && times.any(|time| time.peer == peer && time.refused.is_some())
            };
            rows.iter().filter(of_peer).count()
        };
        let (mut means, mut shares) = (Vec::new(), Vec::new());
        for threads in threads.iter().copied() {
            for peer in racing {
                let medians: Vec<f64> =
                    ratios(peer.name(), threads).iter().map(|ratio| ratio.median).collect();
                if !medians.is_empty() {
                    let peer = peer.name().to_string();
                    means.push(Mean { peer, threads, mean: geometric_mean(&medians) });
                }
            }
            for bar in bench.bars.share.iter().filter(|bar| racing.iter().any(|peer| peer.name() == bar.peer))
            {
                let found = ratios(&bar.peer, threads);
                let within = found.iter().filter(|ratio| ratio.high <= bar.bar + bench.bars.slack).count();
                let peer = bar.peer.clone();
                shares.push(Share {
                    peer,
                    threads,
                    bar: bar.bar,
                    within,
                    of: found.len(),
                    least: bar.of_models,
                    refused: refused(&bar.peer, threads),
                });
            }
        }
        let judged = judged.count();
        Times { slack: bench.bars.slack, rows, means, shares, judged, missed, failed }
    }

    pub fn holds(&self) -> bool {
        self.missed == 0 && self.failed == 0 && self.shares.iter().all(Share::holds)
    }

    pub fn markdown(&self) -> String {
        let mut rows = Vec::new();
        for row in &self.rows {
            let first = vec![row.model.clone(), row.shapes.clone(), row.threads.to_string()];
            if let Some(error) = &row.error {
                rows.push(
                    [first.clone(), vec![String::new(), format!("fails: {error}")], vec![String::new(); 4]]
                        .concat(),
                );
            }
            for time in &row.peers {
                let Some(ratio) = &time.ratio else { continue };
                let figures = vec![
                    format!("{:.1}", row.tegula_us),
                    time.peer.clone(),
                    format!("{:.1}", time.us),
                    report::interval(ratio),
                    report::bar(time.bar),
                    report::verdict(time.met).to_string(),
                ];
                rows.push([first.clone(), figures].concat());
            }
        }
        let header =
            ["model", "shapes", "threads", "Tegula us", "peer", "peer us", "ratio", "bar", "verdict"];
        let mut text = String::from("## Time of a run\n\n");
        for mean in &self.means {
            text += &format!(
                "* Geometric mean to `{}` at {}: {:.3}.\n",
                mean.peer,
                report::threads(mean.threads),
                mean.mean
            );
        }
        for share in &self.shares {
            text += &format!(
                "* At most {:.2} of `{}` at {}: {} of the {} models that it runs ({} refused); at least {:.0} % must be: {}.\n",
                share.bar,
                share.peer,
                report::threads(share.threads),
                share.within,
                share.of,
                share.refused,
                share.least * 100.0,
                report::verdict(Some(share.holds()))
            );
        }
        text += &format!(
            "* {} of {} ratios with a bar of their own meet it; {} rows fail.\n\n",
            self.judged - self.missed,
            self.judged,
            self.failed
        );
        text + &report::table(&header, 2, &rows) + &self.refusals()
    }

    /// Which models a peer does not run, and its reason.
    fn refusals(&self) -> String {
        let mut reasons = BTreeMap::new();
        for row in &self.rows {
            for time in &row.peers {
                if let Some(reason) = &time.refused {
                    reasons.insert((&time.peer, &row.model), reason);
                }
            }
        }
        let line = |((peer, model), reason): (&(&String, &String), &&String)| {
            format!("* `{peer}` does not run `{model}`: {reason}\n")
        };
        let lines: String = reasons.iter().map(line).collect();
        if lines.is_empty() { lines } else { format!("\n{lines}") }
    }
}

impl Share {
    /// Of no models nothing is known.
    fn holds(&self) -> bool {
        self.of > 0 && self.within as f64 >= self.least * self.of as f64
    }
}
