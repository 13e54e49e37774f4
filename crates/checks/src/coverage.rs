//! `coverage`: counts, at run time, the launches of every checked model that were emitted machine code, the
//! interpreter or runtime kernels, in both tiers, at both shape sets.
//! Bar: no portable launch, and runtime kernels only for the rare ops named here.  Also: `runtime` links no evaluator.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};
use tegula_automation::baseline::{self, Baseline};
use tegula_automation::catalog::Catalog;
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_automation::shell::Shell;
use tegula_automation::tegula_cli::{Launches, RunOptions, Tegula};
use tegula_automation::workspace;

use crate::in_process::is_simulated;

/// Tiers and machine classes of them, best first, of which the first that runs here is taken; if none does, the best is
/// simulated.
const TIERS: [(&str, &[&str]); 2] =
    [("avx2", &["avx2-generic"]), ("avx512", &["sapphire-rapids", "ice-lake-server"])];

/// Rare ops that are runtime kernels by design.
const NATIVE_BY_DESIGN: &[&str] = &["sort", "top_k", "unique", "non_zero", "non_max_suppression"];

/// Crates that know an IR or evaluate one; the runtime's tree has none of them.
const NOT_IN_RUNTIME: &[&str] =
    &["tegula-tensor", "tegula-tile", "tegula-host", "tegula-ir", "tegula-mlir", "tegula-opt"];

pub fn run(args: &[String]) -> Result<Outcome> {
    let catalog = Catalog::load()?;
    let tegula = Tegula::build()?;
    let baselines = baseline::prepare(&catalog, &Part::asked(args)?.take(catalog.checked.clone()))?;
    let (mut emitted, mut portable, mut failed) = (0, 0, 0);
    let mut natives: BTreeMap<String, u64> = BTreeMap::new();
    println!(
        "{:8} {:22} {:13} {:>8} {:>8} {:>7}",
        "tier", "model", "shapes", "emitted", "portable", "native"
    );
    for (tier, classes) in TIERS {
        let class = classes.iter().find(|class| !is_simulated(class)).unwrap_or(&classes[0]);
        for baseline in &baselines {
            let row = format!("{tier:8} {:22} {:13}", baseline.id, baseline.shape_set);
            let launches = match launches(&tegula, baseline, class) {
                Ok(launches) => launches,
                Err(error) => {
                    println!("{row} FAIL {error:#}");
                    failed += 1;
                    continue;
                }
            };
            let n_native: u64 = launches.native.values().sum();
            println!("{row} {:>8} {:>8} {n_native:>7}", launches.emitted, launches.portable);
            emitted += launches.emitted;
            portable += launches.portable;
            for (kernel, count) in launches.native {
                *natives.entry(kernel).or_default() += count;
            }
        }
    }
    let mut unplanned = 0;
    for (kernel, count) in &natives {
        let by_design = NATIVE_BY_DESIGN.contains(&kernel.as_str());
        println!("native {kernel}: {count} launches{}", if by_design { "" } else { ", not by design" });
        unplanned += if by_design { 0 } else { *count };
    }
    let linked = linked_into_runtime()?;
    let holds = failed == 0 && portable == 0 && unplanned == 0 && linked.is_empty() && emitted > 0;
    Ok(Outcome::pass_if(holds)
        .with("emitted", emitted)
        .with("portable", portable)
        .with("native", natives.values().sum::<u64>())
        .with("native_not_by_design", unplanned)
        .with("failed", failed)
        .with("runtime_links", if linked.is_empty() { "no_ir".to_string() } else { linked.join(",") }))
}

fn launches(tegula: &Tegula, baseline: &Baseline, class: &str) -> Result<Launches> {
    let dir = workspace::target().join("packages");
    fs::create_dir_all(&dir)?;
    let package = dir.join(format!("{}-{class}.tgl", baseline.id));
    let tegula = tegula.for_class(class, is_simulated(class));
    tegula.compile(&baseline.model, &package)?;
    let out = workspace::target().join("run").join("coverage");
    let inputs = &baseline.steps.first().context("the baseline has no step")?.inputs;
    let options = RunOptions { threads: 2, ..RunOptions::default() };
    let report =
        tegula.run_files(&package, inputs, &out, options).map_err(|error| anyhow::anyhow!("{error:?}"))?;
    report.launches.context("`tegula run --json` lacks `launches`")
}

/// Which crates that know an IR stand in the runtime's dependency tree.
fn linked_into_runtime() -> Result<Vec<&'static str>> {
    let tree = Shell::new("cargo")
        .args(["tree", "-p", "tegula-runtime", "-e", "normal", "--prefix", "none"])
        .read()?;
    let in_tree = |name: &&str| tree.lines().any(|line| line.split(' ').next() == Some(*name));
    Ok(NOT_IN_RUNTIME.iter().copied().filter(in_tree).collect())
}
