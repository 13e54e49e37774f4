//! `memory [--all] [--only ID ...]`: peak anonymous memory of `tegula run FILE.tgl` on one thread, model by model.
//! Bar: the arena plus 30 MB.  Weights are mapped from the file and do not count.
//! Method: resident minus shared pages of /proc/PID/statm, read in a tight loop while the process lives.

use std::fs;
use std::process::Child;

use anyhow::{Context, Result, ensure};

use crate::baseline;
use crate::catalog::Catalog;
use crate::outcome::Outcome;
use crate::shell::Shell;
use crate::tegula_cli::{RunOptions, RunReport, Tegula};
use crate::workspace;

const ALLOWANCE: u64 = 30_000_000;

pub fn run(args: &[String]) -> Result<Outcome> {
    if !fs::exists("/proc/self/statm")? {
        return Ok(Outcome::skip("no /proc on this system"));
    }
    let catalog = Catalog::load()?;
    let tegula = Tegula::build()?;
    let page = page_size()?;
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
            let command = tegula.run_command(&package, &baseline.steps[0].inputs, &out, options);
            peak_of(command, page)
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
fn peak_of(command: Shell, page: u64) -> Result<(u64, u64)> {
    let mut child = command.converse()?;
    drop(child.stdin.take());
    let mut peak = 0;
    while child.try_wait()?.is_none() {
        peak = peak.max(anonymous_pages(&child).unwrap_or(0));
    }
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "`tegula run` ended with {}", output.status);
    let report: RunReport =
        serde_json::from_slice(&output.stdout).context("`tegula run --json` lacks a key")?;
    ensure!(peak > 0, "the run ended before its memory could be read");
    Ok((report.arena_bytes, peak * page))
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
