//! `drawn [--only PREFIX] [--seed N] [--count N]`: models of a node or a few, whose ops, attributes, shapes and types
//! `tegula_tools.drawn_cases` draws by a seed, against what ONNX Runtime gave for them, on each tier.
//! Bar: all of the fixed seed pass. Integers are equal, those that floats are rounded to within a step; floats are within
//! the case's tolerance.  Another seed looks for more.

use anyhow::Result;
use tegula_automation::catalog::Catalog;
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_automation::{python, workspace};

use crate::ort_cases;

const TOOLS: [&str; 10] = [
    "drawn_cases",
    "drawn.case",
    "drawn.elementwise",
    "drawn.features",
    "drawn.movement",
    "drawn.networks",
    "drawn.products",
    "drawn.resizing",
    "drawn.sequences",
    "drawn.windows",
];

pub fn run(args: &[String]) -> Result<Outcome> {
    let (part, args) = Part::taken(args)?;
    let (mut prefix, mut drawing) = ("", Vec::new());
    for pair in args.chunks_exact(2) {
        match pair[0].as_str() {
            "--only" => prefix = &pair[1],
            _ => drawing.extend([pair[0].as_str(), pair[1].as_str()]),
        }
    }
    let folder = workspace::target().join(if drawing.is_empty() { "drawn" } else { "drawn-more" });
    python::run_once_with(&drawing, &TOOLS, &Catalog::load()?, &folder)?;
    ort_cases::judge(&folder, prefix, part, 0)
}
