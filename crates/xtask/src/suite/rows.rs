//! `data/checks.toml`: a row a check, with its lane, what decides its result and how long it may take.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};
use serde::Deserialize;

use tegula_automation::commits::Part;
use tegula_automation::workspace;

/// When a row runs; each lane runs the rows of those above it.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
pub enum Lane {
    /// Each commit: minutes.
    Commit,
    /// Before a change is taken: all that a commit's rows take in turns, and the rows that are too long for it.
    Merge,
    /// Full bars, hours. A row of this lane stands for the rows of its check above.
    Night,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The verb.
    pub name: String,
    #[serde(default)]
    pub args: Vec<String>,
    /// What the lane of commits gives in place of `args`: the same every time.
    pub commit_args: Option<Vec<String>>,
    pub lane: Lane,
    /// Of so many parts a commit runs the one whose turn it is (`--part K/N`).
    #[serde(default = "one")]
    pub parts: usize,
    /// Processors that it keeps busy.
    #[serde(default = "one")]
    pub cores: usize,
    /// Beginnings of the paths of the files that decide its result, beside the programs built; `.` is every file.
    pub inputs: Vec<String>,
    /// Tests of the crates must be built before.
    #[serde(default)]
    pub tests: bool,
    /// CPU seconds that it may take in its lane, on the machine of CI; the table marks a row beyond twice of it.
    pub budget: u64,
    /// Figures of its result that count cases, and how many there must be at least when it runs whole.
    #[serde(default)]
    pub cases: BTreeMap<String, u64>,
    /// It times something, and has the machine for itself.
    #[serde(default)]
    pub times: bool,
    /// Its programs are built as they are shipped.
    #[serde(default)]
    pub release: bool,
    /// It may skip: it needs a tool or a processor that not every machine has.
    #[serde(default)]
    pub may_skip: bool,
}

fn one() -> usize {
    1
}

#[derive(Deserialize)]
struct File {
    check: Vec<Row>,
}

/// All rows. Errors: the file is malformed.
pub fn read() -> Result<Vec<Row>> {
    let path = workspace::data("checks.toml");
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let file: File = toml::from_str(&text).with_context(|| format!("{} is malformed", path.display()))?;
    Ok(file.check)
}

/// The rows that a lane runs.
pub fn of_lane(rows: Vec<Row>, lane: Lane) -> Vec<Row> {
    if lane != Lane::Night {
        return rows.into_iter().filter(|row| row.lane <= lane).collect();
    }
    let at_night: Vec<String> =
        rows.iter().filter(|row| row.lane == Lane::Night).map(|row| row.name.clone()).collect();
    rows.into_iter().filter(|row| row.lane == Lane::Night || !at_night.contains(&row.name)).collect()
}

impl Row {
    /// The part that a lane runs at a number of commits.
    pub fn part(&self, lane: Lane, commits: usize) -> Part {
        if lane == Lane::Commit { Part::at(commits, self.parts) } else { Part::WHOLE }
    }

    /// The verb's arguments in a lane.
    pub fn arguments(&self, lane: Lane, part: Part) -> Vec<String> {
        let fixed = self.commit_args.as_ref().filter(|_| lane == Lane::Commit);
        let mut args = fixed.unwrap_or(&self.args).clone();
        if !part.is_whole() {
            args.extend(["--part".to_string(), part.to_string()]);
        }
        args
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tegula_automation::verb;

    #[test]
    fn rows_are_verbs_with_arguments_that_they_take() {
        for row in read().unwrap() {
            let verb = verb::find(&row.name).unwrap_or_else(|| panic!("no verb `{}`", row.name));
            for commits in 0..row.parts {
                for lane in [Lane::Commit, Lane::Merge] {
                    let args = row.arguments(lane, row.part(lane, commits));
                    assert!(verb.accepts(&args).is_ok(), "{} {args:?}", row.name);
                }
            }
            assert!((1..=6).contains(&row.parts), "{}: a case waits for more than six commits", row.name);
            assert!(row.budget > 0 && !row.inputs.is_empty() && row.cores > 0, "{}", row.name);
        }
    }

    /// What CI ran before there were lanes runs in one of them: the merge lane has each check, whole.
    #[test]
    fn each_check_is_in_the_merge_lane() {
        let rows = of_lane(read().unwrap(), Lane::Merge);
        let names = "tidy unit text mlir-opt gpu-ptxas gpu-encodings gpu gpu-kernels readme models decoders contrib drawn \
                     coverage onnx onnx-open onnx-more random bad-input reduce page wheel capi ratchets predicted \
                     null compile-count same-output gpu-model gpu-sim gpu-races gpu-random gpu-tileir gpu-compile-time fuzz \
                     lpu-example lpu-faults lpu-bad";
        for name in names.split_whitespace() {
            assert!(rows.iter().any(|row| row.name == name), "{name}");
        }
        let nights = of_lane(read().unwrap(), Lane::Night);
        for name in ["ulp", "compile-time", "memory", "identity", "speed"] {
            assert!(nights.iter().any(|row| row.name == name), "{name}");
        }
        assert!(rows.iter().all(|row| nights.iter().any(|night| night.name == row.name)));
    }
}
