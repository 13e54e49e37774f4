//! Inputs and ONNX Runtime's outputs of a model, drawn and computed once by the script `ort_baseline`.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use crate::catalog::{Catalog, Runs};
use crate::fetch::fetch;
use crate::{python, workspace};

/// Models with feedback run so many steps.
const FEEDBACK_STEPS: usize = 20;

/// One model at one set of shapes.
pub struct Baseline {
    pub id: String,
    pub model: PathBuf,
    pub shape_set: &'static str,
    /// One step, or several of which each feeds the next.
    pub steps: Vec<Step>,
    /// Input to the output that feeds it in the next step.
    pub feedback: BTreeMap<String, String>,
}

/// Files by name of input and output.
#[derive(Deserialize)]
pub struct Step {
    pub inputs: BTreeMap<String, PathBuf>,
    pub outputs: BTreeMap<String, PathBuf>,
    /// ONNX Runtime's outputs where its inputs, or without floats among them its weights, are moved by a relative 1e-6;
    /// some times over.
    #[serde(default)]
    pub moved: Vec<BTreeMap<String, PathBuf>>,
}

/// A row of the plan that the script reads.
#[derive(Serialize)]
struct Job {
    id: String,
    model: PathBuf,
    dir: PathBuf,
    values: BTreeMap<String, String>,
    /// Pictures that the values name, by name.
    images: BTreeMap<String, PathBuf>,
    shapes: BTreeMap<String, Vec<usize>>,
    feedback: BTreeMap<String, String>,
    steps: usize,
}

impl Job {
    /// What the script wrote.
    fn files(&self) -> Result<Vec<Step>> {
        let path = self.dir.join("io.json");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let steps = serde_json::from_str::<Files>(&text)?.steps;
        ensure!(steps.len() == self.steps, "{} lists {} steps", path.display(), steps.len());
        Ok(steps)
    }
}

#[derive(Deserialize)]
struct Files {
    steps: Vec<Step>,
}

/// The baselines of the models, fetched and computed where they are not there yet.
pub fn prepare(catalog: &Catalog, ids: &[String]) -> Result<Vec<Baseline>> {
    let mut jobs = Vec::new();
    let mut baselines = Vec::new();
    for id in ids {
        let model = fetch(catalog, id)?;
        let runs = catalog.runs(id)?;
        for (shape_set, shapes) in runs.shape_sets() {
            let steps = if runs.feedback.is_empty() { 1 } else { FEEDBACK_STEPS };
            jobs.push(Job {
                id: id.clone(),
                model: model.clone(),
                dir: workspace::target().join("baseline").join(id).join(shape_set),
                images: images(catalog, &runs)?,
                values: runs.values.clone(),
                shapes: shapes.clone(),
                feedback: runs.feedback.clone(),
                steps,
            });
            baselines.push(Baseline {
                id: id.clone(),
                model: model.clone(),
                shape_set,
                steps: Vec::new(),
                feedback: runs.feedback.clone(),
            });
        }
    }
    compute(catalog, &jobs)?;
    for (baseline, job) in baselines.iter_mut().zip(&jobs) {
        baseline.steps = job.files()?;
    }
    Ok(baselines)
}

/// A model of f16 made from one of f32, and what it should give (`tegula_tools.half_models`).
#[derive(Deserialize)]
pub struct Half {
    pub model: PathBuf,
    pub steps: Vec<HalfStep>,
}

/// Files by name: inputs of f16; results in f64, exact, and with each node's result rounded to f16; ONNX Runtime's.
#[derive(Deserialize)]
pub struct HalfStep {
    pub inputs: BTreeMap<String, PathBuf>,
    pub exact: BTreeMap<String, PathBuf>,
    pub rounded: BTreeMap<String, PathBuf>,
    pub peer: BTreeMap<String, PathBuf>,
}

/// The model in f16, on so many sets of inputs; computed once.
pub fn half(catalog: &Catalog, baseline: &Baseline, count: usize) -> Result<Half> {
    draws(catalog, baseline, count)?;
    let dir = draws_dir(baseline);
    python::script(python::with_pins(catalog)?, "half_models").arg(&baseline.model).arg(&dir).run()?;
    let path = dir.join("half.json");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(serde_json::from_str(&text)?)
}

fn draws_dir(baseline: &Baseline) -> PathBuf {
    workspace::target().join("baseline").join(&baseline.id).join(format!("{}_draws", baseline.shape_set))
}

/// Inputs of a model at its baseline's shapes, so many sets, each drawn apart; ONNX Runtime's outputs lie beside them.
pub fn draws(catalog: &Catalog, baseline: &Baseline, count: usize) -> Result<Vec<Step>> {
    let runs = catalog.runs(&baseline.id)?;
    let mut sets = runs.shape_sets().into_iter();
    let (_, shapes) =
        sets.find(|(name, _)| *name == baseline.shape_set).context("the model has no such shapes")?;
    let job = Job {
        id: baseline.id.clone(),
        model: baseline.model.clone(),
        dir: draws_dir(baseline),
        images: images(catalog, &runs)?,
        values: runs.values.clone(),
        shapes: shapes.clone(),
        feedback: BTreeMap::new(),
        steps: count,
    };
    compute(catalog, std::slice::from_ref(&job))?;
    job.files()
}

/// A model's outputs in each step by `onnx.reference` with the project's transcriptions of ONNX Runtime's own ops
/// (`tegula_tools.independent_outputs`), on the inputs of a baseline; computed once.
pub fn independent(catalog: &Catalog, baseline: &Baseline) -> Result<Vec<BTreeMap<String, PathBuf>>> {
    let dir = workspace::target().join("baseline").join(&baseline.id).join(baseline.shape_set);
    let script = python::script(python::with_pins(catalog)?, "independent_outputs");
    script.arg(&baseline.model).arg(&dir).arg(serde_json::to_string(&baseline.feedback)?).run()?;
    let path = dir.join("independent.json");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(serde_json::from_str::<IndependentFiles>(&text)?.steps)
}

#[derive(Deserialize)]
struct IndependentFiles {
    steps: Vec<BTreeMap<String, PathBuf>>,
}

/// The pictures that a model's values name.
fn images(catalog: &Catalog, runs: &Runs) -> Result<BTreeMap<String, PathBuf>> {
    let named = runs.values.values().filter_map(|rule| rule.strip_prefix("image:")?.split(':').next());
    named.map(|name| Ok((name.to_string(), fetch(catalog, name)?))).collect()
}

fn compute(catalog: &Catalog, jobs: &[Job]) -> Result<()> {
    let script = python::script(python::with_pins(catalog)?, "ort_baseline");
    let mut child = script.converse()?;
    let mut stdin = child.stdin.take().context("the script has no stdin")?;
    stdin.write_all(&serde_json::to_vec(jobs)?)?;
    drop(stdin);
    let status = child.wait()?;
    ensure!(status.success(), "`ort_baseline` ended with {status}");
    Ok(())
}
