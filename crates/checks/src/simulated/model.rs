//! Real models, or their first layers: every launch on the evaluator's operands within its bounds, then the whole run.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use tegula_automation::catalog::Catalog;
use tegula_base::{DType, HostTensor};
use tegula_driver::bound::{Bounded, compare, watch_kernels};
use tegula_driver::check::run_launch;
use tegula_driver::{Compiled, Model};
use tegula_ir::OpId;
use tegula_package::{About, Package};
use tegula_tensor::eval::Bindings;
use tegula_testkit::compare::{Tolerance, distance};
use tegula_testkit::random::data;
use tegula_testkit::random::rng::Rng;

use super::{Device, Held, Verdict, settle};
use crate::in_process::NoFiles;

/// A model of the catalogue, perhaps up to a value, at these shapes.
pub struct Row {
    pub name: &'static str,
    id: &'static str,
    result: Option<&'static str>,
    /// Of each input.
    shapes: &'static [&'static [usize]],
}

const fn row(
    name: &'static str,
    id: &'static str,
    result: Option<&'static str>,
    shapes: &'static [&'static [usize]],
) -> Row {
    Row { name, id, result, shapes }
}

/// The last value of YOLOv8n's first C2f block, and of MiniLM's second layer.
const FIRST_BLOCK: Option<&str> = Some("/model.2/cv2/act/Mul_output_0");
const SECOND_LAYER: Option<&str> = Some("LayerNormalization_79");

pub const MODELS: &[Row] = &[
    row("magika", "magika", None, &[&[1, 2048]]),
    row("yolov8n-c2f-64", "yolov8n", FIRST_BLOCK, &[&[1, 3, 64, 64]]),
    row("minilm-2-16", "minilm", SECOND_LAYER, &[&[1, 16], &[1, 16], &[1, 16]]),
    row("minilm-2-37", "minilm", SECOND_LAYER, &[&[1, 37], &[1, 37], &[1, 37]]),
];

/// Outputs may differ by this share of their largest element: the bar of the `models` check.
const OUTPUT: Tolerance = Tolerance::OfLargest { relative: 1e-4 };

pub(super) fn judge(device: &Device, name: &str) -> Verdict {
    let Some(row) = MODELS.iter().find(|row| row.name == name) else {
        return Verdict::Crashed(format!("there is no model `{name}`"));
    };
    settle(run(device, row))
}

fn run(device: &Device, row: &Row) -> Result<Held, Verdict> {
    let crashed = |error: String| Verdict::Crashed(error);
    let bytes = file(row.id).map_err(|error| crashed(format!("{error:#}")))?;
    let results = row.result.iter().map(|name| name.to_string()).collect();
    let model = Model { name: row.name.into(), bytes, results, checked: false, files: &NoFiles };
    let program = model.import(&Default::default()).map_err(|found| crashed(found.to_string()))?;
    let inputs = inputs(row, &program).map_err(|error| crashed(format!("{error:#}")))?;
    let compiled = device.compile(&model, &BTreeMap::new())?;
    let (outputs, mut held) = device.run(&compiled, &inputs)?;
    let expected =
        tegula_driver::model::evaluate(&program, &inputs).map_err(|found| crashed(found.to_string()))?;
    for (i, (got, want)) in outputs.iter().zip(&expected).enumerate() {
        let apart = distance(got, want, OUTPUT).map_err(Verdict::Wrong)?;
        if apart.share > 1.0 {
            return Err(Verdict::Wrong(format!("output {i} {}", apart.message)));
        }
    }
    launches(device, &compiled, &inputs, &mut held)?;
    Ok(held)
}

/// Every launch on the evaluator's operands.
fn launches(
    device: &Device,
    compiled: &Compiled,
    inputs: &[HostTensor],
    held: &mut Held,
) -> Result<(), Verdict> {
    let about = about(compiled).map_err(Verdict::Crashed)?;
    let device = tegula_driver::check::Device { about: &about, hardware: &device.hardware };
    let mut watch = |op: OpId, operands: &[Arc<HostTensor>], expected: &[Bounded], bindings: &Bindings| {
        let results = run_launch(&compiled.stages, device, op, operands, bindings)?;
        for (i, (got, want)) in results.iter().zip(expected).enumerate() {
            let part = compare(got, want).map_err(|error| format!("{op}, result {i} {error}"))?;
            held.agree(part);
        }
        held.simulated += 1;
        Ok(None)
    };
    let watched = watch_kernels(&compiled.stages.tensor, inputs, &mut watch);
    watched.map(|_| ()).map_err(|error| Verdict::Wrong(error.to_string()))
}

fn about(compiled: &Compiled) -> Result<About, String> {
    let draft = compiled.package.as_ref().ok_or("there is no package")?;
    let package = Package::parse(draft.to_bytes()).map_err(|found| found.to_string())?;
    Ok(package.manifest.about)
}

fn file(id: &str) -> Result<bytes::Bytes> {
    let path = Catalog::load()?.file(id)?;
    let bytes = std::fs::read(&path);
    Ok(bytes.with_context(|| format!("{}: `cargo xtask fetch-models` fetches it", path.display()))?.into())
}

/// The inputs in the range that the catalogue says: ids, zeros, ones, or uniform numbers.
fn inputs(row: &Row, program: &tegula_tensor::TensorProgram) -> Result<Vec<HostTensor>> {
    let values = Catalog::load()?.runs(row.id)?.values;
    let ports = tegula_driver::model::ports(program);
    let mut rng = Rng::new(1);
    let mut draw = |(port, shape): (&tegula_package::Port, &&[usize])| {
        let kind = values.get(&port.name).with_context(|| format!("`{}` has no values", port.name))?;
        draw(&mut rng, kind, port.dtype, shape).with_context(|| format!("values are `{kind}`"))
    };
    ports.iter().zip(row.shapes).map(&mut draw).collect()
}

fn draw(rng: &mut Rng, kind: &str, dtype: DType, shape: &[usize]) -> Option<HostTensor> {
    let count: usize = shape.iter().product();
    let bound = |text: &str| text.parse::<f64>().ok();
    let reals: Vec<f64> = match kind.split(':').collect::<Vec<_>>()[..] {
        ["zeros"] => vec![0.0; count],
        ["ones"] => vec![1.0; count],
        ["ids", lo, hi] | ["tokens", lo, hi, ..] => {
            let (lo, hi) = (bound(lo)? as i64, bound(hi)? as i64);
            (0..count).map(|_| rng.between(lo, hi - 1) as f64).collect()
        }
        ["text"] => (0..count).map(|_| rng.between(32, 126) as f64).collect(),
        ["uniform", lo, hi] | ["image", _, lo, hi] => {
            let (lo, hi) = (bound(lo)?, bound(hi)?);
            (0..count).map(|_| lo + rng.unit() * (hi - lo)).collect()
        }
        _ => return None,
    };
    Some(data::from_reals(dtype, shape, &reals))
}
