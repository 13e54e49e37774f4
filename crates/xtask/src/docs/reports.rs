//! The reports of `cargo xtask bench` as data: `bench/machines.json` and the JSON files beside it.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use tegula_automation::workspace;

/// One machine that reports are of.
#[derive(Debug, Deserialize)]
pub struct Machine {
    /// As people call it.
    pub name: String,
    /// The folder of its reports below `bench/`; empty for `bench/` itself.
    pub folder: String,
    /// Its machine class.
    pub class: String,
    /// What its kernels use.
    pub tier: String,
    /// What sets it apart.
    pub note: String,
}

impl Machine {
    /// All of them, in the order of `bench/machines.json`.
    pub fn all() -> Result<Vec<Machine>> {
        read("machines.json")?.context("bench/machines.json is not there")
    }

    /// The report of this name, if the machine has one.
    pub fn report<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>> {
        read(&self.path(name))
    }

    /// Where a report lies below `bench/`.
    pub fn path(&self, name: &str) -> String {
        if self.folder.is_empty() { name.to_string() } else { format!("{}/{name}", self.folder) }
    }
}

/// A report by its path below `bench/`.
pub fn read<T: DeserializeOwned>(path: &str) -> Result<Option<T>> {
    let file = workspace::root().join("bench").join(path);
    if !file.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(&file)?;
    serde_json::from_str(&text).with_context(|| format!("bench/{path} is no such report")).map(Some)
}

#[derive(Debug, Deserialize)]
pub struct Host {
    /// Day and minute.
    pub date: String,
    /// The load average before the start.
    pub load: f64,
}

impl Host {
    pub fn day(&self) -> &str {
        self.date.split(' ').next().unwrap_or("")
    }
}

/// `onnx.json`: models against other engines.
#[derive(Debug, Deserialize)]
pub struct Onnx {
    pub host: Host,
    pub rounds: u32,
    /// Engine to version.
    pub versions: BTreeMap<String, String>,
    pub times: Times,
    pub start: Start,
    pub memory: Memory,
}

#[derive(Debug, Deserialize)]
pub struct Times {
    pub rows: Vec<TimesRow>,
    pub means: Vec<Mean>,
    pub shares: Vec<Share>,
    /// Ratios that have a bar.
    pub judged: usize,
    pub missed: usize,
}

impl Times {
    /// The geometric mean of the ratios to a peer.
    pub fn mean(&self, peer: &str, threads: usize) -> Option<f64> {
        let found = self.means.iter().find(|mean| mean.peer == peer && mean.threads == threads);
        found.map(|mean| mean.mean)
    }
}

#[derive(Debug, Deserialize)]
pub struct TimesRow {
    pub model: String,
    pub threads: usize,
    pub peers: Vec<Peer>,
}

#[derive(Debug, Deserialize)]
pub struct Peer {
    pub peer: String,
    pub ratio: Option<Interval>,
    /// What the ratio is judged by; none: it is only shown.
    pub bar: Option<f64>,
    pub met: Option<bool>,
}

/// Tegula's time over the peer's: the median over rounds, and the upper end of its 90 % interval.
#[derive(Debug, Deserialize)]
pub struct Interval {
    pub median: f64,
    pub high: f64,
}

#[derive(Debug, Deserialize)]
pub struct Mean {
    pub peer: String,
    pub threads: usize,
    pub mean: f64,
}

/// How many models are within a bar of a peer.
#[derive(Debug, Deserialize)]
pub struct Share {
    pub within: usize,
    pub of: usize,
}

#[derive(Debug, Deserialize)]
pub struct Start {
    pub model_mean: f64,
    pub model_worst: f64,
    pub package_worst: f64,
}

#[derive(Debug, Deserialize)]
pub struct Memory {
    pub worst: f64,
}

/// `ops.json`: ops one by one against ONNX Runtime.
#[derive(Debug, Deserialize)]
pub struct Ops {
    pub host: Host,
    pub bar: f64,
    pub ops: Vec<Op>,
}

#[derive(Debug, Deserialize)]
pub struct Op {
    pub name: String,
    pub threads: usize,
    pub ratio: Option<Ratio>,
}

/// A median over rounds.
#[derive(Debug, Deserialize)]
pub struct Ratio {
    pub median: f64,
}

/// `kernels.json`: ops as shares of what the processor reaches.
#[derive(Debug, Deserialize)]
pub struct Kernels {
    pub host: Host,
    pub kernels: Vec<Kernel>,
}

#[derive(Debug, Deserialize)]
pub struct Kernel {
    pub name: String,
    pub threads: usize,
    pub share: Option<Ratio>,
    pub bar: Option<f64>,
    pub met: Option<bool>,
}

/// `predictions.json`: predicted against measured time of each kernel.
#[derive(Debug, Deserialize)]
pub struct Predictions {
    pub host: Host,
    pub bar: f64,
    pub median: f64,
    pub worst_class: String,
    pub classes: Vec<Class>,
    pub models: Vec<Class>,
}

/// Kernels of one class, or of one model.
#[derive(Debug, Deserialize)]
pub struct Class {
    pub name: String,
    pub kernels: usize,
    pub error: f64,
}

/// A line of `gpu.jsonl`: one kernel on a card.
#[derive(Debug, Deserialize)]
pub struct GpuRow {
    pub part: String,
    #[serde(default)]
    pub tflops: f64,
    pub of_copy: Option<f64>,
    pub ratio: Option<f64>,
}

/// The kernels that ran on a machine's card.
pub fn gpu_rows(machine: &Machine) -> Result<Vec<GpuRow>> {
    let file = workspace::root().join("bench").join(machine.path("gpu.jsonl"));
    if !file.exists() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(&file)?;
    let rows = text.lines().filter(|line| !line.trim().is_empty()).map(serde_json::from_str);
    rows.collect::<Result<_, _>>().with_context(|| format!("{} is no such report", file.display()))
}

/// The geometric mean; none of nothing.
pub fn geometric_mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let logs: Vec<f64> = values.map(f64::ln).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_names_its_files() {
        let machine = |folder: &str| Machine {
            name: String::new(),
            folder: folder.to_string(),
            class: String::new(),
            tier: String::new(),
            note: String::new(),
        };
        assert_eq!(machine("").path("onnx.md"), "onnx.md");
        assert_eq!(machine("zen4").path("onnx.md"), "zen4/onnx.md");
        assert_eq!(geometric_mean([2.0, 8.0].into_iter()).map(f64::round), Some(4.0));
        assert_eq!(geometric_mean([].into_iter()), None);
    }
}
