//! `lpu-models [--quick] [--all] [--model ID] [--part K/N]`: whole models on a simulated streaming chip, `tsp1`, beside this processor.
//!
//! Inputs are those of the baseline, cut to the sizes of the row. The host multiplies nothing: such a model is refused.
//! Bar: each image is proved; the simulated cycles are those of the proof; results are the evaluator's within the row's
//! tolerance; a second compilation gives the same bytes. `--quick` takes models that run in seconds, at smaller sizes;
//! `--all` takes long inputs as well, which run for minutes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, ensure};
use tegula_automation::baseline::{self, Baseline};
use tegula_automation::catalog::Catalog;
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_base::{Diagnostics, HostTensor};
use tegula_driver::{CompileOptions, Model, PassCx, Precision, compile, session_options, simulated_lpu};
use tegula_machine::Machine;
use tegula_package::Package;
use tegula_runtime::Session;
use tegula_testkit::compare::{Tolerance, compare};

use crate::in_process::{NoFiles, package};
use crate::npy::read_npy;

/// A model with what it is compiled for.
struct Row {
    id: &'static str,
    precision: Precision,
    dims: Dims,
    /// Of the largest element of a result. `f16` factors have 11 bits, and two of them 21; of bytes only the ends are floats.
    relative: f64,
    /// The sizes of a quick run, which leaves out a model without.
    quick: Option<Dims>,
}

type Dims = &'static [(&'static str, i64)];

const MINILM: Dims = &[("batch", 1), ("seq", 16)];

const ONE: Dims = &[("batch", 1)];

const ROWS: [Row; 8] = [
    Row { id: "wakeword-head", precision: Precision::F16, dims: &[], relative: 1e-2, quick: Some(&[]) },
    Row {
        id: "minilm-int8-qdq",
        precision: Precision::F32,
        dims: MINILM,
        relative: 1e-2,
        quick: Some(&[("batch", 1), ("seq", 6)]),
    },
    Row { id: "minilm", precision: Precision::F16, dims: MINILM, relative: 1e-2, quick: None },
    Row { id: "minilm", precision: Precision::F16x2, dims: MINILM, relative: 1e-4, quick: None },
    Row { id: "speaker-lstm-int8", precision: Precision::F32, dims: ONE, relative: 1e-2, quick: None },
    Row { id: "magika", precision: Precision::F16, dims: &[("unk__214", 1)], relative: 1e-2, quick: None },
    Row { id: "resnet50-thin-qdq", precision: Precision::F32, dims: ONE, relative: 1e-2, quick: None },
    Row { id: "resnet50-thin", precision: Precision::F16, dims: ONE, relative: 1e-2, quick: None },
];

const LONG: Dims = &[("batch", 1), ("seq", 128)];

/// Rows of a run of all.
const LONG_ROWS: [Row; 3] = [
    Row { id: "minilm-int8-qdq", precision: Precision::F32, dims: LONG, relative: 1e-2, quick: None },
    Row { id: "minilm", precision: Precision::F16, dims: LONG, relative: 1e-2, quick: None },
    Row { id: "minilm", precision: Precision::F16x2, dims: LONG, relative: 1e-4, quick: None },
];

pub fn run(args: &[String]) -> Result<Outcome> {
    let (part, args) = Part::taken(args)?;
    let is_quick = args.iter().any(|arg| arg == "--quick");
    let is_all = args.iter().any(|arg| arg == "--all");
    let wanted = args.iter().position(|arg| arg == "--model").and_then(|at| args.get(at + 1));
    let is_wanted = |row: &&Row| (row.quick.is_some() || !is_quick) && wanted.is_none_or(|id| id == row.id);
    let rows: Vec<&Row> = ROWS.iter().chain(LONG_ROWS.iter().filter(|_| is_all)).filter(is_wanted).collect();
    let rows = part.take(rows);
    let catalog = Catalog::load()?;
    let mut ids: Vec<String> = rows.iter().map(|row| row.id.to_string()).collect();
    // A model at two precisions, or sizes.
    ids.sort();
    ids.dedup();
    let baselines = baseline::prepare(&catalog, &ids)?;
    let (mut regions, mut failed) = (0, 0);
    for row in &rows {
        let baseline = baselines.iter().find(|baseline| baseline.id == row.id);
        let ran =
            baseline.context("there is no baseline").and_then(|baseline| model(row, is_quick, baseline));
        match ran {
            Ok(own) => regions += own,
            Err(error) => {
                failed += 1;
                println!("FAIL {}: {error:#}", row.id);
            }
        }
    }
    Ok(Outcome::pass_if(failed == 0 && regions > 0)
        .with("models", rows.len())
        .with("regions", regions)
        .with("failed", failed))
}

