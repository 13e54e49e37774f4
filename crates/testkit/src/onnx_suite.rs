//! The node cases of the onnx package: one model, its inputs, the outputs it must give.
//! In: a folder that `tegula_tools.onnx_node_cases` wrote and a way to run a model.  Out: a verdict per case.
//! Outputs are compared as the suite itself does: elementwise with the case's rtol and atol, dtype and shape equal; those
//! that are drawn at random by what every draw obeys.

mod drawn;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tegula_base::{HostTensor, npy};

use crate::compare::{Tolerance, distance};

/// The share of a rounded result's elements that may be a step off, where sums fall between two numbers; of fewer than a
/// hundred none may.
pub const MOST_OFF: f64 = 0.01;

#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    pub name: String,
    pub rtol: f64,
    pub atol: f64,
    /// Of results rounded to 8 bits: the distance of neighbours. At most [`MOST_OFF`] of the elements are one off.
    #[serde(default)]
    pub step: Option<f64>,
    /// In the order of the graph's inputs.
    pub inputs: Vec<Slot>,
    pub outputs: Vec<Slot>,
}

/// One input or output of a case.
#[derive(Clone, Debug, Deserialize)]
pub struct Slot {
    pub name: String,
    pub kind: Kind,
    /// The name NumPy gives the element type.
    pub dtype: Option<String>,
    /// The value's file in the case's folder; none where `.npy` cannot hold it.
    pub file: Option<String>,
    /// Files of a sequence's tensors, in order.
    pub elements: Option<Vec<String>>,
    /// Whether the graph says that there may be none.
    #[serde(default)]
    pub optional: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Tensor,
    Sequence,
    Optional,
    String,
    SparseTensor,
    Map,
    /// An optional value that is none.
    None,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", content = "reason", rename_all = "lowercase")]
pub enum Verdict {
    Pass,
    /// A diagnostic said that the model is not supported.
    Refused(String),
    /// It ran and gave something else; `share` of the tolerance, where that is only a matter of distance.
    Wrong {
        reason: String,
        share: Option<f64>,
    },
    /// It panicked, was killed, timed out, or reported an internal error.
    Crashed(String),
}

/// Why a run gave no outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    Refused(String),
    Crashed(String),
}

/// Values by name: tensors, and those of sequences as `NAME[I]`.
pub type Named = Vec<(String, HostTensor)>;

/// Runs the model in a file, with dims set, on inputs by name and returns the outputs by name.
pub type Runner<'a> = dyn Fn(
        &Path,
        &BTreeMap<String, i64>,
        &[(String, HostTensor)],
    ) -> Result<BTreeMap<String, HostTensor>, RunError>
    + 'a;

impl Case {
    /// The dims that say which tensors its sequences and optional inputs hold.
    pub fn dims(&self) -> BTreeMap<String, i64> {
        let length =
            |slot: &Slot| Some((format!("{}.length", slot.name), slot.elements.as_ref()?.len() as i64));
        let present = |slot: &Slot| (format!("{}.present", slot.name), i64::from(slot.kind != Kind::None));
        let optional = self.inputs.iter().filter(|slot| slot.optional).map(present);
        self.inputs.iter().filter_map(length).chain(optional).collect()
    }
}

#[derive(Deserialize)]
struct Index {
    cases: Vec<Case>,
}

