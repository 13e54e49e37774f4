//! `null [--seeds N] [--all] [--part K/N]`: programs, models and decoders whose regions a graph target takes, through packages.
//!
//! The target is `null` of `testkit`, whose device is the reference evaluator. It claims every op, then about every other op,
//! drawn by a seed, so that regions stand between the host's kernels. Results are the evaluator's of the whole program, within
//! its bounds for random programs, and [`TOLERANCE`] for models or, where the host alone does not keep it, [`MOST_OF_HOST`].

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
use tegula_testkit::compare::{Tolerance, rms_distance};
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
const DEVICES: [(&str, bool); 2] = [("null", true), ("null:17", false)];
/// How far a model may be from the evaluator, in distances of the same model without a device, where that is outside of the
/// tolerance, too.
const MOST_OF_HOST: f64 = 2.0;
/// Folding and layouts change the order of sums.
const TOLERANCE: Tolerance = Tolerance::OfLargest { relative: 1e-3 };

pub fn run(args: &[String]) -> Result<Outcome> {
    let (part, args) = Part::taken(args)?;
    let number = args.iter().position(|arg| arg == "--seeds").and_then(|at| args.get(at + 1));
    let programs = match number {
        Some(text) => [text.parse().with_context(|| format!("`--seeds {text}` is no number"))?; 2],
        None => PROGRAMS,
    };
    let mut tally = Tally::default();
    let all = part.take((0..programs[0]).map(|seed| (seed, "null".to_string())).collect::<Vec<_>>());
    let some = part.take((0..programs[1]).map(|seed| (seed, format!("null:{seed}"))).collect::<Vec<_>>());
    for (seed, device) in all.iter().chain(&some) {
        tally.add(&format!("seed {seed}"), device, false, program(*seed, device));
    }
    let catalog = Catalog::load()?;
    let takes_all = args.iter().any(|arg| arg == "--all");
    let ids = if takes_all { catalog.checked.clone() } else { MODELS.map(str::to_string).to_vec() };
    let baselines = baseline::prepare(&catalog, &part.take(ids))?;
    let (folder, names) = if takes_all { decoders::exported()? } else { Default::default() };
    let decoders = part.take(names);
    for (device, takes_every_op) in DEVICES {
        for baseline in &baselines {
            tally.add(&baseline.id, device, takes_every_op, model(baseline, device));
        }
        for name in &decoders {
            tally.add(name, device, takes_every_op, decoder(&folder.join(name), device));
        }
    }
    Ok(Outcome::pass_if(tally.failed == 0 && tally.regions > 0)
        .with("programs", all.len())
        .with("programs_of_every_other_op", some.len())
        .with("models", baselines.len())
        .with("decoders", decoders.len())
        .with("regions", tally.regions)
        .with("failed", tally.failed))
}

/// What came of the cases so far.
#[derive(Default)]
struct Tally {
    regions: usize,
    failed: usize,
}

impl Tally {
    /// A case that gave so many regions; one that must have some fails without.
    fn add(&mut self, case: &str, device: &str, must_have: bool, ran: Result<usize>) {
        let ran = ran.and_then(|regions| {
            ensure!(regions > 0 || !must_have, "no region was formed");
            Ok(regions)
        });
        match ran {
            Ok(regions) => self.regions += regions,
            Err(error) => {
                self.failed += 1;
                println!("FAIL {case} beside {device}: {error:#}");
            }
        }
    }
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
    ensure!(got.len() == expected.len(), "{} results of {}", got.len(), expected.len());
    for (i, (got, want)) in got.iter().zip(&expected).enumerate() {
        compare(got, want).map_err(|difference| anyhow!("result y{i} {difference}"))?;
    }
    Ok(regions)
}

/// A model on the inputs of its first step; gives how many regions the device took.
fn model(baseline: &Baseline, device: &str) -> Result<usize> {
    let bytes = std::fs::read(&baseline.model)?.into();
    let model = Model { name: baseline.id.clone(), bytes, results: vec![], checked: false, files: &NoFiles };
    let options = beside(device).map_err(plain)?;
    let program = model.import(&options.dims).map_err(plain)?;
    let compiled = compile(&model, &options, None, &mut PassCx::default()).map_err(plain)?;
    let (regions, session) = package(compiled).and_then(session).map_err(plain)?;
    let step = baseline.steps.first().context("the model has no step")?;
    let inputs = session.inputs().iter().map(|port| tensor(&step.inputs, &port.name));
    let inputs = inputs.collect::<Result<Vec<HostTensor>>>()?;
    let expected = tegula_driver::model::evaluate(&program, &inputs).map_err(plain)?;
    let got = session.run(&inputs).map_err(plain)?;
    ensure!(got.len() == expected.len(), "{} results of {}", got.len(), expected.len());
    for (i, port) in session.outputs().iter().enumerate() {
        let Err(difference) = tegula_testkit::compare::compare(&got[i], &expected[i], TOLERANCE) else {
            continue;
        };
        // Recurrent layers of 8 bits carry a rounding that falls to the other side through all later steps.
        let alone = host_alone(&model, &inputs)?;
        let [own, host] = [&got, &alone].map(|results| rms_distance(&results[i], &expected[i]));
        ensure!(own <= MOST_OF_HOST * host, "output `{}` {difference}", port.name);
    }
    Ok(regions)
}

/// What the host computes without a device.
fn host_alone(model: &Model<'_>, inputs: &[HostTensor]) -> Result<Vec<HostTensor>> {
    let options = options(best_class(), Form::Machine).map_err(plain)?;
    let compiled = compile(model, &options, None, &mut PassCx::default()).map_err(plain)?;
    let bytes = package(compiled).map_err(plain)?;
    let session = Session::from_bytes(bytes, SessionOptions::default()).map_err(plain)?;
    session.run(inputs).map_err(plain)
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
