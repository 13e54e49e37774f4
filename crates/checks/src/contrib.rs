//! `contrib [--only PREFIX]`: cases of the ops of ONNX Runtime's own domain, drawn by `tegula_tools.contrib_cases` once for
//! each version of it, against what ONNX Runtime gave for them, on each tier.
//! Bar: all pass. Integers are equal; floats within the case's tolerance, as the node suite compares them.

use anyhow::Result;
use tegula_automation::catalog::Catalog;
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_automation::{python, workspace};

use crate::ort_cases;

pub fn run(args: &[String]) -> Result<Outcome> {
    let folder = workspace::target().join("contrib");
    python::run_once(&["contrib_cases", "independent_ops"], &Catalog::load()?, &folder)?;
    let (part, args) = Part::taken(args)?;
    ort_cases::judge(&folder, args.get(1).map_or("", String::as_str), part, None)
}
