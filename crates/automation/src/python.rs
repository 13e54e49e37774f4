//! Python environments: `target/venv` with the pinned packages of `data/models.json`, `target/peers` with its peers, and
//! those that a check makes for itself; and the project's own scripts, the package `tegula_tools` beside this crate.
//! Nothing is installed outside `target/`.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::catalog::Catalog;
use crate::shell::{Shell, have};
use crate::workspace;

/// A script of `tegula_tools`, to be given its arguments.
pub fn script(python: impl AsRef<OsStr>, name: &str) -> Shell {
    Shell::new(python).env("PYTHONPATH", folder()).arg("-m").arg(format!("tegula_tools.{name}"))
}

/// What the package lies in.
fn folder() -> PathBuf {
    workspace::root().join("crates/automation/python")
}

/// A module's file.
fn file(name: &str) -> PathBuf {
    folder().join("tegula_tools").join(name.replace('.', "/")).with_extension("py")
}

/// The environment's interpreter; makes the environment where there is none.
pub fn interpreter() -> Result<PathBuf> {
    environment(&workspace::target().join("venv"))
}

/// The interpreter of the environment in a folder, made where there is none.
pub fn environment(venv: &Path) -> Result<PathBuf> {
    let python = venv.join("bin/python");
    if python.exists() && works(&python) {
        return Ok(python);
    }
    if !have("python3") {
        bail!(
            "python3 is missing: install Python 3.11 or newer (Debian, Ubuntu: apt-get install python3 python3-venv)"
        );
    }
    println!("making {}", venv.display());
    let made = Shell::new("python3").args(["-m", "venv", "--clear"]).arg(venv).finish(None)?;
    if !made.success() || !works(&python) {
        bail!(
            "`python3 -m venv` failed; install the venv module (Debian, Ubuntu: apt-get install python3-venv): {}",
            made.stderr.trim()
        );
    }
    Ok(python)
}

/// The interpreter with every pinned package installed at its pinned version.
pub fn with_pins(catalog: &Catalog) -> Result<PathBuf> {
    let wanted = catalog.pins.iter().map(|(package, version)| format!("{package}=={version}"));
    holding(&workspace::target().join("venv"), &wanted.collect::<Vec<String>>())
}

/// The interpreter of `target/peers` with the engines that only `bench` needs.
pub fn with_peers(catalog: &Catalog) -> Result<PathBuf> {
    let engines = catalog.peers.iter().map(|(package, version)| format!("{package}=={version}"));
    let wanted: Result<Vec<String>> = engines.map(Ok).chain([pinned(catalog, "numpy")]).collect();
    holding(&workspace::target().join("peers"), &wanted?)
}

/// The interpreter of the environment in a folder, with packages installed; they are installed once.
fn holding(venv: &Path, wanted: &[String]) -> Result<PathBuf> {
    let python = environment(venv)?;
    let stamp = venv.join("pins.txt");
    let listed = wanted.join("\n");
    if fs::read_to_string(&stamp).is_ok_and(|text| text == listed) {
        return Ok(python);
    }
    println!("installing {}", wanted.join(" "));
    install(&python, wanted).with_context(|| {
        "pip could not install the pinned packages; Python 3.11 or newer and a reachable package index are needed"
    })?;
    fs::write(&stamp, listed)?;
    Ok(python)
}

/// Runs a tool that fills a folder, once for each version of it and of the pinned packages.
/// `tools`: the module to run, then those that it imports.
pub fn run_once(tools: &[&str], catalog: &Catalog, folder: &Path) -> Result<()> {
    run_once_with(&[], tools, catalog, folder)
}

/// As [`run_once`], once for each choice of arguments too.
pub fn run_once_with(args: &[&str], tools: &[&str], catalog: &Catalog, folder: &Path) -> Result<()> {
    let mut key = format!("{:?}\n{}", catalog.pins, args.join(" "));
    for tool in tools {
        let file = file(tool);
        key += &fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    }
    let stamp = folder.join("generated_by.txt");
    if fs::read_to_string(&stamp).is_ok_and(|made_by| made_by == key) {
        return Ok(());
    }
    let python = with_pins(catalog)?;
    fs::create_dir_all(folder)?;
    script(python, tools[0]).arg(folder).args(args).run()?;
    fs::write(stamp, key)?;
    Ok(())
}

/// Installs into an environment. Errors: pip's.
pub fn install(python: &Path, wanted: &[String]) -> Result<()> {
    Shell::new(python).args(["-m", "pip", "install", "--quiet"]).args(wanted).run()
}

/// A package at the version that `data/models.json` pins. Errors: it pins none.
pub fn pinned(catalog: &Catalog, package: &str) -> Result<String> {
    let version = catalog.pins.get(package).with_context(|| format!("`{package}` is not pinned"))?;
    Ok(format!("{package}=={version}"))
}

fn works(python: &Path) -> bool {
    Shell::new(python).args(["-m", "pip", "--version"]).finish(None).is_ok_and(|finished| finished.success())
}
