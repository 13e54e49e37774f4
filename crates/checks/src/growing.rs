//! `growing [--only PREFIX] [--part K/N]`: loops whose carried values grow, shrink, or start empty, some ended by their data
//! (`tegula_tools.growing_cases`), against what ONNX Runtime gave for them, on each tier.
//! Bar: none is wrong; at most one in twenty is refused.

use anyhow::Result;
use tegula_automation::catalog::Catalog;
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_automation::{python, workspace};

use crate::ort_cases;

/// At most one run in so many is refused.
const REFUSED_IN: usize = 20;

pub fn run(args: &[String]) -> Result<Outcome> {
    let (part, args) = Part::taken(args)?;
    let prefix = args.get(1).map_or("", String::as_str);
    let folder = workspace::target().join("growing");
    python::run_once(&["growing_cases"], &Catalog::load()?, &folder)?;
    ort_cases::judge(&folder, prefix, part, Some(REFUSED_IN))
}
