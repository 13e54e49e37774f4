//! The copy of the checkout that faults are planted in, `target/mutants/checkout`, and the checks that run there. What they
//! build is kept in `target/mutants/target`: a fault costs the crates that use its file.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tegula_automation::shell::Shell;
use tegula_automation::workspace;

use super::list::Fault;

/// A check that takes longer has found a loop without an end.
const SECONDS: &str = "1200";
/// The exit status of `timeout` where the time was over.
const TOO_LONG: i32 = 124;

pub struct Copy {
    root: PathBuf,
}

/// What a check says.
#[derive(Debug, PartialEq)]
pub enum Answer {
    Holds,
    /// The first test that failed, or what else there is.
    Fails(String),
    /// The compiler's first error.
    NotBuilt(String),
}

impl Copy {
    /// All files that git tracks or would track; one that is the same keeps its time, so that nothing is built again.
    pub fn of_checkout() -> Result<Copy> {
        let from = workspace::root();
        let copy = Copy { root: workspace::target().join("mutants/checkout") };
        let files = workspace::tracked_files(&from)?;
        let names: Vec<&Path> = files.iter().filter_map(|file| file.strip_prefix(&from).ok()).collect();
        for name in &names {
            replace(&copy.root.join(name), &fs::read(from.join(name))?)?;
        }
        for old in workspace::files_under(&copy.root.join("crates"))? {
            if old.strip_prefix(&copy.root).is_ok_and(|name| !names.contains(&name)) {
                fs::remove_file(old)?;
            }
        }
        Ok(copy)
    }

    /// Runs `f` while the fault is in its file.
    pub fn with<T>(&self, fault: &Fault, f: impl FnOnce() -> Result<T>) -> Result<T> {
        let path = self.root.join(&fault.file);
        let right = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        fs::write(&path, right.replacen(&fault.find, &fault.replace, 1))?;
        let result = f();
        fs::write(&path, right)?;
        result
    }

    /// Runs a command of `cargo` in the copy.
    pub fn ask(&self, check: &str) -> Result<Answer> {
        let finished = Shell::new("timeout")
            .args(["--kill-after=5", SECONDS])
            .args(check.split_whitespace())
            .dir(&self.root)
            .env("CARGO_TARGET_DIR", self.root.with_file_name("target"))
            .env("CARGO_INCREMENTAL", "1")
            .finish(None)?;
        Ok(answer(finished.code(), &finished.stdout, &finished.stderr))
    }
}

/// Writes a file unless it says that already.
fn replace(path: &Path, content: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    fs::create_dir_all(path.parent().context("a file is in a folder")?)?;
    fs::write(path, content).with_context(|| format!("cannot write {}", path.display()))
}

fn answer(code: Option<i32>, stdout: &str, stderr: &str) -> Answer {
    // A check that its machine has no tool for notices nothing.
    if code == Some(0) || code == Some(3) {
        return Answer::Holds;
    }
    if stderr.contains("error: could not compile") {
        let first = stderr.lines().find(|line| line.starts_with("error")).unwrap_or_default();
        return Answer::NotBuilt(first.to_string());
    }
    if code == Some(TOO_LONG) {
        return Answer::Fails(format!("no end within {SECONDS} s"));
    }
    let failed = |line: &str| line.strip_prefix("test ")?.strip_suffix(" ... FAILED").map(str::to_string);
    let result = |line: &str| line.starts_with("RESULT ").then(|| line.to_string());
    let said = |line: &str| line.starts_with("error").then(|| line.to_string());
    let first = stdout.lines().find_map(failed).or_else(|| stdout.lines().find_map(result));
    Answer::Fails(first.or_else(|| stderr.lines().find_map(said)).unwrap_or_else(|| "a failure".to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_told_from_what_does_not_compile() {
        let fails = |by: &str| Answer::Fails(by.to_string());
        let tests = "running 2 tests\ntest a::b ... ok\ntest a::c ... FAILED\ntest result: FAILED.\n";
        assert_eq!(answer(Some(101), tests, "error: test failed\n"), fails("a::c"));
        assert_eq!(answer(Some(1), "RESULT random fail wrong=1\n", ""), fails("RESULT random fail wrong=1"));
        let compiler = "error[E0308]: mismatched types\nerror: could not compile `a` (lib)\n";
        assert_eq!(
            answer(Some(101), "", compiler),
            Answer::NotBuilt("error[E0308]: mismatched types".into())
        );
        assert_eq!(answer(None, "", "error: signal 11\n"), fails("error: signal 11"));
        assert_eq!(answer(Some(TOO_LONG), "", ""), fails("no end within 1200 s"));
        assert_eq!((answer(Some(0), "", ""), answer(Some(3), "", "")), (Answer::Holds, Answer::Holds));
    }
}
