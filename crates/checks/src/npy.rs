//! Tensors of this process and the files in which the command has them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use tegula_automation::tegula_cli::{RunError, RunOptions, Tegula};
use tegula_base::{HostTensor, npy};

pub fn read_npy(file: &Path) -> Result<HostTensor> {
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    match npy::decode(&bytes) {
        Ok(tensor) => Ok(tensor),
        Err(diagnostic) => bail!("{}: {}", file.display(), diagnostic.message),
    }
}

pub fn write_npy(file: &Path, tensor: &HostTensor) -> Result<()> {
    fs::write(file, npy::encode(tensor)).with_context(|| format!("cannot write {}", file.display()))
}

/// Runs a model or package once on inputs in files, and reads the outputs.
pub fn run(
    tegula: &Tegula,
    model: &Path,
    inputs: &BTreeMap<String, PathBuf>,
    output_dir: &Path,
    options: RunOptions,
) -> Result<BTreeMap<String, HostTensor>, RunError> {
    let report = tegula.run_files(model, inputs, output_dir, options)?;
    let mut tensors = BTreeMap::new();
    for output in report.outputs {
        let tensor = read_npy(&output.path_in(output_dir));
        tensors.insert(output.name, tensor.map_err(|error| RunError::Crashed(format!("{error:#}")))?);
    }
    Ok(tensors)
}
