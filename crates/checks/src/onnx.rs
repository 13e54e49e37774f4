//! `onnx [--all] [--only PREFIX] [--bless]`: the node cases of the onnx package through the CPU target,
//! every input given at run time.  Without `--all`: the core cases of `data/onnx_core.txt`.
//! `data/onnx_refused.txt` lists the refused cases with reasons.
//! Bar: all but 12 of the core pass, 1,780 of all; none wrong, none crashed.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_automation::workspace;
use tegula_testkit::onnx_suite::Verdict;

use crate::in_process;
use crate::onnx_cases::Suite;

/// Of the core cases, all but twelve: two of them align corners otherwise (`data/open_rows.txt`). Of all cases.
const CORE_BAR: usize = 1401;
const BAR: usize = 1780;

pub const NODES: Suite = Suite {
    verb: "onnx",
    folder: "onnx-node",
    scripts: &["onnx_node_cases"],
    refused: "onnx_refused.txt",
    bless: "onnx --all --bless",
    limit: Duration::from_secs(20),
    simulates: true,
};

pub fn run(args: &[String]) -> Result<Outcome> {
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    if has("--worker") {
        return NODES.worker();
    }
    let only = args.iter().position(|arg| arg == "--only").and_then(|at| args.get(at + 1));
    NODES.generate()?;
    let core: Vec<String> = core_cases()?;
    let every = has("--all") || only.is_some();
    let mut names = if every { NODES.cases()?.into_keys().collect() } else { core.clone() };
    if let Some(prefix) = only {
        names.retain(|name: &String| name.starts_with(prefix.as_str()));
    }
    let part = Part::asked(args)?;
    names = part.take(names);
    ensure!(!names.is_empty(), "no case is called `{}...`", only.map_or("", String::as_str));
    let judged = NODES.judge(names, has("--bless"), has("--all") && only.is_none() && part.is_whole())?;
    let core_pass = core.iter().filter(|name| judged.verdicts.get(*name) == Some(&Verdict::Pass)).count();
    let enough = only.is_some()
        || !part.is_whole()
        || core_pass >= CORE_BAR && (!has("--all") || judged.passed() >= BAR);
    let outcome = Outcome::pass_if(judged.is_as_listed() && enough)
        .with("cases", judged.verdicts.len())
        .with("pass", judged.passed())
        .with("core_pass", format!("{core_pass}/{}", core.len()))
        .with("simulated", in_process::simulated());
    Ok(judged.add_to(outcome))
}

/// The names of the core cases.
pub fn core_cases() -> Result<Vec<String>> {
    lines_of("onnx_core.txt")
}

fn lines_of(name: &str) -> Result<Vec<String>> {
    let path = workspace::data(name);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text.lines().filter(|line| !line.is_empty()).map(str::to_string).collect())
}
