//! `contrib [--only PREFIX]`: cases of the ops of ONNX Runtime's own domain, drawn by `tools/contrib_cases.py` once for
//! each version of it, against what ONNX Runtime gave for them, on each tier.
//! Bar: all pass. Integers are equal; floats within the case's tolerance, as the node suite compares them.

use anyhow::Result;

use crate::catalog::Catalog;
use crate::outcome::Outcome;
use crate::{ort_cases, python, workspace};

pub fn run(args: &[String]) -> Result<Outcome> {
    let folder = workspace::target().join("contrib");
    python::run_once(&["contrib_cases.py"], &Catalog::load()?, &folder)?;
    ort_cases::judge(&folder, args.get(1).map_or("", String::as_str))
}
