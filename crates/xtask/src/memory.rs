//! `memory [--all] [--only ID ...]`: peak anonymous memory of `tegula run FILE.tgl` on one thread, model by model.
//! Bar: the arena plus 30 MB.  Weights are mapped from the file and do not count.
//! Method: resident minus shared pages of /proc/PID/statm, read in a tight loop while the process lives. A run that the
//! loop hardly met, as a short one beside other work, is run again.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::Child;
use std::thread;

use anyhow::{Context, Result, bail, ensure};

use crate::baseline;
use crate::catalog::Catalog;
use crate::outcome::Outcome;
use crate::shell::Shell;
use crate::tegula_cli::{RunOptions, RunReport, Tegula};
use crate::workspace;

const ALLOWANCE: u64 = 30_000_000;
/// Between fewer looks at a run its peak may have come and gone.
const LOOKS: usize = 50;
const TRIES: usize = 10;

pub fn run(args: &[String]) -> Result<Outcome> {
    if !fs::exists("/proc/self/statm")? {
        return Ok(Outcome::skip("no /proc on this system"));
    }
    let catalog = Catalog::load()?;
    let tegula = Tegula::build()?;
    let dir = workspace::target().join("packages");
    fs::create_dir_all(&dir)?;
    println!("{:22} {:13} {:>9} {:>9} {:>9}", "model", "shapes", "arena MB", "peak MB", "bar MB");
    let (mut failed, mut worst) = (0, 0.0f64);
    for baseline in baseline::prepare(&catalog, &catalog.selected(args))? {
        let package = dir.join(format!("{}.tgl", baseline.id));
        let row = (|| -> Result<(u64, u64)> {
            tegula.compile(&baseline.model, &package)?;
            let out = workspace::target().join("run").join("memory");
            fs::create_dir_all(&out)?;
            let options = RunOptions { threads: 1, ..RunOptions::default() };
            arena_and_peak(|| tegula.run_command(&package, &baseline.steps[0].inputs, &out, options))
        })();
        let name = format!("{:22} {:13}", baseline.id, baseline.shape_set);
        match row {
            Ok((arena, peak)) => {
                let bar = arena + ALLOWANCE;
                let mb = |bytes: u64| bytes as f64 / 1e6;
                println!("{name} {:9.1} {:9.1} {:9.1}", mb(arena), mb(peak), mb(bar));
                worst = worst.max(peak as f64 / bar as f64);
                failed += usize::from(peak > bar);
            }
            Err(error) => {
                println!("{name} FAIL {error:#}");
                failed += 1;
            }
        }
    }
    Ok(Outcome::pass_if(failed == 0).with("failed", failed).with("worst_share_of_bar", format!("{worst:.2}")))
}

/// The arena's bytes as the run reports them, and the peak of its anonymous memory.
/// Errors: it fails, or is over too soon each time.
fn arena_and_peak(run: impl Fn() -> Shell) -> Result<(u64, u64)> {
    for _ in 0..TRIES {
        let (stdout, peak, looks) = peak_of(run())?;
        if looks >= LOOKS {
            let report: RunReport =
                serde_json::from_slice(&stdout).context("`tegula run --json` lacks a key")?;
            return Ok((report.arena_bytes, peak));
        }
    }
    bail!("in none of {TRIES} runs could its memory be read {LOOKS} times")
}

/// What a process says, the peak of its anonymous memory in bytes until it ends, and how often that was read.
/// Errors: it fails.
fn peak_of(command: Shell) -> Result<(Vec<u8>, u64, usize)> {
    let page = page_size()?;
    let mut child = command.converse()?;
    drop(child.stdin.take());
    let (mut peak, mut looks) = (0, 0);
    while child.try_wait()?.is_none() {
        if let Some(pages) = anonymous_pages(&child) {
            peak = peak.max(pages);
            looks += 1;
        }
    }
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "the process ended with {}", output.status);
    Ok((output.stdout, peak * page, looks))
}

/// The peak of a process's anonymous memory in bytes, until it has said `n_lines` lines to a request on its stdin; it
/// must not end before. Errors: it does.
pub fn peak_until(command: Shell, request: &str, n_lines: usize) -> Result<u64> {
    let page = page_size()?;
    let mut child = command.converse()?;
    let mut stdin = child.stdin.take().context("the process has no stdin")?;
    let stdout = BufReader::new(child.stdout.take().context("the process has no stdout")?);
    stdin.write_all(request.as_bytes())?;
    let answers = thread::spawn(move || stdout.lines().map_while(Result::ok).take(n_lines).count());
    let mut peak = 0;
    while !answers.is_finished() {
        peak = peak.max(anonymous_pages(&child).unwrap_or(0));
    }
    // What it holds now, too: a short run may have come and gone between two looks.
    let at_rest = anonymous_pages(&child);
    drop(stdin);
    child.kill()?;
    child.wait()?;
    let said = answers.join().unwrap_or(0);
    ensure!(said == n_lines, "the process ended after {said} of {n_lines} answers");
    Ok(peak.max(at_rest.unwrap_or(0)) * page)
}

/// Fields of statm, in pages: size, resident, shared (file-backed), ...; none once the process is gone.
fn anonymous_pages(child: &Child) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{}/statm", child.id())).ok()?;
    let mut fields = text.split_whitespace().skip(1).map(str::parse::<u64>);
    let (resident, shared) = (fields.next()?.ok()?, fields.next()?.ok()?);
    resident.checked_sub(shared)
}

fn page_size() -> Result<u64> {
    let text = Shell::new("getconf").arg("PAGESIZE").read()?;
    text.trim().parse().context("`getconf PAGESIZE` printed no number")
}
