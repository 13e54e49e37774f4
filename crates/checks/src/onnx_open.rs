//! `onnx-open [--only PREFIX] [--bless]`: the onnx package's node cases with every size of every input open, each a symbol
//! of its own. What a size decides is then asked at run time: an op that takes two sizes for equal, or an unknown one for
//! more than 1, gives something else or reads what is not there. `data/onnx_open_refused.txt` lists the refused cases with
//! reasons: mostly those whose ranks, windows or heads hang on such a size.
//! Bar: 1,300 pass, none wrong, none crashed.

use std::time::Duration;

use anyhow::Result;
use tegula_automation::outcome::Outcome;

use crate::onnx_cases::Suite;

const BAR: usize = 1300;

const OPEN: Suite = Suite {
    verb: "onnx-open",
    folder: "onnx-open",
    scripts: &["onnx_open_cases", "onnx_node_cases"],
    refused: "onnx_open_refused.txt",
    bless: "onnx-open --bless",
    limit: Duration::from_secs(20),
    simulates: true,
};

pub fn run(args: &[String]) -> Result<Outcome> {
    OPEN.check(args, BAR)
}
