//! `models [--only ID]`: real models against ONNX Runtime, at both shape sets from one package, on 1, 2 and 3
//! threads.  Bars: floats max|a-b| <= 1e-4 (max|b| + 1e-6), integers and shapes equal; int8 models by their
//! root-mean-square distance to the evaluator's result, at most 1.05 times ONNX Runtime's; bitwise equal across
//! threads.  Models with feedback run 20 steps, each side feeding back its own state.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use tegula_base::HostTensor;
use tegula_testkit::compare::{Tolerance, compare, rms_distance};
use tegula_testkit::onnx_suite::RunError;

use crate::baseline::{self, Baseline};
use crate::catalog::Catalog;
use crate::outcome::Outcome;
use crate::tegula_cli::{RunOptions, Tegula, read_npy, safe_name, write_npy};
use crate::workspace;

const THREADS: [usize; 3] = [1, 2, 3];
const RELATIVE_BAR: f64 = 1e-4;
const INT8_BAR: f64 = 1.05;

type Tensors = BTreeMap<String, HostTensor>;

pub fn run(args: &[String]) -> Result<Outcome> {
    let catalog = Catalog::load()?;
    let ids = match args {
        [flag, ids @ ..] if flag == "--only" => ids.to_vec(),
        _ => catalog.checked.clone(),
    };
    let tegula = Tegula::build()?;
    let baselines = baseline::prepare(&catalog, &ids)?;
    let (mut failed, mut worst) = (0, 0.0f64);
    println!("{:22} {:13} {:>7} {:>9}  verdict", "model", "shapes", "threads", "of bar");
    for baseline in &baselines {
        let check = Check { tegula: &tegula, baseline, is_int8: catalog.is_int8(&baseline.id)? };
        for row in check.rows() {
            let verdict = match &row.used {
                Ok(used) => {
                    worst = worst.max(*used);
                    format!("{used:9.4}  ok")
                }
                Err(reason) => {
                    failed += 1;
                    format!("{:>9}  FAIL {reason}", "-")
                }
            };
            println!("{:22} {:13} {:>7} {verdict}", baseline.id, baseline.shape_set, row.threads);
        }
    }
    Ok(Outcome::pass_if(failed == 0)
        .with("models", ids.len())
        .with("rows", baselines.len() * THREADS.len())
        .with("failed", failed)
        .with("worst_share_of_bar", format!("{worst:.4}")))
}

struct Check<'a> {
    tegula: &'a Tegula,
    baseline: &'a Baseline,
    is_int8: bool,
}

/// One line of the table.
struct Row {
    threads: usize,
    /// The share of the bar that the worst output used, or why the row fails.
    used: Result<f64, String>,
}

