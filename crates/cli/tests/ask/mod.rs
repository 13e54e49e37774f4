//! Asks the command as a user does.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

pub const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tegula/models/double.onnx");

/// A folder of its own for a test, empty.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

pub fn tegula(args: &[&str]) -> Output {
    tegula_in(Path::new("."), args)
}

/// Where names of files are relative to a folder.
pub fn tegula_in(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tegula")).current_dir(folder).args(args).output().unwrap()
}

/// stdout of a command that succeeds.
pub fn done(args: &[&str]) -> String {
    let output = tegula(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Exit code and stderr of a command that fails.
pub fn refused(args: &[&str]) -> String {
    let output = tegula(args);
    let stderr = String::from_utf8(output.stderr).unwrap();
    format!("{}: {stderr}", output.status.code().unwrap())
}
