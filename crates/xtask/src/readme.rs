//! `readme [--only PAGE]`: runs the commands of `README.md`, `docs/debug.md` and `docs/how-to` from their text: lines
//! `$ COMMAND` of ```console blocks, in order. Each must end with status 0.
//!
//! A page's commands run in a folder of its own with `model.onnx` and with `tegula` on the path; `cargo` and `git` run
//! in the project's root. What other checks run is only looked up: `cargo xtask VERB` (but `demo`), whose arguments must be
//! the verb's, `cargo test -p CRATE --test NAME`, whose file must be there, and `cargo build -p CRATE`.
//! A block that cannot run everywhere says why behind its language: ```console needs=gpu; its commands are looked up.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use tegula_automation::outcome::Outcome;
use tegula_automation::shell::Shell;
use tegula_automation::{verb, workspace};

/// The model of the pages; the README's first command fetches it.
const MODEL: &str = "magika.onnx";

/// What a block may need that not every machine has.
const NEEDS: &[&str] = &["gpu", "model", "network", "perf"];

pub fn run(args: &[String]) -> Result<Outcome> {
    let only = args.iter().skip_while(|arg| *arg != "--only").nth(1);
    let root = workspace::root();
    let binary = workspace::build_tegula()?;
    let (mut n_pages, mut ran, mut looked_up, mut failed) = (0, 0, 0, 0);
    for page in pages(&root)? {
        let name = page.strip_prefix(&root).unwrap_or(&page).to_string_lossy().into_owned();
        if only.is_some_and(|only| *only != name) {
            continue;
        }
        n_pages += 1;
        let text = fs::read_to_string(&page).with_context(|| format!("cannot read {name}"))?;
        let mut place = None;
        for command in commands(&text) {
            println!("{name}:{}: $ {}", command.line, command.text);
            let done = match command.looked_up() {
                Some(fault) => {
                    looked_up += 1;
                    fault
                }
                None if command.is_of_the_root() => {
                    ran += 1;
                    command.run(&root, &binary)
                }
                None => {
                    ran += 1;
                    let place = match &place {
                        Some(place) => place,
                        None => place.insert(fresh_place(&name)?),
                    };
                    command.run(place, &binary)
                }
            };
            if let Err(reason) = done {
                failed += 1;
                println!("FAIL {name}:{}: `{}`: {reason:#}", command.line, command.text);
            }
        }
    }
    Ok(Outcome::pass_if(failed == 0 && ran + looked_up > 0)
        .with("pages", n_pages)
        .with("ran", ran)
        .with("looked_up", looked_up)
        .with("failed", failed))
}

/// The README first: its first command fetches the model.
fn pages(root: &Path) -> Result<Vec<PathBuf>> {
    let mut pages = vec![root.join("README.md"), root.join("docs/debug.md")];
    pages.extend(workspace::files_with_extension(&root.join("docs/how-to"), "md")?);
    Ok(pages)
}

/// An empty folder with the model in it.
fn fresh_place(page: &str) -> Result<PathBuf> {
    let place = workspace::target().join("readme").join(page.replace(['/', '.'], "-"));
    if place.exists() {
        fs::remove_dir_all(&place)?;
    }
    fs::create_dir_all(&place)?;
    let model = workspace::models().join(MODEL);
    fs::copy(&model, place.join("model.onnx"))
        .with_context(|| format!("no {}; `cargo xtask demo` fetches it", model.display()))?;
    Ok(place)
}

#[derive(Debug, PartialEq)]
struct Command<'a> {
    /// Counted from 1.
    line: usize,
    text: &'a str,
    /// What the block needs, by its info string.
    needs: Option<&'a str>,
}

/// The commands of the console blocks, without the comments behind them.
fn commands(text: &str) -> Vec<Command<'_>> {
    let mut commands = Vec::new();
    let mut console: Option<Option<&str>> = None;
    let mut is_open = false;
    for (index, line) in text.lines().enumerate() {
        if let Some(info) = line.trim_start().strip_prefix("```") {
            is_open = !is_open;
            let is_console = is_open && info.split_whitespace().next() == Some("console");
            let needs = info.split_whitespace().find_map(|word| word.strip_prefix("needs="));
            console = is_console.then_some(needs);
        } else if let (Some(needs), Some(command)) = (console, line.trim_start().strip_prefix("$ ")) {
            let text = command.split("  #").next().unwrap_or(command).trim_end();
            commands.push(Command { line: index + 1, text, needs });
        }
    }
    commands
}

