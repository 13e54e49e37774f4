//! `half [--only PREFIX] [--part K/N]`: what reducing and normalising ops compute in 16-bit floats, against NumPy in f64
//! (`tegula_tools.half_cases`), which shares nothing with this project: up to 10^6 elements of up to 6e4.
//! The evaluator, a machine class of each tier, and small cases on `sim-ptx`.
//! Bar: each element is within one unit of the type of the result that is not rounded, or within what a sum in f32 may be off
//! (`docs/numerics.md`) where that is larger; one past the type's range is the infinity that it rounds to.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, ensure};
use serde::Deserialize;
use tegula_automation::catalog::Catalog;
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_automation::{python, workspace};
use tegula_base::{DType, Diagnostics, HostTensor};
use tegula_driver::{Form, Model, session_options, simulated_gpu};
use tegula_ir::ScalarOp;
use tegula_ir::scalar::eval::eval_slice;
use tegula_runtime::Session;

use crate::in_process::{self, NoFiles};
use crate::npy::read_npy;

/// The GPU that is simulated, and elements of a case that it runs.
const GPU: &str = "h200";
const MOST_SIMULATED: usize = 10_000;

#[derive(Deserialize)]
struct Case {
    name: String,
    dtype: String,
    /// Of its largest input.
    elements: usize,
    inputs: Vec<String>,
    outputs: Vec<String>,
}

pub fn run(args: &[String]) -> Result<Outcome> {
    let folder = workspace::target().join("half");
    python::run_once(&["half_cases"], &Catalog::load()?, &folder)?;
    let (part, args) = Part::taken(args)?;
    let text = fs::read_to_string(folder.join("cases.json"))?;
    let cases: Vec<Case> = serde_json::from_str(&text).context("the list of cases is malformed")?;
    let only = args.get(1).map_or("", String::as_str);
    let cases = part.take(cases.into_iter().filter(|case| case.name.starts_with(only)));
    let mut tally = Tally::default();
    for case in &cases {
        let judged = Judged::read(case, folder.join(&case.name))?;
        tally.add(&judged, "evaluator", judged.evaluate());
        for class in in_process::classes() {
            tally.add(&judged, class, judged.on_processor(class));
        }
        if case.elements <= MOST_SIMULATED {
            tally.add(&judged, GPU, judged.on_gpu());
        }
    }
    Ok(Outcome::pass_if(tally.wrong == 0 && tally.runs > 0)
        .with("cases", cases.len())
        .with("runs", tally.runs)
        .with("simulated", in_process::simulated())
        .with("elements", tally.elements)
        .with("wrong", tally.wrong)
        .with("worst_share_of_bar", format!("{:.2}", tally.worst)))
}

#[derive(Default)]
struct Tally {
    runs: usize,
    elements: usize,
    wrong: usize,
    /// The largest error, as a share of what is allowed.
    worst: f64,
}

impl Tally {
    fn add(&mut self, case: &Judged, executor: &str, results: Result<Vec<HostTensor>>) {
        self.runs += 1;
        let judged = results.and_then(|results| case.judge(&results));
        match judged {
            Ok(worst) if worst.share <= 1.0 => {
                self.elements += case.wanted.iter().map(|wanted| wanted.result.len()).sum::<usize>();
                self.worst = self.worst.max(worst.share);
            }
            Ok(worst) => {
                self.wrong += 1;
                println!("FAIL {} on {executor}: {}", case.name, worst.message);
            }
            Err(error) => {
                self.wrong += 1;
                println!("FAIL {} on {executor}: {error:#}", case.name);
            }
        }
    }
}

/// An output's results in f64, and how far a sum in f32 may be from each.
struct Wanted {
    name: String,
    result: Vec<f64>,
    slack: Vec<f64>,
}

struct Judged {
    name: String,
    dtype: DType,
    model: Vec<u8>,
    /// By name, as the model's element type.
    inputs: Vec<(String, HostTensor)>,
    wanted: Vec<Wanted>,
}

/// The element that uses most of what it may.
struct Worst {
    share: f64,
    message: String,
}

impl Judged {
    fn read(case: &Case, folder: PathBuf) -> Result<Judged> {
        let dtype = match case.dtype.as_str() {
            "f16" => DType::F16,
            "bf16" => DType::BF16,
            other => return Err(anyhow!("there are no cases in `{other}`")),
        };
        let input = |name: &String| Ok((name.clone(), narrowed(read(&folder, name)?, dtype)?));
        let wanted = |name: &String| {
            let (result, slack) = (read(&folder, name)?, read(&folder, &format!("{name}_slack"))?);
            let numbers = |tensor: &HostTensor| tensor.elements().context("a result is no f64");
            let (result, slack): (Vec<f64>, Vec<f64>) = (numbers(&result)?, numbers(&slack)?);
            Ok(Wanted { name: name.clone(), result, slack })
        };
        Ok(Judged {
            name: case.name.clone(),
            dtype,
            model: fs::read(folder.join("model.onnx"))?,
            inputs: case.inputs.iter().map(input).collect::<Result<_>>()?,
            wanted: case.outputs.iter().map(wanted).collect::<Result<_>>()?,
        })
    }

