//! `drawn [--only PREFIX] [--seed N] [--count N] [--plant FAULT]`: models of a node or a few, whose ops, attributes, shapes and types
//! `tegula_tools.drawn_cases` draws by a seed, against what ONNX Runtime gave for them, on each tier.
//! Bar: all of the fixed seed pass. Integers are equal; of results rounded to 8 bits, an independent evaluation judges, and
//! at most 1 % of the elements are a step off; floats are within the case's tolerance.  Another seed looks for more.
//! With `--plant one-step` or `--plant floor` such results are made wrong; passes if each is found.

use anyhow::Result;
use tegula_automation::catalog::Catalog;
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_automation::{python, workspace};

use crate::ort_cases::{self, Fault};

const TOOLS: [&str; 11] = [
    "drawn_cases",
    "independent_ops",
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
    let (mut prefix, mut drawing, mut fault) = ("", Vec::new(), None);
    for pair in args.chunks_exact(2) {
        match pair[0].as_str() {
            "--only" => prefix = &pair[1],
            "--plant" => fault = Some(Fault::named(&pair[1])?),
            _ => drawing.extend([pair[0].as_str(), pair[1].as_str()]),
        }
    }
    let folder = workspace::target().join(if drawing.is_empty() { "drawn" } else { "drawn-more" });
    python::run_once_with(&drawing, &TOOLS, &Catalog::load()?, &folder)?;
    match fault {
        Some(fault) => ort_cases::find_planted(&folder, prefix, part, fault),
        None => ort_cases::judge(&folder, prefix, part, None),
    }
}
