//! The text tests' file form: a sentence and the input, a line `// -----`, the blessed result.

#![allow(dead_code, reason = "each test binary uses its part")]

pub mod mutate;

use std::path::{Path, PathBuf};

pub const RULE: &str = "// -----\n";

/// Every `.mlir` file of a folder beside this one, by name.
pub fn cases(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable folder").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "mlir"));
    paths.sort();
    assert!(!paths.is_empty(), "no cases in {}", folder.display());
    paths
}

/// Input and blessed result of a case.
pub fn read(path: &Path) -> (String, String) {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let (input, blessed) = text.split_once(RULE).unwrap_or_else(|| panic!("{}: no rule", path.display()));
    (input.to_owned(), blessed.to_owned())
}
