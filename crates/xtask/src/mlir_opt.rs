//! `mlir-opt`: upstream's `mlir-opt` reads every golden dump.  Golden files are `crates/*/tests/**/*.mlir`; their
//! parts are split at `// -----`.  Folders `error` and `verify` hold text that must be refused, and are left out,
//! as are files whose first line says `mlir-opt: refuses`.

use std::fs;
use std::path::Path;

use anyhow::Result;

use crate::outcome::Outcome;
use crate::shell::{Shell, have};
use crate::workspace;

const NAMES: [&str; 3] = ["mlir-opt-22", "/usr/lib/llvm-22/bin/mlir-opt", "mlir-opt"];
const REFUSED_FOLDERS: [&str; 2] = ["error", "verify"];

pub fn run(_args: &[String]) -> Result<Outcome> {
    let named = std::env::var("MLIR_OPT").ok();
    let Some(mlir_opt) = named.iter().map(String::as_str).chain(NAMES).find(|name| have(name)) else {
        println!("no mlir-opt: install MLIR 22 (Debian: apt-get install mlir-22-tools), or set MLIR_OPT");
        return Ok(Outcome::skip("no mlir-opt"));
    };
    let (mut read, mut refused) = (0, 0);
    for file in workspace::files_with_extension(&workspace::root().join("crates"), "mlir")? {
        if !is_golden(&file)? {
            continue;
        }
        let finished = Shell::new(mlir_opt)
            .args(["--allow-unregistered-dialect", "--split-input-file", "-o", "/dev/null"])
            .arg(&file)
            .finish(None)?;
        read += 1;
        if !finished.success() {
            refused += 1;
            println!("{}", finished.stderr.trim());
        }
    }
    // Without any dump the check would hold for the wrong reason.
    Ok(Outcome::pass_if(refused == 0 && read > 0).with("files", read).with("refused", refused))
}

fn is_golden(file: &Path) -> Result<bool> {
    let in_tests = file.components().any(|part| part.as_os_str() == "tests");
    let refused =
        file.components().any(|part| REFUSED_FOLDERS.iter().any(|folder| part.as_os_str() == *folder));
    if !in_tests || refused {
        return Ok(false);
    }
    Ok(!fs::read_to_string(file)?.lines().next().is_some_and(|line| line.contains("mlir-opt: refuses")))
}
