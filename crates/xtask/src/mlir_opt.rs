//! `mlir-opt`: upstream's `mlir-opt` reads every golden dump, and what `tegula compile --emit` prints of real models
//! on every level.  Golden files are `crates/*/tests/**/*.mlir` and `.tgt`; their parts are split at `// -----`.
//! Folders `error` and `verify` hold text that must be refused, and are left out, as are files whose first line says
//! `mlir-opt: refuses`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use tegula_automation::catalog::Catalog;
use tegula_automation::fetch::fetch;
use tegula_automation::outcome::Outcome;
use tegula_automation::shell::{Shell, have};
use tegula_automation::tegula_cli::Tegula;
use tegula_automation::workspace;

const NAMES: [&str; 3] = ["mlir-opt-22", "/usr/lib/llvm-22/bin/mlir-opt", "mlir-opt"];
const REFUSED_FOLDERS: [&str; 2] = ["error", "verify"];

const LEVELS: [&str; 6] = ["tensor", "kernels", "tile", "host", "schedule", "mlir"];
const MODEL: &str = "magika";

pub fn run(_args: &[String]) -> Result<Outcome> {
    let named = std::env::var("MLIR_OPT").ok();
    let Some(mlir_opt) = named.iter().map(String::as_str).chain(NAMES).find(|name| have(name)) else {
        println!("no mlir-opt: install MLIR 22 (Debian: apt-get install mlir-22-tools), or set MLIR_OPT");
        return Ok(Outcome::skip("no mlir-opt"));
    };
    let mut golden = workspace::files_with_extension(&workspace::root().join("crates"), "mlir")?;
    golden.extend(workspace::files_with_extension(&workspace::root().join("crates"), "tgt")?);
    let (mut read, mut refused) = (0, 0);
    for file in golden {
        if is_golden(&file)? {
            read += 1;
            refused += usize::from(!accepts(mlir_opt, &file)?);
        }
    }
    let dumps = dumps()?;
    for file in &dumps {
        refused += usize::from(!accepts(mlir_opt, file)?);
    }
    // Without any dump the check would hold for the wrong reason.
    Ok(Outcome::pass_if(refused == 0 && read > 0)
        .with("golden_files", read)
        .with("emitted", dumps.len())
        .with("refused", refused))
}

fn accepts(mlir_opt: &str, file: &Path) -> Result<bool> {
    let finished = Shell::new(mlir_opt)
        .args(["--allow-unregistered-dialect", "--split-input-file", "-o", "/dev/null"])
        .arg(file)
        .finish(None)?;
    if !finished.success() {
        println!("{}", finished.stderr.trim());
    }
    Ok(finished.success())
}

/// Every level of a small model and of a real one, as the command prints it.
fn dumps() -> Result<Vec<PathBuf>> {
    let tegula = Tegula::build()?;
    let folder = workspace::target().join("mlir-opt");
    fs::create_dir_all(&folder)?;
    let models = [
        ("double", workspace::root().join("crates/tegula/models/double.onnx")),
        (MODEL, fetch(&Catalog::load()?, MODEL)?),
    ];
    let mut dumps = Vec::new();
    for (name, model) in models {
        for level in LEVELS {
            let dump = folder.join(format!("{name}-{level}.mlir"));
            tegula.command().arg("compile").arg(&model).args(["--emit", level, "-o"]).arg(&dump).read()?;
            dumps.push(dump);
        }
    }
    Ok(dumps)
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
