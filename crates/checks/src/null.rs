//! `null [--seeds N] [--all] [--part K/N]`: programs, models and decoders whose regions a graph target takes, through packages.
//!
//! The target is `null` of `testkit`, whose device is the reference evaluator. It claims every op, then about every other op,
//! drawn by a seed, so that regions stand between the host's kernels. Results are the evaluator's of the whole program, within
//! its bounds for random programs and [`TOLERANCE`] for models.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, ensure};
use tegula_automation::baseline::{self, Baseline};
use tegula_automation::catalog::Catalog;
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_base::{Diagnostics, HostTensor};
use tegula_driver::bound::{compare, reference};
use tegula_driver::{CompileOptions, Form, Model, PassCx, compile};
use tegula_runtime::{Session, SessionOptions};
use tegula_testkit::compare::Tolerance;
use tegula_testkit::null::NullDevice;
use tegula_testkit::random::{Choices, generate};

use crate::decoders::{self, Decoder};
use crate::in_process::{NoFiles, best_class, compile_with, options, package};
use crate::npy::read_npy;

/// Random programs for the target that claims all, and for the one that claims every other op.
const PROGRAMS: [u64; 2] = [500, 200];
/// Models that the evaluator runs in seconds; `--all` takes all that CI checks, and the decoders.
const MODELS: [&str; 2] = ["magika", "silero-vad"];
/// For models and decoders: the device that takes all, and one that takes every other op.
const DEVICES: [&str; 2] = ["null", "null:17"];
/// Folding and layouts change the order of sums.
const TOLERANCE: Tolerance = Tolerance::OfLargest { relative: 1e-3 };

pub fn run(args: &[String]) -> Result<Outcome> {
    let (part, args) = Part::taken(args)?;
    let number = args.iter().position(|arg| arg == "--seeds").and_then(|at| args.get(at + 1));
    let programs = match number {
        Some(text) => [text.parse().with_context(|| format!("`--seeds {text}` is no number"))?; 2],
        None => PROGRAMS,
    };
    let (mut regions, mut failed) = (0, 0);
    let all = part.take((0..programs[0]).map(|seed| (seed, "null".to_string())).collect::<Vec<_>>());
    let some = part.take((0..programs[1]).map(|seed| (seed, format!("null:{seed}"))).collect::<Vec<_>>());
    for (seed, device) in all.iter().chain(&some) {
        match program(*seed, device) {
            Ok(taken) => regions += taken,
            Err(error) => {
                failed += 1;
                println!("FAIL seed {seed} beside {device}: {error:#}");
            }
        }
    }
    let catalog = Catalog::load()?;
    let takes_all = args.iter().any(|arg| arg == "--all");
    let ids = if takes_all { catalog.checked.clone() } else { MODELS.map(str::to_string).to_vec() };
    let baselines = baseline::prepare(&catalog, &part.take(ids))?;
    for baseline in &baselines {
        for device in DEVICES {
            match model(baseline, device) {
                Ok(taken) => regions += taken,
                Err(error) => {
                    failed += 1;
                    println!("FAIL {} beside {device}: {error:#}", baseline.id);
                }
            }
        }
    }
    let (folder, names) = if takes_all { decoders::exported()? } else { Default::default() };
    let decoders = part.take(names);
    for name in &decoders {
        for device in DEVICES {
            match decoder(&folder.join(name), device) {
                Ok(taken) => regions += taken,
                Err(error) => {
                    failed += 1;
                    println!("FAIL {name} beside {device}: {error:#}");
                }
            }
        }
    }
    Ok(Outcome::pass_if(failed == 0 && regions > 0)
        .with("programs", all.len())
        .with("programs_of_every_other_op", some.len())
        .with("models", baselines.len())
        .with("decoders", decoders.len())
        .with("regions", regions)
        .with("failed", failed))
}

fn beside(device: &str) -> Result<CompileOptions, Diagnostics> {
    Ok(CompileOptions { device: Some(device.to_string()), ..options(best_class(), Form::Machine)? })
}

/// How many launches a package has on its device, and a session that runs them.
fn session(bytes: bytes::Bytes) -> Result<(usize, Session), Diagnostics> {
    let read = tegula_package::Package::parse(bytes.clone())?;
    let regions = read.manifest.kernels.iter().filter(|kernel| kernel.class == "region").count();
    let options = SessionOptions { devices: vec![Arc::new(NullDevice)], ..SessionOptions::default() };
    Ok((regions, Session::from_bytes(bytes, options)?))
}

fn plain(found: Diagnostics) -> anyhow::Error {
    anyhow!("{found}")
}

/// A random program; gives how many regions the device took.
fn program(seed: u64, device: &str) -> Result<usize> {
    let case = generate(seed, &Choices::default());
    let expected = reference(&case.program, &case.inputs).map_err(|error| anyhow!("{error}"))?;
    let text = tegula_ir::print_program(&case.program, &tegula_ir::PrintOptions::WHOLE);
    let compiled = compile_with(text.as_bytes(), &beside(device).map_err(plain)?).map_err(plain)?;
    let (regions, session) = package(compiled).and_then(session).map_err(plain)?;
    let got = session.run(&case.inputs).map_err(plain)?;
    for (i, (got, want)) in got.iter().zip(&expected).enumerate() {
        compare(got, want).map_err(|difference| anyhow!("result y{i} {difference}"))?;
    }
    Ok(regions)
}

/// A model on the inputs of its first step; gives how many regions the device took.
fn model(baseline: &Baseline, device: &str) -> Result<usize> {
    let bytes = std::fs::read(&baseline.model)?.into();
    let model = Model { name: baseline.id.clone(), bytes, results: vec![], files: &NoFiles };
    let options = beside(device).map_err(plain)?;
    let program = model.import(&options.dims).map_err(plain)?;
    let compiled = compile(&model, &options, None, &mut PassCx::default()).map_err(plain)?;
    let (regions, session) = package(compiled).and_then(session).map_err(plain)?;
    let step = baseline.steps.first().context("the model has no step")?;
    let inputs = session.inputs().iter().map(|port| tensor(&step.inputs, &port.name));
    let inputs = inputs.collect::<Result<Vec<HostTensor>>>()?;
    let expected = tegula_driver::model::evaluate(&program, &inputs).map_err(plain)?;
    let got = session.run(&inputs).map_err(plain)?;
    for (port, (got, want)) in session.outputs().iter().zip(got.iter().zip(&expected)) {
        tegula_testkit::compare::compare(got, want, TOLERANCE)
            .map_err(|difference| anyhow!("output `{}` {difference}", port.name))?;
    }
    Ok(regions)
}

/// A decoder, all steps; gives how many regions the device took.
fn decoder(folder: &Path, device: &str) -> Result<usize> {
    let taken = Cell::new(0);
    let ran = Decoder::read(folder)?.judge(|bytes| {
        let compiled = compile_with(bytes, &beside(device)?)?;
        let bytes = package(compiled)?;
        let size = bytes.len();
        let (regions, session) = session(bytes)?;
        taken.set(regions);
        Ok((size, session))
    })?;
    ensure!(ran.worst.share <= 1.0, "{}", ran.worst.message);
    Ok(taken.get())
}

fn tensor(files: &BTreeMap<String, PathBuf>, name: &str) -> Result<HostTensor> {
    read_npy(files.get(name).with_context(|| format!("there is no input `{name}`"))?)
}
