//! Where things are: the project's root, `target/` and the built `tegula` binary.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use crate::shell::Shell;

/// The project's root directory, two above this crate.
pub fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).expect("invariant: the crate lies in crates/xtask").to_path_buf()
}

/// `target/`, or where `CARGO_TARGET_DIR` puts it.
pub fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => root().join(dir),
        None => root().join("target"),
    }
}

pub fn models() -> PathBuf {
    target().join("models")
}

pub fn tool(name: &str) -> PathBuf {
    root().join("tools").join(name)
}

pub fn data(name: &str) -> PathBuf {
    root().join("data").join(name)
}

/// Builds `tegula` in release mode and returns the binary's path.
pub fn build_tegula() -> Result<PathBuf> {
    Shell::new("cargo").args(["build", "--release", "--quiet", "-p", "tegula-cli"]).run()?;
    let binary = target().join("release/tegula");
    ensure!(binary.is_file(), "`cargo build -p tegula-cli` left no {}", binary.display());
    Ok(binary)
}