impl Command<'_> {
    /// What a look finds, of commands that do not run here; none of those that do.
    fn looked_up(&self) -> Option<Result<()>> {
        let words: Vec<&str> = self
            .text
            .split_whitespace()
            .skip_while(|word| word.contains('=') && !word.starts_with('-'))
            .collect();
        match words[..] {
            ["cargo", "xtask", "demo", ..] => None,
            ["cargo", "xtask"] => Some(Ok(())),
            ["cargo", "xtask", name, ref args @ ..] => Some(accepts(name, args)),
            ["cargo", "test" | "build" | "check", ref args @ ..] => Some(exist(args)),
            _ => self.needs.map(|needs| {
                ensure!(NEEDS.contains(&needs), "nothing is known as `needs={needs}`");
                ensure!(matches!(words.first(), Some(&"tegula" | &"pip" | &"perf")), "an unknown program");
                Ok(())
            }),
        }
    }

    fn is_of_the_root(&self) -> bool {
        ["cargo ", "git "].iter().any(|program| self.text.starts_with(program))
    }

    fn run(&self, place: &Path, binary: &Path) -> Result<()> {
        let folder = binary.parent().context("the command has no folder")?;
        let path = std::env::var("PATH").unwrap_or_default();
        let shell = Shell::new("bash").args(["-c", self.text]).dir(place);
        let code = shell.env("PATH", format!("{}:{path}", folder.display())).stream()?.code;
        ensure!(code == Some(0), "ended with status {code:?}");
        Ok(())
    }
}

/// Whether a verb is there and takes the arguments.
fn accepts(name: &str, args: &[&str]) -> Result<()> {
    let verb = verb::find(name).with_context(|| format!("no verb `{name}`"))?;
    verb.accepts(&args.iter().map(|arg| arg.to_string()).collect::<Vec<_>>())
}

/// Whether the crates and test files that cargo is to build are there.
fn exist(args: &[&str]) -> Result<()> {
    let root = workspace::root();
    let mut folders = Vec::new();
    for pair in args.windows(2) {
        match pair {
            ["-p", package] => {
                let folder = root.join("crates").join(package.trim_start_matches("tegula-"));
                ensure!(folder.join("Cargo.toml").exists(), "no crate `{package}`");
                folders.push(folder);
            }
            ["--test", name] => {
                let files = [format!("tests/{name}.rs"), format!("tests/{name}/main.rs")];
                let is_there =
                    folders.iter().any(|folder| files.iter().any(|file| folder.join(file).exists()));
                ensure!(is_there, "no test `{name}`");
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_console_blocks_hold_commands() {
        let text = "```console\n$ one  # why\noutput\n$ two 2\n```\n```text\n$ none\n```\n$ none\n```console needs=gpu\n$ three\n```\n";
        let found: Vec<_> = commands(text).into_iter().map(|found| (found.text, found.needs)).collect();
        assert_eq!(found, [("one", None), ("two 2", None), ("three", Some("gpu"))]);
    }

    #[test]
    fn what_other_checks_run_is_looked_up() {
        let look = |text, needs| Command { line: 1, text, needs }.looked_up().map(|found| found.is_ok());
        assert_eq!(look("cargo xtask demo README.md", None), None);
        assert_eq!(look("cargo xtask tidy --fast", None), Some(true));
        assert_eq!(look("cargo xtask tidy --no-such-flag", None), Some(false));
        assert_eq!(look("BLESS=1 cargo test -p tegula-opt --test pass", None), Some(true));
        assert_eq!(look("cargo test -p tegula-opt --test no_such_test", None), Some(false));
        assert_eq!(look("cargo build --release -p tegula-no-such-crate", None), Some(false));
        assert_eq!(look("tegula run model.onnx", None), None);
        assert_eq!(look("tegula run model.onnx --target cuda", Some("gpu")), Some(true));
        assert_eq!(look("tegula run model.onnx", Some("no such need")), Some(false));
    }
}
