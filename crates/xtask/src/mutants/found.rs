//! What was found and by what, `data/mutants_found.json`: written after each fault, so that a run that is stopped goes on
//! where it was.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::fs;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use tegula_automation::shell::Shell;
use tegula_automation::workspace;

use super::list::Fault;

const FILE: &str = "mutants_found.json";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Found,
    Missed,
    /// A fault of the list: what does not compile says nothing of the checks.
    NotBuilt,
    /// The check fails without the fault, too.
    FailsWithout,
}

/// What came of one fault.
#[derive(Debug, Serialize, Deserialize)]
pub struct Found {
    verdict: Verdict,
    /// The test or the check that noticed; of what was not built, why.
    by: String,
    /// Of its row in the list ([`Fault::key`]).
    key: String,
    /// The commit that it was planted on.
    commit: String,
}

/// By the names of the faults.
#[derive(Debug, Default)]
pub struct Record(BTreeMap<String, Found>);

impl Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(match self {
            Verdict::Found => "found",
            Verdict::Missed => "missed",
            Verdict::NotBuilt => "not built",
            Verdict::FailsWithout => "fails without",
        })
    }
}

impl Found {
    pub fn now(fault: &Fault, verdict: Verdict, by: String) -> Result<Found> {
        let commit = Shell::new("git").args(["rev-parse", "--short=9", "HEAD"]).read()?;
        Ok(Found { verdict, by, key: fault.key(), commit: commit.trim().to_string() })
    }

    /// Two lines of the table that is printed.
    pub fn line(&self, fault: &Fault) -> String {
        format!("{:13} {:36} {}\n{:13} {}", self.verdict, fault.name, self.by, "", fault.says)
    }
}

impl Record {
    pub fn read() -> Result<Record> {
        let path = workspace::data(FILE);
        if !path.exists() {
            return Ok(Record::default());
        }
        let text = fs::read_to_string(&path)?;
        Ok(Record(serde_json::from_str(&text).with_context(|| format!("{FILE} is no list of results"))?))
    }

    pub fn forget(&mut self, is_asked: impl Fn(&str) -> bool) {
        self.0.retain(|name, _| !is_asked(name));
    }

    /// Drops what is no longer in the list as it was.
    pub fn keep(&mut self, faults: &[Fault]) {
        let stands =
            |name: &str, key: &str| faults.iter().any(|fault| fault.name == name && fault.key() == key);
        self.0.retain(|name, found| stands(name, &found.key));
    }

    pub fn verdict(&self, fault: &Fault) -> Option<Verdict> {
        self.0.get(&fault.name).map(|found| found.verdict)
    }

    pub fn has_found(&self, fault: &Fault) -> bool {
        self.verdict(fault) == Some(Verdict::Found)
    }

    /// One more, kept at once.
    pub fn add(&mut self, fault: &Fault, found: Found) -> Result<()> {
        self.0.insert(fault.name.clone(), found);
        fs::write(workspace::data(FILE), serde_json::to_string_pretty(&self.0)? + "\n")?;
        Ok(())
    }
}