fn plain(found: Diagnostics) -> anyhow::Error {
    anyhow!("{found}")
}

/// Gives how many regions the chip took.
fn model(row: &Row, is_quick: bool, baseline: &Baseline) -> Result<usize> {
    let bytes = std::fs::read(&baseline.model)?.into();
    let model = Model { name: row.id.into(), bytes, results: vec![], checked: false, files: &NoFiles };
    let options = options(row, is_quick)?;
    let built = || {
        let compiled = compile(&model, &options, None, &mut PassCx::default()).map_err(plain)?;
        package(compiled).map_err(plain)
    };
    let packed = built()?;
    ensure!(packed == built()?, "a second compilation gives other bytes");
    let read = Package::parse(packed.clone()).map_err(|error| anyhow!("{error}"))?;
    let regions = read.manifest.kernels.iter().filter(|kernel| kernel.class == "region").count();
    ensure!(regions > 0, "the chip takes no region");
    let session = Session::from_bytes(packed, session_options(1, simulated_lpu())).map_err(plain)?;
    let step = baseline.steps.first().context("the model has no step")?;
    let inputs = session.inputs().iter().map(|port| {
        let shape =
            port.shape.iter().map(|dim| dim.as_const().map(|n| n as usize)).collect::<Option<Vec<_>>>();
        let given = tensor(&step.inputs, &port.name)?;
        cut(&given, &shape.context("an input has an open size")?)
    });
    let inputs = inputs.collect::<Result<Vec<HostTensor>>>()?;
    let program = model.import(&options.dims).map_err(plain)?;
    let expected = tegula_driver::model::evaluate(&program, &inputs).map_err(plain)?;
    let got = session.run(&inputs).map_err(plain)?;
    ensure!(got.len() == expected.len(), "{} results of {}", got.len(), expected.len());
    let tolerance = Tolerance::OfLargest { relative: row.relative };
    for ((got, want), port) in got.iter().zip(&expected).zip(session.outputs()) {
        compare(got, want, tolerance).map_err(|difference| anyhow!("output `{}` {difference}", port.name))?;
    }
    println!(
        "{:20} {:5} {:?} {regions} regions, {} kernels of the host",
        row.id,
        row.precision.name(),
        row.dims,
        read.manifest.kernels.len() - regions
    );
    Ok(regions)
}

fn options(row: &Row, is_quick: bool) -> Result<CompileOptions> {
    let machine = Machine::class("tsp1").context("there is no class `tsp1`")?;
    let dims = row.quick.filter(|_| is_quick).unwrap_or(row.dims);
    let dims = dims.iter().map(|(name, n)| (name.to_string(), *n)).collect();
    Ok(CompileOptions { verify: true, dims, precision: row.precision, ..CompileOptions::new(machine) })
}

/// The first elements along each axis.
fn cut(tensor: &HostTensor, shape: &[usize]) -> Result<HostTensor> {
    let fits =
        tensor.shape.len() == shape.len() && tensor.shape.iter().zip(shape).all(|(have, want)| want <= have);
    ensure!(fits, "an input of {:?} has no part of {shape:?}", tensor.shape);
    let width = tensor.dtype.size();
    let mut bytes = Vec::new();
    for flat in 0..shape.iter().product() {
        let (mut rest, mut place, mut stride): (usize, usize, usize) = (flat, 0, 1);
        for (have, want) in tensor.shape.iter().zip(shape).rev() {
            place += rest % want * stride;
            rest /= want;
            stride *= have;
        }
        bytes.extend(&tensor.bytes[place * width..][..width]);
    }
    Ok(HostTensor { dtype: tensor.dtype, shape: shape.to_vec(), bytes })
}

fn tensor(files: &BTreeMap<String, PathBuf>, name: &str) -> Result<HostTensor> {
    read_npy(files.get(name).with_context(|| format!("there is no input `{name}`"))?)
}
