//! Cases whose results ONNX Runtime gave, run on each tier and judged, for `contrib` and `drawn`.
//! In: a folder as `tegula_tools.onnx_node_cases` lists one.  Out: the check's outcome; what does not pass is printed.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_base::{DType, HostTensor};
use tegula_ir::scalar::eval::from_reals;
use tegula_testkit::onnx_suite::{self, Verdict};

use crate::in_process::{self, guarded};

/// A fault in results of 8 bits, which the judge must find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Each element is a step off.
    OneStep,
    /// Every other element is a step less, as if half of them had been rounded down.
    Floor,
}

impl Fault {
    pub fn named(name: &str) -> Result<Fault> {
        match name {
            "one-step" => Ok(Fault::OneStep),
            "floor" => Ok(Fault::Floor),
            _ => bail!("no fault is called `{name}`; there are one-step and floor"),
        }
    }

    /// The tensor with the fault; bytes at the end of their range go the other way.
    fn plant(self, tensor: &HostTensor, step: f64) -> HostTensor {
        let (low, high) = match tensor.dtype {
            DType::U8 => (0.0, 255.0),
            DType::I8 => (-128.0, 127.0),
            _ => (f64::NEG_INFINITY, f64::INFINITY),
        };
        let planted = |(i, &x): (usize, &f64)| match self {
            Fault::Floor if i % 2 == 1 => x,
            Fault::Floor if x - step >= low => x - step,
            Fault::OneStep if x + step > high => x - step,
            Fault::Floor | Fault::OneStep => x + step,
        };
        let reals: Vec<f64> = tensor.to_f64().iter().enumerate().map(planted).collect();
        from_reals(tensor.dtype, &tensor.shape, &reals)
    }
}

/// Plants a fault into the results of the cases that have steps. Passes if each is found.
pub fn find_planted(folder: &Path, prefix: &str, part: Part, fault: Fault) -> Result<Outcome> {
    let mut cases = onnx_suite::load_cases(folder).map_err(anyhow::Error::msg)?;
    cases.retain(|name, case| name.starts_with(prefix) && case.step.is_some());
    ensure!(!cases.is_empty(), "no case with steps has such a name");
    let cases = part.take(cases);
    in_process::keep_panics();
    let class = in_process::classes()[0];
    let (mut empty, mut missed) = (0, 0);
    for (name, case) in &cases {
        let runner = in_process::runner(class);
        let step = case.step.context("the case has no steps")?;
        let elements = Cell::new(0);
        let faulty = |path: &Path, dims: &BTreeMap<String, i64>, inputs: &[(String, HostTensor)]| {
            let mut outputs = runner(path, dims, inputs)?;
            outputs.values_mut().for_each(|output| *output = fault.plant(output, step));
            elements.set(outputs.values().map(|output| output.to_f64().len()).sum());
            Ok(outputs)
        };
        match guarded(|| onnx_suite::run_case(folder, case, &faulty)).unwrap_or_else(Verdict::Crashed) {
            Verdict::Wrong { .. } => {}
            Verdict::Pass if elements.get() == 0 => empty += 1,
            verdict => {
                missed += 1;
                println!("missed   {name}: {verdict:?}");
            }
        }
    }
    Ok(Outcome::pass_if(missed == 0).with("planted", cases.len() - empty).with("missed", missed))
}

/// Judges the cases of a part whose names begin so. Passes if all do, but for one run in so many that may be refused.
pub fn judge(folder: &Path, prefix: &str, part: Part, refused_in: Option<usize>) -> Result<Outcome> {
    let mut cases = onnx_suite::load_cases(folder).map_err(anyhow::Error::msg)?;
    cases.retain(|name, _| name.starts_with(prefix));
    ensure!(!cases.is_empty(), "no case has such a name");
    let cases = part.take(cases);
    let most_refused = refused_in.map_or(0, |n| cases.len() * in_process::classes().len() / n);
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
