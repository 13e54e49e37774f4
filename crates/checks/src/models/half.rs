//! `models --half [--only ID ...]`: models with f16 in the place of f32 throughout, against their results in f64.
//! Bar: in each output, pooled over [`DRAWS`] inputs, Tegula's root-mean-square distance to the exact result is at most
//! [`BAR`] times that of an evaluation in f64 that rounds each node's result to f16 once. ONNX Runtime's is printed beside it.

use anyhow::{Context, Result, anyhow};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use tegula_automation::baseline::{self, Baseline, HalfStep};
use tegula_automation::catalog::Catalog;
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_automation::tegula_cli::{RunError, RunOptions, Tegula};
use tegula_automation::workspace;
use tegula_testkit::compare::rms_distance;

use crate::npy::{self, read_npy};

/// Models whose weights and results f16 can hold, and whose ops `onnx.reference` has.
const MODELS: [&str; 7] = [
    "minilm",
    "ocr-detect-yolox",
    "ppocr-cls",
    "resnet50-thin",
    "silero-vad",
    "silero-vad-ifless",
    "speech-embedding-cnn",
];
/// One input says little of a result of few elements.
const DRAWS: usize = 16;
const BAR: f64 = 1.1;

/// Sums of squared distances to the exact result.
#[derive(Default)]
struct Pooled {
    ours: f64,
    rounded: f64,
    peer: f64,
}

pub(super) fn run(catalog: &Catalog, part: Part, args: &[String]) -> Result<Outcome> {
    let ids = match args {
        [] => part.take(MODELS.map(String::from)),
        _ => catalog.selected(args),
    };
    let tegula = Tegula::build()?;
    let (mut outputs, mut failed, mut beyond, mut worst) = (0, 0, 0, 0.0f64);
    println!(
        "{:22} {:34} {:>9} {:>9}  in distances of each node rounded once",
        "model", "output", "Tegula", "ONNX RT"
    );
    for baseline in baseline::prepare(catalog, &ids)? {
        if baseline.shape_set != "run_shapes" {
            continue;
        }
        for (name, pooled) in distances(catalog, &tegula, &baseline)? {
            let share = |side: f64| if side == 0.0 { 0.0 } else { (side / pooled.rounded).sqrt() };
            let (ours, peer) = (share(pooled.ours), share(pooled.peer));
            let holds = ours <= BAR;
            outputs += 1;
            failed += usize::from(!holds);
            beyond += usize::from(ours > peer);
            worst = worst.max(ours);
            let verdict = if holds { "ok" } else { "FAIL" };
            println!("{:22} {name:34} {ours:>9.3} {peer:>9.3}  {verdict}", baseline.id);
        }
    }
    Ok(Outcome::pass_if(failed == 0 && outputs > 0)
        .with("models", ids.len())
        .with("outputs", outputs)
        .with("farther_than_peer", beyond)
        .with("failed", failed)
        .with("worst", format!("{worst:.3}")))
}

fn distances(catalog: &Catalog, tegula: &Tegula, baseline: &Baseline) -> Result<BTreeMap<String, Pooled>> {
    let half = baseline::half(catalog, baseline, DRAWS)?;
    let packages = workspace::target().join("packages/half");
    fs::create_dir_all(&packages)?;
    let package = packages.join(format!("{}.tgl", baseline.id));
    tegula.compile(&half.model, &package)?;
    let out = workspace::target().join("run").join(&baseline.id).join("half");
    let mut pooled: BTreeMap<String, Pooled> = BTreeMap::new();
    for (index, HalfStep { inputs, exact, rounded, peer }) in half.steps.iter().enumerate() {
        let options = RunOptions { threads: 1, ..RunOptions::default() };
        let ours = npy::run(tegula, &package, inputs, &out, options).map_err(|error| match error {
            RunError::Refused(reason) | RunError::Crashed(reason) => anyhow!("{}: {reason}", baseline.id),
        })?;
        for (name, file) in exact {
            let exact = read_npy(file)?;
            let squared = |side: &BTreeMap<String, PathBuf>| -> Result<f64> {
                Ok(rms_distance(&read_npy(&side[name])?, &exact).powi(2))
            };
            let own =
                ours.get(name).with_context(|| format!("output `{name}` is missing in step {index}"))?;
            let sums = pooled.entry(name.clone()).or_default();
            sums.ours += rms_distance(own, &exact).powi(2);
            sums.rounded += squared(rounded)?;
            sums.peer += squared(peer)?;
        }
    }
    Ok(pooled)
}
