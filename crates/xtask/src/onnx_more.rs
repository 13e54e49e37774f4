//! `onnx-more [--only PREFIX] [--bless]`: the onnx package's models beyond the node cases: small ones by hand, those that
//! PyTorch wrote, and nine classifiers whose weights are constants, with the results that come with them.
//! `data/onnx_more_refused.txt` lists the refused ones with reasons.
//! Bar: 145 of 149 pass, none wrong, none crashed.

use std::time::Duration;

use anyhow::{Result, ensure};

use crate::in_process;
use crate::onnx_cases::Suite;
use crate::outcome::Outcome;

const BAR: usize = 145;

const MODELS: Suite = Suite {
    verb: "onnx-more",
    folder: "onnx-more",
    scripts: &["onnx_model_cases.py", "onnx_node_cases.py"],
    refused: "onnx_more_refused.txt",
    bless: "onnx-more --bless",
    // The largest of the classifiers has 0.6 GB of weights.
    limit: Duration::from_secs(120),
    // Its classifiers take minutes.
    simulates: false,
};

pub fn run(args: &[String]) -> Result<Outcome> {
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    if has("--worker") {
        return MODELS.worker();
    }
    let only = args.iter().position(|arg| arg == "--only").and_then(|at| args.get(at + 1));
    MODELS.generate()?;
    let mut names: Vec<String> = MODELS.cases()?.into_keys().collect();
    names.retain(|name| only.is_none_or(|prefix| name.starts_with(prefix.as_str())));
    ensure!(!names.is_empty(), "no case is called `{}...`", only.map_or("", String::as_str));
    let judged = MODELS.judge(names, has("--bless"), only.is_none())?;
    let enough = only.is_some() || judged.passed() >= BAR;
    let outcome = Outcome::pass_if(judged.is_as_listed() && enough)
        .with("cases", judged.verdicts.len())
        .with("pass", judged.passed())
        .with("classes_left_out", in_process::simulated());
    Ok(judged.add_to(outcome))
}
