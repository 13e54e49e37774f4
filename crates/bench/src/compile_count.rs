//! `compile-count`: instructions of a whole process that compiles a model on one thread, as callgrind counts them.
//! `compile-time` has the bars, in time, which on one machine differs by a half within hours; here a change that costs
//! a percent is seen. `data/compile_count.txt` holds what was reached (`ratchet.rs`), with one version of rustc: another makes
//! other code of the same source.

use std::path::Path;

use anyhow::{Context, Result};
use tegula_automation::catalog::Catalog;
use tegula_automation::fetch::fetch;
use tegula_automation::outcome::Outcome;
use tegula_automation::shell::Shell;
use tegula_automation::{valgrind, workspace};

use crate::compile_time::large_graph;
use crate::ratchet::{self, Figures, Ratchet};

const RATCHET: Ratchet<1> = Ratchet {
    check: "compile-count",
    file: "compile_count.txt",
    about: "Instructions of a process that compiles a model on one thread.",
    names: ["instructions"],
    // Hashes have another secret in each process: two counts differ by some 0.01 %. What is left is for libraries.
    slack: 0.01,
};
/// A decoder written out nineteen times, whose 472 kernels differ in little more than an extent.
const MANY_KERNELS: &str = "g2p-tiny";
/// The machine class of the bars.
const CLASS: &str = "zen5";

pub fn run(_args: &[String]) -> Result<Outcome> {
    if !valgrind::is_installed() {
        return Ok(Outcome::skip("no valgrind"));
    }
    let version = Shell::new("rustc").arg("-V").read()?;
    let rustc = version.split_whitespace().take(2).collect::<Vec<_>>().join("-");
    if !RATCHET.has_class(&rustc)? && !ratchet::is_blessing() {
        println!("data/{} has no figures of {rustc}: `BLESS=1` writes them", RATCHET.file);
        return Ok(Outcome::skip("another rustc"));
    }
    let catalog = Catalog::load()?;
    workspace::build_tegula()?;
    let mut figures = Figures::new();
    for model in [large_graph(&catalog)?, fetch(&catalog, MANY_KERNELS)?] {
        let name = model.file_stem().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let count = compiling(&model).with_context(|| name.clone())?;
        println!("{name:26} {count:>13}");
        figures.insert((name, rustc.clone()), [count]);
    }
    Ok(RATCHET.judge(&figures, true)?.outcome(true))
}

fn compiling(model: &Path) -> Result<u64> {
    let compile = valgrind::counting(workspace::tegula_binary()).arg("compile").arg(model);
    let package = workspace::target().join("compile-count.tgl");
    let compile = compile.args(["--machine", CLASS, "--compile-threads", "1", "-o"]).arg(package);
    valgrind::count(&compile.read()?)
}
