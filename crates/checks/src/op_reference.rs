//! `op-reference [--check]`: writes `docs/ops.md` from the definitions: the ops of the tensor level with their
//! constraints, and the ops of ONNX that the importer takes. `--check` only compares; `tidy` does so too.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use tegula_automation::outcome::Outcome;
use tegula_automation::workspace;
use tegula_import::onnx::{ONNX, OPSETS, supported};
use tegula_tensor::reference_markdown;

pub fn run(args: &[String]) -> Result<Outcome> {
    let stale = is_stale()?;
    let check = args.iter().any(|arg| arg == "--check");
    if stale && !check {
        fs::write(path(), text())?;
    }
    Ok(Outcome::pass_if(!(stale && check)).with("onnx_ops", ranges().len()).with("stale", stale))
}

/// Whether `docs/ops.md` differs from what the definitions say.
pub fn is_stale() -> Result<bool> {
    let path = path();
    Ok(!path.exists() || fs::read_to_string(path)? != text())
}

pub fn path() -> PathBuf {
    workspace::root().join("docs/ops.md")
}

fn text() -> String {
    let mut text = reference_markdown();
    text += "\n# ONNX ops\n\n";
    text += &format!(
        "What the importer takes, with the versions of the op's domain; opsets {} to {} of ONNX's own domain are read.\n",
        OPSETS.start(),
        OPSETS.end()
    );
    text += "An op is read in opsets older than it, too; in opsets before 7 where it meant the same there. Functions that a model brings are copied in; an op that is not listed is refused with its reason.\n";
    text += "Ops are defined in `crates/import/src/onnx/ops`.\n";
    let mut current = None;
    for ((domain, name), ranges) in ranges() {
        if current != Some(domain) {
            text += &format!("\n## `{domain}`\n\n| op | versions |\n|---|---|\n");
            current = Some(domain);
        }
        let ranges: Vec<String> = ranges.into_iter().map(|range| words(domain, range)).collect();
        text += &format!("| `{name}` | {} |\n", ranges.join(", "));
    }
    text += "\n## Costs and limits worth knowing\n\n| op | what |\n|---|---|\n";
    for (op, what) in WORTH_KNOWING {
        text += &format!("| {op} | {what} |\n");
    }
    text
}

/// What a decomposition costs beyond what its op would need, and where it stops.
const WORTH_KNOWING: &[(&str, &str)] = &[
    (
        "`DeformConv`",
        "gathers what the kernel sees into columns: its elements times those of the input, four reads each (of 2-D data)",
    ),
    (
        "`RoiAlign`",
        "four reads a sample, then a sum: about three times what ONNX Runtime takes (300 regions of 7 by 7, one thread); with a `sampling_ratio` of 0 every region has room for the samples of the largest one",
    ),
    (
        "`DFT`, `STFT`",
        "a product with a matrix of sines and cosines, which is computed at compile time up to some 1024 places; two smaller ones where a complex signal has a constant composite length; an axis that is known only at run time must follow from the declared shape, or not change it",
    ),
    ("`LinearAttention`", "one token after another; `chunk_size` is not used"),
    ("`TfIdfVectorizer`", "compares every window with every n-gram of its length; whole numbers only"),
    (
        "`If`",
        "branches whose results differ in rank are taken where the condition is known before the run, or where both are one element: then in the larger rank; a branch that does not fit the inputs' sizes stops the run that takes it",
    ),
    ("random ops", "the same numbers in every run; see `docs/numerics.md`"),
    ("`ai.onnx.ml` trees", "all rows go down all trees a level a round; the deepest tree decides"),
    ("`ai.onnx.ml` labels", "whole numbers only; `OneHotEncoder` with `zeros` of 0 is refused"),
];

/// First and last version, both included.
type Range = (i64, i64);

/// Each op's versions; ranges that touch are one, and an op of ONNX has none that is not read.
fn ranges() -> BTreeMap<(&'static str, &'static str), Vec<Range>> {
    let mut all: BTreeMap<_, Vec<Range>> = BTreeMap::new();
    for (domain, name, since, until) in supported() {
        let list = all.entry((domain, name)).or_default();
        match list.last_mut() {
            Some(last) if last.1 >= since - 1 => last.1 = last.1.max(until),
            _ => list.push((since, until)),
        }
    }
    all
}

fn words(domain: &str, (since, until): Range) -> String {
    let newest = (domain == ONNX).then_some(*OPSETS.end());
    match (since, newest.unwrap_or(i64::MAX).min(until)) {
        (since, i64::MAX) if since <= 1 => "all".to_string(),
        (since, i64::MAX) => format!("from {since}"),
        (since, until) if since == until => since.to_string(),
        (since, until) => format!("{since} to {until}"),
    }
}
