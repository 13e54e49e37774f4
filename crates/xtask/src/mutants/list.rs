//! The list of faults, `data/mutants.toml`: a text of a file, what stands in its place, and who should notice.
//! `cargo xtask tidy` says where the list no longer fits the files ([`problems`]).

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use tegula_automation::workspace;

use super::found::Verdict;

/// The list, from the project's root.
pub const FILE: &str = "data/mutants.toml";

/// A shorter list would say little.
const LEAST: usize = 60;

/// Crates that are checks or automation themselves, which no check of the project checks.
const NO_FAULTS: &[&str] = &["automation", "bench", "checks", "fake-cuda", "xtask"];

/// One fault as a programmer could make it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    pub name: String,
    pub file: String,
    /// Stands in the file once.
    pub find: String,
    pub replace: String,
    /// The fault in plain words.
    pub says: String,
    /// The commands that should find it, cheapest first; the crate's own tests where none is named.
    #[serde(default)]
    pub checks: Vec<String>,
    /// Why no check finds it.
    pub missed: Option<String>,
}

#[derive(Deserialize)]
struct List {
    fault: Vec<Fault>,
}

impl Fault {
    pub fn crate_name(&self) -> &str {
        self.file.split('/').nth(1).unwrap_or_default()
    }

    pub fn checks(&self) -> Vec<String> {
        if self.checks.is_empty() { vec![own_tests(self.crate_name())] } else { self.checks.clone() }
    }

    pub fn expected(&self) -> Verdict {
        if self.missed.is_some() { Verdict::Missed } else { Verdict::Found }
    }

    /// Changes with all that decides whether it is found, the code apart.
    pub fn key(&self) -> String {
        let parts = [&self.file, &self.find, &self.replace, &self.checks().join("\n")];
        let hash = Sha256::digest(parts.map(String::as_str).join("\0"));
        hash[..4].iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

fn own_tests(crate_name: &str) -> String {
    let package =
        if crate_name == "tegula" { crate_name.to_string() } else { format!("tegula-{crate_name}") };
    format!("cargo test --profile ci -p {package}")
}

/// Errors: there is no list.
pub fn read() -> Result<Vec<Fault>> {
    let path = workspace::root().join(FILE);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let list: List = toml::from_str(&text).with_context(|| format!("{FILE} is no list of faults"))?;
    Ok(list.fault)
}

/// Where the list does not fit the files, or leaves something out.
pub fn problems(faults: &[Fault]) -> Result<Vec<String>> {
    let mut found = Vec::new();
    let mut names = BTreeSet::new();
    for fault in faults {
        let text = fs::read_to_string(workspace::root().join(&fault.file)).unwrap_or_default();
        found.extend(problem(fault, &text).map(|problem| format!("`{}` {problem}", fault.name)));
        if !names.insert(&fault.name) {
            found.push(format!("two faults are called `{}`", fault.name));
        }
    }
    if faults.len() < LEAST {
        found.push(format!("has {} faults, fewer than {LEAST}", faults.len()));
    }
    for entry in fs::read_dir(workspace::root().join("crates"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !NO_FAULTS.contains(&name.as_str()) && faults.iter().all(|fault| fault.crate_name() != name) {
            found.push(format!("has no fault in crate `{name}`"));
        }
    }
    found.sort();
    Ok(found)
}

fn problem(fault: &Fault, text: &str) -> Option<String> {
    match text.matches(&fault.find).count() {
        _ if fault.find == fault.replace => Some("changes nothing".to_string()),
        1 => None,
        count => Some(format!("looks for a text that is {count} times in {}", fault.file)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(find: &str, replace: &str) -> Fault {
        Fault {
            name: "sign".into(),
            file: "crates/base/src/dim.rs".into(),
            find: find.into(),
            replace: replace.into(),
            says: "A sign is wrong.".into(),
            checks: vec![],
            missed: None,
        }
    }

    #[test]
    fn a_text_stands_once_and_changes() {
        assert_eq!(problem(&fault("a + b", "a - b"), "x = a + b;"), None);
        let twice = problem(&fault("a", "b"), "a a").expect("a problem");
        assert_eq!(twice, "looks for a text that is 2 times in crates/base/src/dim.rs");
        assert!(problem(&fault("c", "b"), "a").is_some());
        assert!(problem(&fault("a", "a"), "a").is_some());
    }

    #[test]
    fn a_fault_is_looked_for_by_its_crate() {
        let mut sign = fault("a", "b");
        assert_eq!(sign.checks(), ["cargo test --profile ci -p tegula-base"]);
        assert_eq!(sign.expected(), Verdict::Found);
        let key = sign.key();
        sign.missed = Some("no test knows the sign".into());
        assert_eq!((sign.expected(), sign.key()), (Verdict::Missed, key.clone()));
        sign.checks = vec!["cargo xtask random --seeds 20".into()];
        assert_ne!(sign.key(), key);
    }
}