/// All cases of a folder, by name.
pub fn load_cases(folder: &Path) -> Result<BTreeMap<String, Case>, String> {
    let path = folder.join("cases.json");
    let text =
        fs::read_to_string(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let index: Index =
        serde_json::from_str(&text).map_err(|error| format!("{} is malformed: {error}", path.display()))?;
    Ok(index.cases.into_iter().map(|case| (case.name.clone(), case)).collect())
}

/// Runs one case. A case whose inputs cannot be handed over (sequences, strings, rare types) is run without
/// them, so that the verdict's reason is the runner's own.
pub fn run_case(folder: &Path, case: &Case, run: &Runner<'_>) -> Verdict {
    let dir = folder.join(&case.name);
    let mut inputs = Vec::new();
    let mut unread = None;
    for slot in &case.inputs {
        match read(&dir, slot) {
            Ok(tensors) => inputs.extend(tensors),
            Err(reason) => unread = Some(reason),
        }
    }
    let outputs = match run(&dir.join("model.onnx"), &case.dims(), &inputs) {
        Ok(outputs) => outputs,
        Err(RunError::Refused(reason)) => return Verdict::Refused(reason),
        Err(RunError::Crashed(reason)) => return Verdict::Crashed(reason),
    };
    if let Some(reason) = unread {
        return Verdict::Refused(reason);
    }
    if let Some(law) = drawn::law_of(&case.name) {
        return judge_draw(&dir, case, law, &inputs, &outputs);
    }
    let expected = match read_all(&dir, &case.outputs) {
        Ok(expected) => expected,
        Err(reason) => return Verdict::Refused(reason),
    };
    if let Some(name) = outputs.keys().find(|name| !expected.iter().any(|(known, _)| known == *name)) {
        return Verdict::Wrong { reason: format!("output `{name}` should not be there"), share: None };
    }
    for (name, expected) in &expected {
        let Some(actual) = outputs.get(name) else {
            return Verdict::Wrong { reason: format!("output `{name}` is missing"), share: None };
        };
        if case.outputs.iter().any(|slot| slot.kind == Kind::String && slot.name == *name) {
            let texts = [actual, expected].map(texts);
            if texts[0].is_some() && texts[0] == texts[1] {
                continue;
            }
            return Verdict::Wrong { reason: format!("output `{name}` is {texts:?}"), share: None };
        }
        let tolerance = Tolerance::Elementwise { rtol: case.rtol, atol: case.atol };
        let (difference, share) = match distance(actual, expected, tolerance) {
            Ok(distance) if distance.share <= 1.0 => {
                match case.step.and_then(|step| off(actual, expected, step)) {
                    None => continue,
                    Some(reason) => (reason, None),
                }
            }
            Ok(distance) => (distance.message, Some(distance.share).filter(|share| share.is_finite())),
            Err(difference) => (difference, None),
        };
        return Verdict::Wrong { reason: format!("output `{name}` {difference}"), share };
    }
    Verdict::Pass
}

/// What is wrong where too many elements are a step off.
fn off(actual: &HostTensor, expected: &HostTensor, step: f64) -> Option<String> {
    let (a, b) = (actual.to_f64(), expected.to_f64());
    let off = a.iter().zip(&b).filter(|(a, b)| (*a - *b).abs() > step / 2.0).count();
    let most = (MOST_OFF * a.len() as f64) as usize;
    (off > most).then(|| format!("is a step off in {off} of {} elements, {most} may be", a.len()))
}

fn judge_draw(
    dir: &Path,
    case: &Case,
    law: drawn::Law,
    inputs: &[(String, HostTensor)],
    outputs: &BTreeMap<String, HostTensor>,
) -> Verdict {
    let expected = match read_all(dir, &case.outputs) {
        Ok(expected) => expected,
        Err(reason) => return Verdict::Refused(reason),
    };
    match law.check(inputs, outputs, &expected) {
        Ok(()) => Verdict::Pass,
        Err(reason) => Verdict::Wrong { reason, share: None },
    }
}

/// The extents and the strings of a tensor of them, whose room for each may be larger than it must.
fn texts(tensor: &HostTensor) -> Option<(&[usize], Vec<&[u8]>)> {
    let (width, shape) = tensor.shape.split_last()?;
    let text = |bytes: &'_ [u8]| bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let rows = tensor.bytes.chunks_exact((*width).max(1));
    let texts = rows.map(|bytes| &bytes[..text(bytes)]).collect();
    (tensor.dtype == tegula_base::DType::U8).then_some((shape, texts))
}

fn read_all(dir: &Path, slots: &[Slot]) -> Result<Named, String> {
    let mut all = Named::new();
    for slot in slots {
        all.extend(read(dir, slot)?);
    }
    Ok(all)
}

/// The tensors of an input or output. Errors: they are not stored.
fn read(dir: &Path, slot: &Slot) -> Result<Named, String> {
    if slot.kind == Kind::None {
        return Ok(vec![]);
    }
    if let Some(elements) = &slot.elements {
        let named = |(i, file): (usize, &String)| Ok((format!("{}[{i}]", slot.name), load(dir, file)?));
        return elements.iter().enumerate().map(named).collect();
    }
    let Some(file) = &slot.file else {
        let dtype = slot.dtype.as_deref().unwrap_or("any element type");
        let kind = format!("{:?}", slot.kind).to_lowercase();
        return Err(format!("`{}` is a {kind} of {dtype}, which .npy files do not hold", slot.name));
    };
    Ok(vec![(slot.name.clone(), load(dir, file)?)])
}

fn load(dir: &Path, file: &str) -> Result<HostTensor, String> {
    let path: PathBuf = dir.join(file);
    let bytes = fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    npy::decode(&bytes).map_err(|diagnostic| format!("{}: {}", path.display(), diagnostic.message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_elements_may_be_a_step_off() {
        let of = |n: usize, every: usize| {
            let elements: Vec<u8> = (0..n).map(|i| 7 + u8::from(i % every == 0)).collect();
            HostTensor::from_elements(&[n], &elements)
        };
        assert_eq!(off(&of(1000, 200), &of(1000, 2000), 1.0), None);
        assert!(off(&of(1000, 2), &of(1000, 2000), 1.0).is_some());
        assert!(off(&of(8, 1), &of(8, 9), 1.0).is_some());
    }
}
