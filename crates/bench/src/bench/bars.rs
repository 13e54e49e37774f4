//! `data/bench_bars.toml`: what `bench` must reach.

use std::fs;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use tegula_automation::workspace;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bars {
    /// An interval's upper end may be above its bar by so much.
    pub slack: f64,
    /// The first row that names a model holds.
    time: Vec<TimeBar>,
    pub bf16: Bf16Bar,
    pub share: Vec<ShareBar>,
    pub start: StartBar,
    pub memory: MemoryBar,
    kernel: Vec<KernelBar>,
    pub op: OpBar,
}

/// Tegula's time over a peer's.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TimeBar {
    peer: String,
    /// Ids; a `*` at the end stands for any rest.
    models: Vec<String>,
    /// Whether it is for the first set of shapes alone.
    #[serde(default)]
    first_shapes: bool,
    /// At 1 and at 2 threads.
    bars: [f64; 2],
}

/// `--precision bf16` over OpenVINO in bf16.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bf16Bar {
    pub models: Vec<String>,
    /// At 1 thread.
    pub time: f64,
    /// Of distances to the reference evaluator.
    pub error: f64,
}

/// A bar that a share of the models that a peer runs must meet, at each number of threads.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShareBar {
    pub peer: String,
    pub bar: f64,
    pub of_models: f64,
}

/// From a file to a session, Tegula's time over that of ONNX Runtime.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartBar {
    /// From a model, geometric mean over the models.
    pub model_mean: f64,
    pub model_worst: f64,
    /// From a package, on each model.
    pub package_worst: f64,
}

/// Peak anonymous memory, Tegula's over that of ONNX Runtime, on each model.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryBar {
    pub worst: f64,
}

/// A share of the processor's peak that a kernel must reach.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KernelBar {
    name: String,
    /// At 1 and at 2 threads.
    bars: [f64; 2],
}

/// An op's time alone, Tegula's over that of ONNX Runtime, at any number of threads.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpBar {
    pub worst: f64,
}

impl Bars {
    pub fn load() -> Result<Bars> {
        let path = workspace::data("bench_bars.toml");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let bars: Bars = toml::from_str(&text).with_context(|| format!("{} is malformed", path.display()))?;
        ensure!(bars.slack >= 0.0, "{}: slack is below 0", path.display());
        Ok(bars)
    }

    /// Without bars for times: what holds for the processor's own tier says nothing of another.
    pub fn without_times(self) -> Bars {
        Bars { time: Vec::new(), share: Vec::new(), bf16: Bf16Bar::default(), ..self }
    }

    /// The bar of a model's time against a peer's, if it has one.
    pub fn time(&self, peer: &str, id: &str, is_first: bool, threads: usize) -> Option<f64> {
        let fits = |bar: &&TimeBar| {
            let is_named = |name: &String| match name.strip_suffix('*') {
                Some(start) => id.starts_with(start),
                None => name == id,
            };
            bar.peer == peer && (is_first || !bar.first_shapes) && bar.models.iter().any(is_named)
        };
        self.time.iter().find(fits)?.bars.get(threads.checked_sub(1)?).copied()
    }

    /// The share of the peak that a kernel must reach, if it has a bar.
    pub fn kernel(&self, name: &str, threads: usize) -> Option<f64> {
        let bar = self.kernel.iter().find(|bar| bar.name == name)?;
        bar.bars.get(threads.checked_sub(1)?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_row_that_names_a_model_holds() {
        let bars = Bars::load().expect("data/bench_bars.toml");
        let of = |id: &str, is_first| bars.time("onnxruntime", id, is_first, 2);
        assert_eq!(of("minilm", true), Some(0.75));
        assert_eq!(of("minilm", false), Some(1.0));
        assert_eq!(of("silero-vad-half", true), Some(0.8));
        assert_eq!(of("magika", true), Some(1.0));
        assert_eq!(bars.time("onnxruntime", "magika", true, 3), None);
        assert_eq!(bars.time("openvino-bf16", "magika", true, 1), None);
        assert_eq!(bars.kernel("matmul-2048-f32", 1), Some(0.93));
        assert_eq!(bars.kernel("matmul-1024-f32", 1), None);
    }
}
