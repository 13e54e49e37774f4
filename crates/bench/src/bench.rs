//! `bench onnx|ops|kernels|predictions|fit`: how fast Tegula is, against other engines, against what the processor can do
//! and against what it predicts. All leave a report in `bench/`; what must hold lies in `data/bench_bars.toml`.
//! `--refuse-loaded` ends before anything is measured where other work uses the machine; without it the report says so.

mod bars;
mod chart;
mod fit;
mod host;
mod kernels;
mod onnx;
mod ops;
mod predictions;
mod report;

use anyhow::{Context, Result, bail, ensure};
use tegula_automation::outcome::Outcome;

pub fn run(args: &[String]) -> Result<Outcome> {
    let options = Options::read(args)?;
    match args.first().map(String::as_str) {
        Some("onnx") => onnx::run(&options),
        Some("ops") => ops::run(&options),
        Some("kernels") => kernels::run(&options),
        Some("predictions") => predictions::run(&options),
        Some("fit") => fit::run(&options),
        _ => bail!("`bench` needs a part: onnx, ops, kernels, predictions or fit"),
    }
}

/// What was asked for.
struct Options {
    /// Models or kernels by name; none: all.
    only: Vec<String>,
    rounds: Option<usize>,
    threads: Vec<usize>,
    peers: Vec<String>,
    all_shapes: bool,
    /// Instead of the processor's own; the bars are for that.
    tier: Option<String>,
    refuse_loaded: bool,
    /// Where the report goes.
    out: Option<String>,
}

impl Options {
    fn read(args: &[String]) -> Result<Options> {
        let is_given = |flag: &str| args.iter().any(|arg| arg == flag);
        let values = |flag: &str| -> Vec<String> {
            let after = args.iter().skip_while(|arg| *arg != flag).skip(1);
            after.take_while(|arg| !arg.starts_with("--")).cloned().collect()
        };
        let rounds = values("--rounds").first().map(|text| text.parse()).transpose();
        let listed = values("--threads").join(",");
        let threads = if listed.is_empty() { "1,2" } else { &listed };
        let threads: Result<Vec<usize>, _> = threads.split(',').map(str::parse).collect();
        let options = Options {
            only: values("--only"),
            rounds: rounds.context("`--rounds` takes a number")?,
            threads: threads.context("`--threads` takes numbers: 1,2")?,
            peers: values("--peers"),
            all_shapes: is_given("--all-shapes"),
            tier: values("--tier").first().cloned(),
            refuse_loaded: is_given("--refuse-loaded"),
            out: values("--out").first().cloned(),
        };
        ensure!(options.rounds != Some(0) && !options.threads.contains(&0), "0 rounds or threads");
        Ok(options)
    }
}
