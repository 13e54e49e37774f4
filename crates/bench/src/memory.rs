//! `memory [--all] [--only ID ...]`: peak anonymous memory of `tegula run FILE.tgl` on one thread, model by model.
//! Bar: the arena plus 30 MB.  Weights are mapped from the file and do not count.
//! How it is seen: `peak_memory.rs`.

use std::fs;

use anyhow::{Context, Result, ensure};
use tegula_automation::baseline;
use tegula_automation::catalog::Catalog;
use tegula_automation::outcome::Outcome;
use tegula_automation::shell::Shell;
use tegula_automation::tegula_cli::{RunOptions, RunReport, Tegula};
use tegula_automation::workspace;

use crate::peak_memory::{Watch, peak};

const ALLOWANCE: u64 = 30_000_000;

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
            let inputs = &baseline.steps[0].inputs;
            let run = |watch: &mut Watch| watched(tegula.run_command(&package, inputs, &out, options), watch);
            let (said, bytes) = peak(run)?;
            let report: RunReport =
                serde_json::from_slice(&said).context("`tegula run --json` lacks a key")?;
            Ok((report.arena_bytes, bytes))
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

/// What a process says before it ends. Errors: it fails.
fn watched(command: Shell, watch: &mut Watch) -> Result<Vec<u8>> {
    let mut child = command.converse()?;
    drop(child.stdin.take());
    watch.until_end(&mut child)?;
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "the process ended with {}", output.status);
    Ok(output.stdout)
}
