//! Where things are: the project's root, `target/` and the built `tegula` binary.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use crate::shell::Shell;

/// The project's root directory, two above this crate; cargo says where the crate is now, the build where it was.
pub fn root() -> PathBuf {
    let built_at = env!("CARGO_MANIFEST_DIR");
    let manifest = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| built_at.to_string());
    let manifest = Path::new(&manifest);
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

/// All files below a directory in the order of their paths, `target` and hidden folders left out.
pub fn files_under(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut entries: Vec<PathBuf> =
        fs::read_dir(dir)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    entries.sort();
    for path in entries {
        let hidden =
            path.file_name().is_some_and(|name| name == "target" || name.to_string_lossy().starts_with('.'));
        if path.is_dir() {
            if !hidden {
                files.extend(files_under(&path)?);
            }
        } else {
            files.push(path);
        }
    }
    Ok(files)
}

pub fn files_with_extension(dir: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut files = files_under(dir)?;
    files.retain(|file| file.extension().is_some_and(|found| found == extension));
    Ok(files)
}

/// The `tegula` binary that the checks run: `TEGULA_BINARY`, or the release build.
pub fn tegula_binary() -> PathBuf {
    match std::env::var_os("TEGULA_BINARY") {
        Some(binary) => PathBuf::from(binary),
        None => target().join("release/tegula"),
    }
}

/// Builds `tegula` in release mode, unless `TEGULA_BINARY` names a binary to check; returns its path.
pub fn build_tegula() -> Result<PathBuf> {
    let binary = tegula_binary();
    if std::env::var_os("TEGULA_BINARY").is_some() {
        ensure!(binary.is_file(), "TEGULA_BINARY names {}, which is no file", binary.display());
        return Ok(binary);
    }
    Shell::new("cargo").args(["build", "--release", "-p", "tegula-cli"]).run()?;
    ensure!(binary.is_file(), "`cargo build -p tegula-cli` left no {}", binary.display());
    Ok(binary)
}

/// Builds a crate's library in release mode, with the command: alone it would have other features of crates that both
/// use, which would then be built twice.
pub fn build_library(package: &str) -> Result<()> {
    Shell::new("cargo").args(["build", "--release", "--quiet", "-p", "tegula-cli", "-p", package]).run()
}
