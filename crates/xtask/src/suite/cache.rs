//! Which rows need not run again: those that passed here on the same inputs.
//! A row's key is a hash of its arguments, of the files that its `inputs` name and of the programs built. Keys of rows
//! that passed lie in `target/checks`. In CI, whose clone is clean, nothing is cached.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use tegula_automation::fetch::hash_file;
use tegula_automation::shell::own_program;
use tegula_automation::{verb, workspace};

use super::rows::Row;

/// A row that passed.
#[derive(Serialize, Deserialize)]
struct Kept {
    key: String,
    line: String,
}

/// Hashes of the project's files and of its programs.
pub struct Inputs {
    files: BTreeMap<String, String>,
}

impl Inputs {
    /// Reads every file that git tracks, or would.
    pub fn read() -> Result<Inputs> {
        let root = workspace::root();
        let mut files = BTreeMap::new();
        for file in workspace::tracked_files(&root)? {
            let name = file.strip_prefix(&root).unwrap_or(&file).to_string_lossy().into_owned();
            files.insert(name, hash_file(&file)?);
        }
        Ok(Inputs { files })
    }

    /// What decides a row's result: the same key, the same result.
    pub fn key(&self, row: &Row, args: &[String]) -> Result<String> {
        let mut hasher = Sha256::new();
        let mut add = |text: &str| {
            hasher.update(text.as_bytes());
            hasher.update([0]);
        };
        add(&row.name);
        args.iter().for_each(|arg| add(arg));
        // A bar that is raised is not reached by an old result.
        row.cases.iter().for_each(|(figure, least)| add(&format!("{figure}={least}")));
        let is_input =
            |file: &str| row.inputs.iter().any(|input| input == "." || file.starts_with(input.as_str()));
        for (file, hash) in self.files.iter().filter(|(file, _)| is_input(file)) {
            add(file);
            add(hash);
        }
        for program in programs(row)? {
            add(&hash_file(&program)?);
        }
        Ok(hasher.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect())
    }
}

/// The built files that a row runs, this program first.
fn programs(row: &Row) -> Result<Vec<PathBuf>> {
    let mut found = vec![own_program()?];
    if verb::find(&row.name).is_some_and(|verb| !verb.packages().is_empty()) {
        let folder = workspace::target().join(if row.release { workspace::RELEASE } else { workspace::CI });
        let names =
            ["tegula", "tegula-checks", "tegula-bench", "libtegula_capi.so", "libtegula_fake_cuda.so"];
        found.extend(names.iter().map(|name| folder.join(name)).filter(|file| file.exists()));
    }
    Ok(found)
}

/// Whether results of earlier runs may stand for new ones here.
pub fn is_allowed() -> bool {
    !std::env::var("CI").is_ok_and(|value| value == "true" || value == "1")
}

/// The result line of a row that passed with this key.
pub fn passed(row: &Row, args: &[String], key: &str) -> Option<String> {
    let kept: Kept = serde_json::from_str(&fs::read_to_string(file(row, args)).ok()?).ok()?;
    (kept.key == key).then_some(kept.line)
}

pub fn keep(row: &Row, args: &[String], key: &str, line: &str) -> Result<()> {
    let file = file(row, args);
    let text = serde_json::to_string(&Kept { key: key.to_string(), line: line.to_string() })?;
    fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))
}

/// Where output and results of rows lie.
pub fn folder() -> PathBuf {
    workspace::target().join("checks")
}

/// The name of a row's files: the verb and its arguments.
pub fn stem(row: &Row, args: &[String]) -> String {
    let words: Vec<&str> = std::iter::once(&row.name).chain(args).map(String::as_str).collect();
    words
        .join("_")
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' })
        .collect()
}

fn file(row: &Row, args: &[String]) -> PathBuf {
    folder().join(format!("{}.passed.json", stem(row, args)))
}
