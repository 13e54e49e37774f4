//! `ratchets`: bytes of code, instructions run and bytes moved by the kernels of small models (`tegula_tools.ratchet_models`),
//! as the emitted code has them: block sizes times trip counts (`tegula_target_cpu::count`), on one thread.
//! Compile time follows code size. `data/ratchets.txt` holds what was reached (`ratchet.rs`).
//! On the AVX2 tier callgrind counts the same runs where valgrind is installed, and must agree but for [`SLACK`].

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result, anyhow, ensure};
use tegula_automation::catalog::Catalog;
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_automation::{python, valgrind, workspace};
use tegula_checks::in_process;
use tegula_driver::Form;
use tegula_driver::predict::{Programs, count, planned};
use tegula_package::{Package, isa};
use tegula_target_cpu::count::Tally;

use crate::ratchet::{Figures, Ratchet};

const RATCHET: Ratchet<4> = Ratchet {
    check: "ratchets",
    file: "ratchets.txt",
    about: "Bytes of code; instructions, bytes read and bytes written of a run on one thread, as the code has them.",
    names: ["bytes of code", "instructions", "bytes read", "bytes written"],
    slack: 0.0,
};
/// Machine classes whose code is counted; the first runs under callgrind.
const CLASSES: [&str; 2] = ["avx2-generic", "zen5"];
/// What callgrind may count more: the runtime's own instructions between launches; and less, as a share.
const SLACK: f64 = 0.03;
/// The runtime's instructions of a run that has a few launches.
const OF_RUNTIME: f64 = 6000.0;
const RUNS: u64 = 3;

pub fn run(args: &[String]) -> Result<Outcome> {
    let folder = workspace::target().join("ratchets");
    let tools = ["ratchet_models", "fit_models", "kernel_models"];
    python::run_once(&tools, &Catalog::load()?, &folder)?;
    workspace::build_tegula()?;
    let part = Part::asked(args)?;
    let models = part.take(workspace::files_with_extension(&folder, "onnx")?);
    ensure!(!models.is_empty(), "there are no models in {}", folder.display());
    let is_watched = valgrind::is_installed();
    let (mut figures, mut disagree, mut worst) = (Figures::new(), 0, 0.0f64);
    for model in &models {
        let name = model.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        for class in CLASSES {
            let package = compile(model, class).with_context(|| format!("{name} for {class}"))?;
            let (code, tally) = tally(package.clone()).with_context(|| format!("{name} for {class}"))?;
            if class == CLASSES[0] && is_watched {
                let file = model.with_extension("tgl");
                fs::write(&file, package)?;
                let counted = counted(&file)?;
                let off = off(tally.instructions as f64, counted);
                worst = worst.max(off.abs());
                if off.abs() > SLACK {
                    disagree += 1;
                    println!(
                        "{name}: {} instructions as emitted, {counted} by callgrind",
                        tally.instructions
                    );
                }
            }
            let key = (name.clone(), class.to_string());
            figures.insert(key, [code, tally.instructions, tally.bytes_read, tally.bytes_written]);
        }
    }
    let judged = RATCHET.judge(&figures, part.is_whole())?;
    Ok(judged
        .outcome(disagree == 0)
        .with("callgrind", is_watched)
        .with("disagree", disagree)
        .with("worst", format!("{worst:.4}")))
}

fn compile(model: &Path, class: &str) -> Result<bytes::Bytes> {
    let compiled = in_process::compile_bytes(&fs::read(model)?, class, Form::Machine);
    compiled.and_then(in_process::package).map_err(|found| anyhow!("{found}"))
}

/// Bytes of a package's code, and what all its launches do.
fn tally(package: bytes::Bytes) -> Result<(u64, Tally)> {
    let package = Package::parse(package).map_err(|found| anyhow!("{found}"))?;
    let machine_code = package.program.images.iter().filter(|image| image.isa == isa::X86_64);
    let code = machine_code.map(|image| image.len).sum();
    let (mut programs, mut sum) = (Programs::default(), Tally::default());
    for launch in planned(&package).map_err(|found| anyhow!("{found}"))? {
        let tally = count(&mut programs, &package, &launch).map_err(|found| anyhow!("{found}"))?;
        sum.add(&tally.context("a launch is no machine code")?);
    }
    ensure!(sum.calls == 0, "the code calls functions, whose instructions are not counted");
    Ok((code, sum))
}

/// Instructions of one run, by callgrind: those of a process with more runs less those of one with fewer.
fn counted(package: &Path) -> Result<f64> {
    let whole = |runs: u64| -> Result<u64> {
        let mut child = valgrind::counting(workspace::tegula_binary())
            .arg("bench")
            .arg(package)
            .args(["--serve-rounds", "--threads", "1"])
            .converse()?;
        let mut stdin = child.stdin.take().context("the process has no stdin")?;
        writeln!(stdin, "run {runs}")?;
        drop(stdin);
        let output = child.wait_with_output()?;
        valgrind::count(&String::from_utf8_lossy(&output.stdout))
    };
    let (few, many) = (whole(1)?, whole(1 + RUNS)?);
    Ok(many.saturating_sub(few) as f64 / RUNS as f64)
}

/// By which share callgrind's count is off, the runtime's part aside.
fn off(emitted: f64, counted: f64) -> f64 {
    let more = counted - emitted;
    if (0.0..OF_RUNTIME).contains(&more) { 0.0 } else { (more - OF_RUNTIME.min(more.max(0.0))) / emitted }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callgrind_may_count_the_runtime_too() {
        assert_eq!(off(1e6, 1e6), 0.0);
        assert_eq!(off(1e6, 1e6 + OF_RUNTIME - 1.0), 0.0);
        assert!(off(1e6, 1e6 + OF_RUNTIME + 4e4) > SLACK);
        assert!(off(1e6, 0.96e6) < -SLACK);
    }
}
