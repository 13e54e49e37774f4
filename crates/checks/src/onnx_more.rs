//! `onnx-more [--only PREFIX] [--bless]`: the onnx package's models beyond the node cases: small ones by hand, those that
//! PyTorch wrote, and nine classifiers whose weights are constants, with the results that come with them.
//! `data/onnx_more_refused.txt` lists the refused ones with reasons.
//! Bar: 145 of 149 pass, none wrong, none crashed.

use std::time::Duration;

use anyhow::Result;
use tegula_automation::outcome::Outcome;

use crate::onnx_cases::Suite;

const BAR: usize = 145;

const MODELS: Suite = Suite {
    verb: "onnx-more",
    folder: "onnx-more",
    scripts: &["onnx_model_cases", "onnx_node_cases"],
    refused: "onnx_more_refused.txt",
    bless: "onnx-more --bless",
    // The largest of the classifiers has 0.6 GB of weights.
    limit: Duration::from_secs(120),
    // Its classifiers take minutes.
    simulates: false,
};

pub fn run(args: &[String]) -> Result<Outcome> {
    MODELS.check(args, BAR)
}
