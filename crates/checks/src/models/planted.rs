//! Faults put into the model that Tegula gets (`tegula_tools.plant_fault`): the check must find each.

use std::fs;

use anyhow::{Context, Result};
use tegula_automation::baseline::Baseline;
use tegula_automation::catalog::Catalog;
use tegula_automation::{python, workspace};

/// Each fault, and the models that it is put into.
pub const PLANTED: &[(&str, &[&str])] = &[
    ("negate", &["speaker-lstm-int8", "resnet50-thin-qdq", "silero-vad"]),
    ("floor", &["resnet50-thin-qdq"]),
    ("zero-scores", &["yolov8n"]),
    ("shift-channel", &["yolov8n"]),
];

/// Puts a model with the fault in the place of the model; what it should give stays.
pub fn plant(catalog: &Catalog, baseline: &mut Baseline, fault: &str) -> Result<()> {
    let dir = workspace::target().join("planted").join(fault);
    fs::create_dir_all(&dir)?;
    let file = dir.join(format!("{}.onnx", baseline.id));
    let script = python::script(python::with_pins(catalog)?, "plant_fault");
    script
        .arg(&baseline.model)
        .arg(&file)
        .arg(fault)
        .run()
        .with_context(|| format!("cannot plant `{fault}`"))?;
    baseline.model = file;
    Ok(())
}