    fn evaluate(&self) -> Result<Vec<HostTensor>> {
        let bytes = self.model.clone().into();
        let model = Model { name: "model".into(), bytes, results: vec![], checked: false, files: &NoFiles };
        let program = model.import(&Default::default()).map_err(plain)?;
        let inputs: Vec<HostTensor> = self.inputs.iter().map(|(_, tensor)| tensor.clone()).collect();
        tegula_driver::model::evaluate(&program, &inputs).map_err(plain)
    }

    fn on_processor(&self, class: &str) -> Result<Vec<HostTensor>> {
        let package = self.package(class)?;
        self.run(&in_process::session_of(class, package, 1).map_err(plain)?)
    }

    fn on_gpu(&self) -> Result<Vec<HostTensor>> {
        let package = self.package(GPU)?;
        self.run(&Session::from_bytes(package, session_options(1, simulated_gpu())).map_err(plain)?)
    }

    fn package(&self, class: &str) -> Result<bytes::Bytes> {
        let compiled = in_process::compile_bytes(&self.model, class, Form::Machine);
        compiled.and_then(in_process::package).map_err(plain)
    }

    fn run(&self, session: &Session) -> Result<Vec<HostTensor>> {
        let named: Vec<(&str, &HostTensor)> =
            self.inputs.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
        session.run_named(&named).map_err(plain)
    }

    /// Results in the order of the model's outputs.
    fn judge(&self, results: &[HostTensor]) -> Result<Worst> {
        ensure!(results.len() == self.wanted.len(), "{} results of {}", results.len(), self.wanted.len());
        let mut worst = Worst { share: 0.0, message: String::new() };
        for (got, wanted) in results.iter().zip(&self.wanted) {
            ensure!(got.dtype == self.dtype, "`{}` is of {}", wanted.name, got.dtype);
            let got = got.to_f64();
            ensure!(got.len() == wanted.result.len(), "`{}` has {} elements", wanted.name, got.len());
            for (i, got) in got.iter().enumerate() {
                let (result, slack) = (wanted.result[i], wanted.slack[i]);
                let share = share(self.dtype, *got, result, slack);
                if share > worst.share {
                    let message = format!(
                        "`{}` at {i} is {got:e}, in f64 {result:e}, allowed {:e}",
                        wanted.name,
                        slack.max(unit(self.dtype, result))
                    );
                    worst = Worst { share, message };
                }
            }
        }
        Ok(worst)
    }
}

fn plain(found: Diagnostics) -> anyhow::Error {
    anyhow!("{found}")
}

fn read(folder: &Path, name: &str) -> Result<HostTensor> {
    read_npy(&folder.join(format!("{name}.npy")))
}

/// Numbers of `f32` as the narrower type, which has them.
fn narrowed(tensor: HostTensor, dtype: DType) -> Result<HostTensor> {
    ensure!(tensor.dtype == DType::F32, "an input is no f32");
    let mut bytes = Vec::new();
    eval_slice(ScalarOp::Cast { to: dtype, saturate: false }, &[(&tensor.bytes, DType::F32)], &mut bytes);
    Ok(HostTensor { dtype, shape: tensor.shape, bytes })
}

/// The error of a result, as a share of what it may be.
fn share(dtype: DType, got: f64, result: f64, slack: f64) -> f64 {
    let allowed = slack.max(unit(dtype, result));
    let most = largest(dtype);
    if got.is_infinite() {
        // What rounds to infinity is half a unit past the largest number.
        let past = result.abs() + allowed >= most && result.signum() == got.signum();
        return if past { 0.0 } else { f64::INFINITY };
    }
    // A finite result where an infinite one is due is as near as the largest number is.
    let due = result.clamp(-most, most);
    let error = if result.is_finite() && result.abs() > most + unit(dtype, most) + slack {
        f64::INFINITY
    } else {
        (got - due).abs()
    };
    if error.is_nan() { f64::INFINITY } else { error / allowed }
}

/// Digits of a number after the first, and the exponent of the smallest normal one.
fn format(dtype: DType) -> (i32, i32) {
    if dtype == DType::F16 { (10, -14) } else { (7, -126) }
}

fn largest(dtype: DType) -> f64 {
    if dtype == DType::F16 { 65504.0 } else { 3.3895313892515355e38 }
}

/// The distance of neighbours in the type, about a number.
fn unit(dtype: DType, x: f64) -> f64 {
    let (digits, least) = format(dtype);
    let exponent = if x == 0.0 { least } else { (x.abs().log2().floor() as i32).max(least) };
    2f64.powi(exponent - digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_those_of_the_types() {
        assert_eq!(unit(DType::F16, 1.0), 2f64.powi(-10));
        assert_eq!(unit(DType::F16, 1e-7), 2f64.powi(-24));
        assert_eq!(unit(DType::BF16, 3.0), 2f64.powi(-6));
    }

    #[test]
    fn overflow_is_judged() {
        let of = |got, result| share(DType::F16, got, result, 0.0);
        assert_eq!(of(f64::INFINITY, 70000.0), 0.0);
        assert!(of(f64::INFINITY, 8.0) > 1.0 && of(f64::NEG_INFINITY, 70000.0) > 1.0);
        assert!(of(65504.0, 70000.0) > 1.0 && of(f64::NAN, 1.0) > 1.0);
        assert!(of(1.0, 1.0009) <= 1.0 && of(1.0, 1.0011) > 1.0);
    }
}
