//! `resize [--only PREFIX] [--part K/N]`: one axis resized in every mode, against rational arithmetic
//! (`tegula_tools.resize_cases`), which shares nothing with this project. Sizes are drawn up to 512.
//! The evaluator, and a machine class of each tier.
//! Bar: the nearest element is equal; linear and cubic sums are within what one in f32 may be off (`docs/numerics.md`).

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use serde::Deserialize;
use tegula_automation::catalog::Catalog;
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_automation::{python, workspace};
use tegula_base::{Diagnostics, HostTensor};
use tegula_driver::{Form, Model};

use crate::in_process::{self, NoFiles};
use crate::npy::read_npy;

#[derive(Deserialize)]
struct Case {
    name: String,
    outputs: Vec<String>,
}

pub fn run(args: &[String]) -> Result<Outcome> {
    let folder = workspace::target().join("resize");
    python::run_once(&["resize_cases"], &Catalog::load()?, &folder)?;
    let (part, args) = Part::taken(args)?;
    let text = fs::read_to_string(folder.join("cases.json"))?;
    let cases: Vec<Case> = serde_json::from_str(&text).context("the list of cases is malformed")?;
    let only = args.get(1).map_or("", String::as_str);
    let cases = part.take(cases.into_iter().filter(|case| case.name.starts_with(only)));
    let (mut runs, mut elements, mut wrong) = (0, 0, 0);
    for case in &cases {
        let folder = folder.join(&case.name);
        let (model, x) = (fs::read(folder.join("model.onnx"))?, read_npy(&folder.join("x.npy"))?);
        let mut judge = |executor: &str, results: Result<Vec<HostTensor>>| {
            runs += 1;
            match results.and_then(|results| compare(case, &folder, &results)) {
                Ok(count) => elements += count,
                Err(error) => {
                    wrong += 1;
                    println!("FAIL {} on {executor}: {error:#}", case.name);
                }
            }
        };
        judge("evaluator", evaluate(&model, &x));
        for class in in_process::classes() {
            judge(class, on_processor(&model, &x, class));
        }
    }
    Ok(Outcome::pass_if(wrong == 0 && runs > 0)
        .with("cases", cases.len())
        .with("runs", runs)
        .with("simulated", in_process::simulated())
        .with("elements", elements)
        .with("wrong", wrong))
}

fn evaluate(model: &[u8], x: &HostTensor) -> Result<Vec<HostTensor>> {
    let bytes = model.to_vec().into();
    let model = Model { name: "model".into(), bytes, results: vec![], checked: false, files: &NoFiles };
    let program = model.import(&Default::default()).map_err(plain)?;
    tegula_driver::model::evaluate(&program, std::slice::from_ref(x)).map_err(plain)
}

fn on_processor(model: &[u8], x: &HostTensor, class: &str) -> Result<Vec<HostTensor>> {
    let compiled = in_process::compile_bytes(model, class, Form::Machine);
    let package = compiled.and_then(in_process::package).map_err(plain)?;
    let session = in_process::session_of(class, package, 1).map_err(plain)?;
    session.run_named(&[("x", x)]).map_err(plain)
}

/// The number of elements, all of which are near enough.
fn compare(case: &Case, folder: &Path, results: &[HostTensor]) -> Result<usize> {
    ensure!(results.len() == case.outputs.len(), "{} results of {}", results.len(), case.outputs.len());
    let mut count = 0;
    for (name, result) in case.outputs.iter().zip(results) {
        let read = |stem: &str| read_npy(&folder.join(format!("{stem}.npy"))).map(|tensor| tensor.to_f64());
        let (wanted, slack) = (read(name)?, read(&format!("{name}_slack"))?);
        let got = result.to_f64();
        ensure!(got.len() == wanted.len(), "`{name}` has {} elements, not {}", got.len(), wanted.len());
        for (i, got) in got.iter().enumerate() {
            let (wanted, slack) = (wanted[i], slack[i]);
            ensure!(
                (got - wanted).abs() <= slack,
                "`{name}` at {i} is {got:e}, by rational arithmetic {wanted:e}, allowed {slack:e}"
            );
        }
        count += got.len();
    }
    Ok(count)
}

fn plain(found: Diagnostics) -> anyhow::Error {
    anyhow!("{found}")
}
