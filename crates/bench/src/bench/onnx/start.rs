//! From a file to a session, on one thread, in fresh processes with warm page caches: Tegula from a model (compile and
//! load) and from a package, against ONNX Runtime's session creation. The time of starting a process is in none.

use std::fs;

use anyhow::{Context, Result};
use serde::Serialize;
use tegula_automation::cores;
use tegula_automation::statistics::{geometric_mean, median};
use tegula_automation::workspace;

use super::Bench;
use crate::bench::report;
use crate::peers::Peer;
use crate::race::Racer;

/// Processes of each kind, in turns.
const REPEATS: usize = 7;

#[derive(Serialize)]
pub struct Start {
    pub rows: Vec<StartRow>,
    pub model_mean: f64,
    pub model_worst: f64,
    pub package_worst: f64,
    pub failed: usize,
    holds: bool,
}

#[derive(Serialize)]
pub struct StartRow {
    model: String,
    model_ms: f64,
    package_ms: f64,
    onnxruntime_ms: f64,
    /// To ONNX Runtime.
    model_ratio: f64,
    package_ratio: f64,
    error: Option<String>,
}

pub fn measure(bench: &Bench) -> Result<Start> {
    let dir = workspace::target().join("packages");
    fs::create_dir_all(&dir)?;
    println!("\n{:22} {:>10} {:>10} {:>10}  from file to session, ms", "model", "model", "package", "ort");
    let mut rows = Vec::new();
    for baseline in bench.baselines.iter().filter(|baseline| baseline.shape_set == "run_shapes") {
        let times = (|| -> Result<[f64; 3]> {
            let inputs = &baseline.steps.first().context("the baseline has no step")?.inputs;
            let package = dir.join(format!("{}.tgl", baseline.id));
            bench.tegula.compile(&baseline.model, &package)?;
            let mut times = [const { Vec::new() }; 3];
            for _ in 0..REPEATS {
                let commands = [
                    bench.tegula.serve_rounds(&baseline.model, inputs, 1),
                    bench.tegula.serve_rounds(&package, inputs, 1),
                    bench.peers.serve_rounds(Peer::OnnxRuntime, Some(&baseline.model), inputs, 1),
                ];
                for (times, command) in times.iter_mut().zip(commands) {
                    let racer = cores::on(&cores::last(1), || Racer::start("start", command, 1))?;
                    times.push(racer.ready_ns / 1e6);
                }
            }
            Ok(times.map(median))
        })();
        let row = StartRow::new(&baseline.id, times);
        println!("{}", row.shown());
        rows.push(row);
    }
    Ok(Start::judge(bench, rows))
}

impl StartRow {
    fn new(model: &str, times: Result<[f64; 3]>) -> StartRow {
        let error = times.as_ref().err().map(|error| format!("{error:#}"));
        let [model_ms, package_ms, onnxruntime_ms] = times.unwrap_or([0.0; 3]);
        StartRow {
            model: model.to_string(),
            model_ms,
            package_ms,
            onnxruntime_ms,
            model_ratio: model_ms / onnxruntime_ms,
            package_ratio: package_ms / onnxruntime_ms,
            error,
        }
    }

    fn shown(&self) -> String {
        match &self.error {
            Some(error) => format!("{:22} FAIL {error}", self.model),
            None => format!(
                "{:22} {:10.2} {:10.2} {:10.2}  {:.3} {:.3}",
                self.model,
                self.model_ms,
                self.package_ms,
                self.onnxruntime_ms,
                self.model_ratio,
                self.package_ratio
            ),
        }
    }
}

impl Start {
    fn judge(bench: &Bench, rows: Vec<StartRow>) -> Start {
        let measured = || rows.iter().filter(|row| row.error.is_none());
        let from_model: Vec<f64> = measured().map(|row| row.model_ratio).collect();
        let worst = |ratios: &mut dyn Iterator<Item = f64>| ratios.fold(0.0, f64::max);
        let model_mean = geometric_mean(&from_model);
        let model_worst = worst(&mut from_model.iter().copied());
        let package_worst = worst(&mut measured().map(|row| row.package_ratio));
        let failed = rows.len() - from_model.len();
        let bar = &bench.bars.start;
        let holds = failed == 0
            && model_mean <= bar.model_mean
            && model_worst <= bar.model_worst
            && package_worst <= bar.package_worst;
        Start { rows, model_mean, model_worst, package_worst, failed, holds }
    }

    pub fn holds(&self) -> bool {
        self.holds
    }

    pub fn markdown(&self) -> String {
        let ms = |ms: f64| format!("{ms:.2}");
        let cells = |row: &StartRow| match &row.error {
            Some(error) => vec![row.model.clone(), format!("fails: {error}")],
            None => vec![
                row.model.clone(),
                ms(row.model_ms),
                ms(row.package_ms),
                ms(row.onnxruntime_ms),
                format!("{:.3}", row.model_ratio),
                format!("{:.3}", row.package_ratio),
            ],
        };
        let rows: Vec<Vec<String>> = self.rows.iter().map(cells).collect();
        let header =
            ["model", "compile and load, ms", "load a package, ms", "ONNX Runtime, ms", "ratio", "package"];
        format!(
            "## From a file to a session\n\nOne thread, median of {REPEATS} fresh processes each, in turns.\n\
             Compile and load against ONNX Runtime's session creation: geometric mean {:.3}, worst {:.3}; \
             load of a package: worst {:.3}. Bars: {}.\n\n{}",
            self.model_mean,
            self.model_worst,
            self.package_worst,
            report::verdict(Some(self.holds)),
            report::table(&header, 1, &rows)
        )
    }
}
