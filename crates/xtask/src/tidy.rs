//! `tidy [--fast]`: the project's own rules, then `cargo fmt --check` and `cargo clippy` (left out by `--fast`).
//! `docs/ops.md` must be what the definitions say (`cargo xtask op-reference`). Rules of crates are in `tidy/crates.rs`, of files in
//! `tidy/files.rs`, of Markdown in `tidy/markdown.rs`.

mod crates;
mod files;
mod markdown;

use std::fmt::Display;
use std::path::Path;

use anyhow::{Context, Result};
use tegula_automation::outcome::Outcome;
use tegula_automation::shell::Shell;
use tegula_automation::{verb, workspace};

use crate::mutants::list;
use crate::{docs, programs};

/// What breaks a rule, as `path:line: message`.
#[derive(Default)]
pub struct Findings(Vec<String>);

impl Findings {
    /// `line` counts from 1; 0 means the whole file.
    pub fn add(&mut self, file: &Path, line: usize, message: impl Display) {
        let root = workspace::root();
        let file = file.strip_prefix(&root).unwrap_or(file).display();
        self.0.push(if line == 0 {
            format!("{file}: {message}")
        } else {
            format!("{file}:{line}: {message}")
        });
    }
}

pub fn run(args: &[String]) -> Result<Outcome> {
    let mut findings = Findings::default();
    crates::check(&mut findings)?;
    let n_files = files::check(&mut findings)?;
    // What is wrong it prints itself.
    let op_reference = verb::find("op-reference").context("no verb `op-reference`")?;
    let is_stale = !programs::built(op_reference)?.args(["op-reference", "--check"]).status()?.success();
    if is_stale {
        let message = "is not what the definitions say; `cargo xtask op-reference` writes it";
        findings.add(&workspace::root().join("docs/ops.md"), 0, message);
    }
    markdown::check(&mut findings)?;
    for page in docs::stale()? {
        findings.add(&page, 0, "is not what the data say; `cargo xtask docs` writes it");
    }
    for problem in list::problems(&list::read()?)? {
        findings.add(&workspace::root().join(list::FILE), 0, problem);
    }
    for finding in &findings.0 {
        println!("{finding}");
    }
    let outcome = |holds| Outcome::pass_if(holds).with("files", n_files).with("findings", findings.0.len());
    if args.iter().any(|arg| arg == "--fast") {
        return Ok(outcome(findings.0.is_empty()));
    }
    let cargo = |args: &[&str]| Shell::new("cargo").args(args).run().is_ok();
    let formatted = cargo(&["fmt", "--all", "--check"]);
    // Of the profile that CI builds: what derives code is built once.
    let lint = [
        "clippy",
        "--quiet",
        "--profile",
        workspace::CI,
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    let lints = cargo(&lint);
    Ok(outcome(findings.0.is_empty() && formatted && lints)
        .with("formatted", formatted)
        .with("clippy", lints))
}
