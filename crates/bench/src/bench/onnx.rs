//! `bench onnx [--only ID ...] [--rounds N] [--threads 1,2] [--peers NAME ...] [--all-shapes] [--tier T]`: the ONNX models of
//! `data/models.json` and those derived from them, against ONNX Runtime and OpenVINO: time of a run, from a file to a
//! session, and memory; some of them with products in bf16 too.
//! Racers are processes on the same processors and inputs, with buffers that are allocated once; see `race.rs`.
//! `--peers` are `onnxruntime`, `openvino-f32` (both by default) and `openvino-bf16`.

mod memory;
mod precision;
mod start;
mod times;

use std::collections::BTreeMap;

use anyhow::Result;
use serde::Serialize;
use tegula_automation::baseline::{self, Baseline};
use tegula_automation::catalog::Catalog;
use tegula_automation::outcome::Outcome;
use tegula_automation::tegula_cli::Tegula;

use super::Options;
use super::bars::{Bars, Bf16Bar};
use super::chart::{Chart, Row, Scale};
use super::host::{self, Host};
use super::report;
use crate::peers::{Peer, Peers};
use memory::Memory;
use precision::Precision;
use start::Start;
use times::Times;

/// The fewest that a bar is judged by.
const ROUNDS: usize = 30;

/// The feature without which OpenVINO's `bf16` is its `f32`.
const BF16: &str = "avx512bf16";

/// What all parts need.
struct Bench {
    tegula: Tegula,
    peers: Peers,
    bars: Bars,
    baselines: Vec<Baseline>,
}

#[derive(Serialize)]
struct Report {
    host: Host,
    rounds: usize,
    versions: BTreeMap<String, String>,
    times: Times,
    precision: Precision,
    start: Start,
    memory: Memory,
}

pub fn run(options: &Options) -> Result<Outcome> {
    let load = host::load();
    let catalog = Catalog::load()?;
    let tegula = Tegula::build()?.for_tier(options.tier.clone());
    let mut host = Host::describe(&tegula, load, options.refuse_loaded)?;
    let mut bars = Bars::load()?;
    let mut name = "onnx".to_string();
    if let Some(tier) = &options.tier {
        host.tier = tier.clone();
        bars = bars.without_times();
        name += &format!("-{tier}");
    }
    if !host.features.iter().any(|feature| feature == BF16) {
        println!("this processor does not multiply bf16: nobody computes in it here");
        bars.bf16 = Bf16Bar::default();
    }
    let rounds = options.rounds.unwrap_or(ROUNDS);
    if rounds < ROUNDS {
        println!("{rounds} rounds of {ROUNDS}: times are shown and not judged");
        bars = bars.without_times();
    }
    let racing: Vec<Peer> = if options.peers.is_empty() {
        vec![Peer::OnnxRuntime, Peer::OpenVinoF32]
    } else {
        options.peers.iter().map(|name| Peer::named(name)).collect::<Result<_>>()?
    };
    let mut installed = racing.clone();
    installed.push(Peer::OnnxRuntime);
    installed.extend(precision::peers(&bars));
    let peers = Peers::installed(&catalog, &installed)?;
    let ids = if options.only.is_empty() { catalog.known_models() } else { options.only.clone() };
    let baselines = baseline::prepare(&catalog, &ids)?;
    let bench = Bench { tegula, peers, bars, baselines };
    print!("{}", host.markdown());

    let times = times::measure(&bench, &racing, &options.threads, rounds, options.all_shapes)?;
    let precision = precision::measure(&bench, &catalog, &options.threads, rounds)?;
    let start = start::measure(&bench)?;
    let memory = memory::measure(&bench)?;
    let versions = racing.iter().map(|peer| (peer.name().to_string(), peer.version(&catalog).to_string()));
    let report = Report { host, rounds, versions: versions.collect(), times, precision, start, memory };
    let dir = report::folder(options)?;
    report::write(&dir, &name, &report.markdown(&name), &report, &report.chart(&racing))?;
    println!("\nreport: {}", dir.join(format!("{name}.md")).display());
    Ok(report.outcome())
}

impl Report {
    fn outcome(&self) -> Outcome {
        let holds = self.times.holds() && self.precision.holds() && self.start.holds() && self.memory.holds();
        let mut outcome = Outcome::pass_if(holds)
            .with("part", "onnx")
            .with("tier", &self.host.tier)
            .with("loaded", if self.host.loaded { "yes" } else { "no" })
            .with("rows", self.times.judged + self.precision.judged)
            .with("missed", self.times.missed + self.precision.missed)
            .with("failed", self.times.failed + self.precision.failed);
        for mean in &self.times.means {
            outcome = outcome.with(&format!("{}_{}", mean.peer, mean.threads), format!("{:.3}", mean.mean));
        }
        for share in &self.times.shares {
            let name = format!("within_{}_{}", share.peer, share.threads);
            outcome = outcome.with(&name, format!("{}/{}", share.within, share.of));
            outcome = outcome.with(&format!("refused_by_{}_{}", share.peer, share.threads), share.refused);
        }
        outcome
            .with("start_mean", format!("{:.3}", self.start.model_mean))
            .with("start_worst", format!("{:.3}", self.start.model_worst))
            .with("package_worst", format!("{:.3}", self.start.package_worst))
            .with("memory_worst", format!("{:.3}", self.memory.worst))
    }

    fn markdown(&self, name: &str) -> String {
        let versions: Vec<String> =
            self.versions.iter().map(|(peer, version)| format!("{peer} {version}")).collect();
        format!(
            "# ONNX models against other engines\n\n{}Peers: {}.\n{} rounds that take turns; a ratio is Tegula's time over \
             the peer's, the median over the rounds with its 90 % interval (order statistics of the median).\n\
             A bar is met when the interval's upper end is at most the bar plus {}.\n\n![ratios]({name}.svg)\n\n{}\n{}{}\n{}",
            self.host.markdown(),
            versions.join(", "),
            self.rounds,
            self.times.slack,
            self.times.markdown(),
            self.precision.markdown(),
            self.start.markdown(),
            self.memory.markdown(),
        )
    }

    fn chart(&self, racing: &[Peer]) -> String {
        let row = |row: &times::TimeRow| Row {
            label: format!("{} ({})", row.model, row.label()),
            marks: row.chart_marks(racing),
        };
        Chart {
            title: "Time of a run, Tegula over peer: lower is better".into(),
            series: racing.iter().map(|peer| peer.title().to_string()).collect(),
            scale: Scale::Logarithmic { ticks: &[0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0] },
            line: 1.0,
            rows: self.times.rows.iter().map(row).collect(),
        }
        .svg()
    }
}
