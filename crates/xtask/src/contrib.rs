//! `contrib [--only PREFIX]`: cases of the ops of ONNX Runtime's own domain, drawn by `tools/contrib_cases.py` once for
//! each version of it, against what ONNX Runtime gave for them, on each tier.
//! Bar: all pass. Integers are equal; floats within the case's tolerance, as the node suite compares them.

use anyhow::{Result, ensure};
use tegula_testkit::onnx_suite::{self, Verdict};

use crate::catalog::Catalog;
use crate::in_process::{self, guarded};
use crate::outcome::Outcome;
use crate::{python, workspace};

pub fn run(args: &[String]) -> Result<Outcome> {
    let folder = workspace::target().join("contrib");
    python::run_once(&["contrib_cases.py"], &Catalog::load()?, &folder)?;
    let mut cases = onnx_suite::load_cases(&folder).map_err(anyhow::Error::msg)?;
    if let [flag, prefix] = args {
        cases.retain(|name, _| flag == "--only" && name.starts_with(prefix.as_str()));
    }
    ensure!(!cases.is_empty(), "no case has such a name");
    in_process::keep_panics();
    let (mut pass, mut refused, mut wrong, mut crashed) = (0, 0, 0, 0);
    for (name, case) in &cases {
        for class in in_process::classes() {
            let runner = in_process::runner(class);
            let verdict =
                guarded(|| onnx_suite::run_case(&folder, case, &runner)).unwrap_or_else(Verdict::Crashed);
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
    Ok(Outcome::pass_if(refused + wrong + crashed == 0)
        .with("cases", cases.len())
        .with("classes", in_process::classes().len())
        .with("simulated", in_process::simulated())
        .with("pass", pass)
        .with("refused", refused)
        .with("wrong", wrong)
        .with("crashed", crashed))
}
