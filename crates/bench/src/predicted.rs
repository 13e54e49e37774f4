//! `predicted`: how long each model of `data/models.json`, and each derived from them, should take on one
//! core of machines whose bars are not measured in every run of CI, by the timing model of the emitted code
//! (`tegula_perf::cpu`). The code runs, on the simulator where this processor lacks its instructions; its time here does
//! not count, nor do launches of native Rust. Bar: no model's time rises above what `data/predicted.txt` holds, but for
//! [`RATCHET`]'s slack.
//!
//! `ratchets` counts kernels of fixed sizes; here are open sizes, loops, and what kernels do to each other's caches.

use std::fs;
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result, anyhow};
use tegula_automation::baseline::{self, Baseline};
use tegula_automation::catalog::Catalog;
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_checks::in_process::{self, guarded, keep_panics};
use tegula_checks::npy::read_npy;
use tegula_driver::Form;
use tegula_driver::predict::predict;
use tegula_machine::Machine;
use tegula_runtime::TensorView;

use crate::ratchet::{Figures, Ratchet};

const RATCHET: Ratchet<1> = Ratchet {
    check: "predicted",
    file: "predicted.txt",
    about: "Nanoseconds that a run should take on one core, caches as a run before left them.",
    names: ["predicted ns"],
    // Where buffers lie decides which lines of a cache they share: two runs differ by up to 1 %.
    slack: 0.02,
};
/// The bars' machine, and one of the AVX2 tier.
const CLASSES: [&str; 2] = ["zen5", "zen3"];

pub fn run(args: &[String]) -> Result<Outcome> {
    let part = Part::asked(args)?;
    let catalog = Catalog::load()?;
    let baselines = baseline::prepare(&catalog, &part.take(catalog.known_models()))?;
    let subjects = baselines.iter().filter(|baseline| baseline.shape_set == "run_shapes");
    let jobs = Mutex::new(subjects.flat_map(|baseline| CLASSES.map(|class| (baseline, class))));
    let next = || jobs.lock().expect("invariant: no thread panics with the jobs").next();
    let work = || {
        let (mut figures, mut failed) = (Figures::new(), 0);
        while let Some((baseline, class)) = next() {
            let found = guarded(|| predicted(baseline, class));
            match found.unwrap_or_else(|panic| Err(anyhow!("panic: {panic}"))) {
                Ok(ns) => {
                    println!("{:24} {class:6} {:>11.1} us", baseline.id, ns / 1e3);
                    figures.insert((baseline.id.clone(), class.to_string()), [ns.round() as u64]);
                }
                Err(error) => {
                    println!("{:24} {class:6} FAIL {error:#}", baseline.id);
                    failed += 1;
                }
            }
        }
        (figures, failed)
    };
    keep_panics();
    let found: Vec<_> = thread::scope(|scope| {
        let count = thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..count).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().expect("invariant: panics are caught")).collect()
    });
    let failed: usize = found.iter().map(|(_, failed)| failed).sum();
    if failed > 0 {
        // Blessed, the file would lose the figures of those that failed.
        return Ok(Outcome::fail().with("failed", failed));
    }
    let figures = found.into_iter().flat_map(|(figures, _)| figures).collect();
    Ok(RATCHET.judge(&figures, part.is_whole())?.outcome(true).with("failed", failed))
}

/// Nanoseconds of a run.
fn predicted(baseline: &Baseline, class: &str) -> Result<f64> {
    let inputs = &baseline.steps.first().context("the baseline has no step")?.inputs;
    let inputs = inputs.iter().map(|(name, file)| Ok((name.as_str(), read_npy(file)?)));
    let inputs = inputs.collect::<Result<Vec<_>>>()?;
    let compiled = in_process::compile_bytes(&fs::read(&baseline.model)?, class, Form::Machine);
    let session = compiled.and_then(in_process::package);
    let session = session.and_then(|package| in_process::session_of(class, package, 1));
    let session = session.map_err(|found| anyhow!("{found}"))?;
    let named: Vec<(&str, TensorView)> =
        inputs.iter().map(|(name, tensor)| (*name, TensorView::from(tensor))).collect();
    let views = session.in_order(&named).map_err(|found| anyhow!("{found}"))?;
    let profile = session.run_profiled(&views, &mut Vec::new()).map_err(|found| anyhow!("{found}"))?;
    let machine = Machine::class(class);
    let cpu = machine.as_ref().and_then(Machine::cpu).context("the class is no CPU")?;
    let core = cpu.core.as_ref().context("the class has no model of its core")?;
    let predictions = predict(session.package(), &profile, cpu, core).map_err(|found| anyhow!("{found}"))?;
    let times = predictions.iter().flatten().map(|prediction| prediction.time.0);
    Ok(times.sum())
}
