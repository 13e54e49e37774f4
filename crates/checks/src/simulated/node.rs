//! A node case of the onnx package: the results must lie within their bounds of the evaluator's, and where the evaluator
//! gives none, within the suite's own tolerance of the suite's.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Result;
use tegula_base::HostTensor;
use tegula_driver::Model;
use tegula_driver::bound::reference;
use tegula_testkit::onnx_suite::{self, Case, RunError};

use super::{Device, Held, Verdict, agree, settle};
use crate::in_process::NoFiles;
use crate::onnx::NODES;

pub fn cases() -> Result<BTreeMap<String, Case>> {
    NODES.cases()
}

pub(super) fn judge(device: &Device, cases: &BTreeMap<String, Case>, name: &str) -> Verdict {
    let Some(case) = cases.get(name) else { return Verdict::Crashed("no such case".to_string()) };
    // What the runner found out; the suite's verdict counts where that is only "it ran".
    let judged: RefCell<Option<Result<Held, Verdict>>> = RefCell::new(None);
    let ran: RefCell<Held> = RefCell::new(Held::default());
    let runner = |path: &Path, dims: &BTreeMap<String, i64>, inputs: &[(String, HostTensor)]| {
        let bytes = fs::read(path).map_err(|error| RunError::Crashed(error.to_string()))?;
        let run = run(device, bytes, dims, inputs);
        let (names, outputs, held, agreed) = run.map_err(|verdict| {
            *judged.borrow_mut() = Some(Err(verdict));
            RunError::Refused(String::new())
        })?;
        *ran.borrow_mut() = held;
        if agreed {
            *judged.borrow_mut() = Some(Ok(held));
        }
        Ok(names.into_iter().zip(outputs).collect())
    };
    let suite = onnx_suite::run_case(&NODES.folder(), case, &runner);
    if let Some(judged) = judged.into_inner() {
        return settle(judged);
    }
    match suite {
        onnx_suite::Verdict::Pass => Verdict::Holds(ran.into_inner()),
        onnx_suite::Verdict::Refused(reason) => Verdict::NotClaimed(reason),
        onnx_suite::Verdict::Wrong { reason, .. } => Verdict::Wrong(reason),
        onnx_suite::Verdict::Crashed(reason) => Verdict::Crashed(reason),
    }
}

/// Names and values of the results, and whether they agree with the evaluator's; not where it gives none.
type Ran = (Vec<String>, Vec<HostTensor>, Held, bool);

fn run(
    device: &Device,
    bytes: Vec<u8>,
    dims: &BTreeMap<String, i64>,
    named: &[(String, HostTensor)],
) -> Result<Ran, Verdict> {
    let model =
        Model { name: "model".into(), bytes: bytes.into(), results: vec![], checked: false, files: &NoFiles };
    let compiled = device.compile(&model, dims)?;
    let program = model.import(dims).map_err(|found| Verdict::Crashed(found.to_string()))?;
    let given = |name: &String| named.iter().find(|(known, _)| known == name);
    let inputs: Option<Vec<HostTensor>> =
        program.entry().arg_names.iter().map(|name| Some(given(name)?.1.clone())).collect();
    let Some(inputs) = inputs else {
        return Err(Verdict::NotClaimed("an input is no tensor that .npy files hold".to_string()));
    };
    let (outputs, mut held) = device.run(&compiled, &inputs)?;
    let agreed = match reference(&program, &inputs) {
        Ok(expected) => {
            agree(&mut held, &outputs, &expected)?;
            true
        }
        Err(_) => false,
    };
    Ok((tegula_driver::model::result_names(&program), outputs, held, agreed))
}