impl Check<'_> {
    fn rows(&self) -> Vec<Row> {
        let package = match self.package() {
            Ok(package) => package,
            Err(error) => {
                let reason = format!("{error:#}");
                return THREADS.map(|threads| Row { threads, used: Err(reason.clone()) }).into();
            }
        };
        let mut first: Option<Vec<Tensors>> = None;
        let mut rows = Vec::new();
        for threads in THREADS {
            let options = RunOptions { threads, ..RunOptions::default() };
            let used = self.steps(&package, options).and_then(|steps| {
                let used = self.judge(&steps)?;
                match &first {
                    None => first = Some(steps),
                    Some(first) => equal_bits(&steps, first)?,
                }
                Ok(used)
            });
            rows.push(Row { threads, used });
        }
        rows
    }

    /// Compiles the model once for all its shape sets and thread counts.
    fn package(&self) -> Result<PathBuf> {
        let dir = workspace::target().join("packages");
        fs::create_dir_all(&dir)?;
        let package = dir.join(format!("{}.tgl", self.baseline.id));
        if self.baseline.shape_set == "run_shapes" || !package.exists() {
            self.tegula.compile(&self.baseline.model, &package)?;
        }
        Ok(package)
    }

    /// Runs all steps; from the second on, fed-back inputs are this side's own outputs.
    fn steps(&self, model: &Path, options: RunOptions) -> Result<Vec<Tensors>, String> {
        let dir = workspace::target().join("run").join(&self.baseline.id);
        let mut steps: Vec<Tensors> = Vec::new();
        for (index, step) in self.baseline.steps.iter().enumerate() {
            let mut inputs = step.inputs.clone();
            if let Some(before) = steps.last() {
                for (input, output) in &self.baseline.feedback {
                    let tensor =
                        before.get(output).ok_or_else(|| format!("there is no output `{output}`"))?;
                    let file = dir.join(format!("state_{}.npy", safe_name(input)));
                    write_npy(&file, tensor).map_err(|error| format!("{error:#}"))?;
                    inputs.insert(input.clone(), file);
                }
            }
            let outputs =
                self.tegula.run(model, &inputs, &dir.join("out"), options).map_err(|error| match error {
                    RunError::Refused(reason) => format!("step {index} refused: {reason}"),
                    RunError::Crashed(reason) => format!("step {index} crashed: {reason}"),
                })?;
            steps.push(outputs);
        }
        Ok(steps)
    }

    fn judge(&self, steps: &[Tensors]) -> Result<f64, String> {
        if self.is_int8 { self.judge_int8(steps) } else { self.judge_float(steps) }
    }

    fn judge_float(&self, steps: &[Tensors]) -> Result<f64, String> {
        let tolerance = Tolerance::OfLargest { relative: RELATIVE_BAR };
        self.over_outputs(steps, |_, _, actual, expected| compare(actual, expected, tolerance))
    }

    /// Both sides round to 8 bits at their own places; the judge is the evaluator on the same graph.
    fn judge_int8(&self, steps: &[Tensors]) -> Result<f64, String> {
        let options = RunOptions { threads: 1, evaluator: true, ..RunOptions::default() };
        let reference =
            self.steps(&self.baseline.model, options).map_err(|reason| format!("evaluator: {reason}"))?;
        self.over_outputs(steps, |step, name, actual, expected| {
            let exact = reference[step].get(name).ok_or("the evaluator gives no such output")?;
            if actual.dtype != expected.dtype || actual.shape != expected.shape {
                return Err(format!("is {}{:?}", actual.dtype, actual.shape));
            }
            if !actual.dtype.is_float() {
                return compare(actual, expected, Tolerance::Bitwise);
            }
            let (ours, theirs) = (rms_distance(actual, exact), rms_distance(expected, exact));
            let limit = INT8_BAR * theirs;
            if ours <= limit {
                return Ok(if limit > 0.0 { ours / limit } else { 0.0 });
            }
            Err(format!("is {ours:.3e} (rms) from the evaluator, ONNX Runtime {theirs:.3e}"))
        })
    }

    /// The worst of `judge(step, name, actual, expected)` over all outputs of all steps.
    fn over_outputs(
        &self,
        steps: &[Tensors],
        judge: impl Fn(usize, &str, &HostTensor, &HostTensor) -> Result<f64, String>,
    ) -> Result<f64, String> {
        let mut worst = 0.0f64;
        for (index, (step, ours)) in self.baseline.steps.iter().zip(steps).enumerate() {
            for (name, file) in &step.outputs {
                let expected = read_npy(file).map_err(|error| format!("{error:#}"))?;
                let actual = ours.get(name).ok_or_else(|| format!("output `{name}` is missing"))?;
                let used = judge(index, name, actual, &expected)
                    .map_err(|reason| format!("step {index}, output `{name}` {reason}"))?;
                worst = worst.max(used);
            }
        }
        Ok(worst)
    }
}

fn equal_bits(steps: &[Tensors], first: &[Tensors]) -> Result<(), String> {
    for (ours, first) in steps.iter().zip(first) {
        for (name, tensor) in ours {
            let before = first.get(name).ok_or_else(|| anyhow!("output `{name}` is new").to_string())?;
            compare(tensor, before, Tolerance::Bitwise)
                .map_err(|reason| format!("output `{name}` {reason} on {} thread", THREADS[0]))?;
        }
    }
    Ok(())
}
