//! What rows came to, for the reader: `target/checks/results.json` after each run, and `data/status.json` where `--record`
//! asks for it. A row of the latter was run on a clean tree, whose commit it names.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use tegula_automation::shell::Shell;
use tegula_automation::workspace;

/// All rows, in the order of check and machine.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Records {
    pub rows: Vec<Record>,
}

/// A check's result.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct Record {
    /// The verb and its arguments.
    pub check: String,
    pub holds: bool,
    /// The figures of its result line.
    pub counts: BTreeMap<String, String>,
    /// The commit it ran on; these four are not known of rows that were written by hand.
    pub commit: Option<String>,
    /// The machine class of the processor, or its name where the command was not built.
    pub machine: Option<String>,
    /// Of the run, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// Wall-clock time.
    pub seconds: Option<f64>,
}

/// What all records of a run share.
pub struct Place {
    commit: String,
    machine: String,
    date: String,
}

impl Place {
    /// This commit, machine and day. Errors: git's.
    pub fn here() -> Result<Place> {
        let read = |program: &str, args: &[&str]| Shell::new(program).args(args).read();
        Ok(Place {
            commit: read("git", &["rev-parse", "--short=10", "HEAD"])?.trim().to_string(),
            machine: class().unwrap_or_else(processor),
            date: read("date", &["-u", "+%F"])?.trim().to_string(),
        })
    }

    /// `line`: `RESULT <name> pass key=value ...`.
    pub fn record(&self, check: &str, line: &str, seconds: f64) -> Record {
        let words: Vec<&str> = line.split_whitespace().skip(2).collect();
        let counts = words.iter().filter_map(|word| word.split_once('='));
        Record {
            check: check.to_string(),
            holds: words.first() == Some(&"pass"),
            counts: counts.map(|(key, value)| (key.to_string(), value.to_string())).collect(),
            commit: Some(self.commit.clone()),
            machine: Some(self.machine.clone()),
            date: Some(self.date.clone()),
            seconds: Some((seconds * 10.0).round() / 10.0),
        }
    }
}

/// What the command says of this processor; none where it was not built.
fn class() -> Option<String> {
    let binary = workspace::tegula_binary();
    let said = Shell::new(&binary).args(["machine", "probe", "--json"]);
    let facts: serde_json::Value = serde_json::from_str(&said.read().ok()?).ok()?;
    facts["class"].as_str().map(str::to_string)
}

fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    name.map_or("unknown", |(_, name)| name.trim()).to_string()
}

/// Replaces the rows of `data/status.json` that were run; the others stay. Errors: the tree has changes, so that no commit
/// names what was run.
pub fn keep(records: &[Record]) -> Result<()> {
    ensure_clean()?;
    let status = workspace::data("status.json");
    write(&status, merged(read(&status)?, records))
}

/// Errors: the tree has changes.
pub fn ensure_clean() -> Result<()> {
    let changes =
        Shell::new("git").args(["status", "--porcelain", "--", ".", ":!data/status.json"]).read()?;
    if !changes.trim().is_empty() {
        bail!("`--record` needs a clean tree; git names changes:\n{}", changes.trim_end());
    }
    Ok(())
}

/// All rows of a file, none where there is no file.
fn read(file: &Path) -> Result<Vec<Record>> {
    if !file.exists() {
        return Ok(Vec::new());
    }
    let records: Result<Records, _> = serde_json::from_str(&fs::read_to_string(file)?);
    Ok(records.with_context(|| format!("{} is malformed", file.display()))?.rows)
}

pub fn write(file: &Path, rows: Vec<Record>) -> Result<()> {
    let text = serde_json::to_string_pretty(&Records { rows })? + "\n";
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

fn merged(known: Vec<Record>, new: &[Record]) -> Vec<Record> {
    let all = known.into_iter().chain(new.iter().cloned());
    let key = |record: &Record| (record.check.clone(), record.machine.clone());
    let by_key: BTreeMap<_, Record> = all.map(|record| (key(&record), record)).collect();
    by_key.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_replace_rows_of_their_name() {
        let place =
            |commit: &str| Place { commit: commit.into(), machine: "m".into(), date: "2026-01-01".into() };
        let old = place("a").record("onnx", "RESULT onnx fail cases=3 wrong=1", 2.0);
        let other = place("a").record("drawn", "RESULT drawn pass cases=9", 2.0);
        let new = place("b").record("onnx", "RESULT onnx pass cases=4 wrong=0", 1.26);
        assert!(!old.holds && new.holds);
        assert_eq!((new.counts["cases"].as_str(), new.seconds), ("4", Some(1.3)));
        assert_eq!(merged(vec![old, other.clone()], std::slice::from_ref(&new)), [other, new]);
    }
}
