//! Cases whose results ONNX Runtime gave, run on each tier and judged, for `contrib` and `drawn`.
//! In: a folder as `tegula_tools.onnx_node_cases` lists one.  Out: the check's outcome; what does not pass is printed.

use std::path::Path;

use anyhow::{Result, ensure};
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_testkit::onnx_suite::{self, Verdict};

use crate::in_process::{self, guarded};

/// Judges the cases of a part whose names begin so. Passes if all do, but for so many runs that may be refused.
pub fn judge(folder: &Path, prefix: &str, part: Part, most_refused: usize) -> Result<Outcome> {
    let mut cases = onnx_suite::load_cases(folder).map_err(anyhow::Error::msg)?;
    cases.retain(|name, _| name.starts_with(prefix));
    ensure!(!cases.is_empty(), "no case has such a name");
    let cases = part.take(cases);
    in_process::keep_panics();
    let (mut pass, mut refused, mut wrong, mut crashed) = (0, 0, 0, 0);
    for (name, case) in &cases {
        for class in in_process::classes() {
            let runner = in_process::runner(class);
            let verdict =
                guarded(|| onnx_suite::run_case(folder, case, &runner)).unwrap_or_else(Verdict::Crashed);
            match verdict {
                Verdict::Pass => pass += 1,
                Verdict::Refused(reason) => {
                    refused += 1;
                    println!("refused  {name} ({class}): {reason}");
                }
                Verdict::Wrong { reason, .. } => {
                    wrong += 1;
                    println!("wrong    {name} ({class}): {reason}");
                }
                Verdict::Crashed(reason) => {
                    crashed += 1;
                    println!("crashed  {name} ({class}): {reason}");
                }
            }
        }
    }
    Ok(Outcome::pass_if(wrong + crashed == 0 && refused <= most_refused)
        .with("cases", cases.len())
        .with("classes", in_process::classes().len())
        .with("simulated", in_process::simulated())
        .with("pass", pass)
        .with("refused", refused)
        .with("wrong", wrong)
        .with("crashed", crashed))
}
