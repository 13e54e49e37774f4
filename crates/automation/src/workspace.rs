//! Where things are: the project's root, `target/` and what cargo builds.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Result, ensure};

use crate::shell::Shell;

/// The project's root directory, two above this crate; cargo says where the crate is now, the build where it was.
pub fn root() -> PathBuf {
    let built_at = env!("CARGO_MANIFEST_DIR");
    let manifest = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_else(|_| built_at.to_string());
    let manifest = Path::new(&manifest);
    manifest.ancestors().nth(2).expect("invariant: the crate lies two folders down").to_path_buf()
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

/// Every file that git tracks or would track, in the order of their paths: no folder's name hides code.
/// Errors: git's; `dir` is in no repository.
pub fn tracked_files(dir: &Path) -> Result<Vec<PathBuf>> {
    let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let listed = Shell::new("git").args(args).dir(dir).read()?;
    let mut files: Vec<PathBuf> =
        listed.split('\0').filter(|name| !name.is_empty()).map(|name| dir.join(name)).collect();
    files.sort();
    files.dedup();
    // Deleted ones are listed until the deletion is staged; links to folders are no files.
    files.retain(|file| file.is_file());
    Ok(files)
}

/// The folder of data that some checks need and this project does not hold: `TEGULA_DATA`. Where it is not set, or names
/// no folder, such a check skips with [`NO_DATA`] as its reason.
pub fn data_dir() -> Option<PathBuf> {
    std::env::var_os("TEGULA_DATA").map(PathBuf::from).filter(|dir| dir.is_dir())
}

pub const NO_DATA: &str = "TEGULA_DATA names no folder";

// --- what cargo builds -----------------------------------------------------------------------------------------

/// The profile of all that checks build, and that of what is shipped and timed.
pub const CI: &str = "ci";
pub const RELEASE: &str = "release";

static PROFILE: OnceLock<&'static str> = OnceLock::new();

/// What this program builds is of a profile, unless `TEGULA_PROFILE` names another.
pub fn build_as(profile: &'static str) {
    // A program runs one verb.
    let _ = PROFILE.set(profile);
}

/// The cargo profile of what this program builds.
pub fn profile() -> String {
    let own = PROFILE.get().copied().unwrap_or(CI);
    std::env::var("TEGULA_PROFILE").unwrap_or_else(|_| own.to_string())
}

/// Where cargo puts what is built.
pub fn built() -> PathBuf {
    target().join(match profile().as_str() {
        "dev" => "debug".to_string(),
        profile => profile.to_string(),
    })
}

/// Whether who started this program has built all that it needs (`TEGULA_BUILT`).
pub fn is_built() -> bool {
    std::env::var_os("TEGULA_BUILT").is_some()
}

/// Builds packages, unless that was done. Those of one call have the same features.
pub fn build(packages: &[&str]) -> Result<()> {
    if packages.is_empty() || is_built() {
        return Ok(());
    }
    let named = packages.iter().flat_map(|package| ["-p", package]);
    Shell::new("cargo").args(["build", "--profile", &profile()]).args(named).run()
}

/// The `tegula` binary that the checks run: `TEGULA_BINARY`, or what was built.
pub fn tegula_binary() -> PathBuf {
    std::env::var_os("TEGULA_BINARY").map_or_else(|| built().join("tegula"), PathBuf::from)
}

/// Builds `tegula`, unless `TEGULA_BINARY` names a binary to check; returns its path.
pub fn build_tegula() -> Result<PathBuf> {
    let binary = tegula_binary();
    if std::env::var_os("TEGULA_BINARY").is_some() {
        ensure!(binary.is_file(), "TEGULA_BINARY names {}, which is no file", binary.display());
        return Ok(binary);
    }
    build(&["tegula-cli"])?;
    ensure!(binary.is_file(), "`cargo build -p tegula-cli` left no {}", binary.display());
    Ok(binary)
}

/// Builds a crate's library with the command: alone it would have other features of crates that both use, which would then
/// be built twice.
pub fn build_library(package: &str) -> Result<()> {
    build(&["tegula-cli", package])
}
