//! How far results are from those of an evaluation that shares nothing with this project or with ONNX Runtime
//! (`tegula_tools.independent_outputs`), and how much of them the inputs determine.
//! A figure is the root mean square of the difference, as a share of that of the result: 2 where a sign is turned.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tegula_automation::baseline::Step;
use tegula_base::HostTensor;
use tegula_testkit::compare::{Distance, Tolerance, distance, rms_distance};

use crate::npy::read_npy;

/// What inputs that are moved by 1e-6 may move of an 8-bit model's results, whose roundings then fall to other sides.
const MOVED_INT8: f64 = 0.2;
/// The results of a detector that finds nothing, or a voice detector in silence, are less.
const NOTHING: f64 = 1e-3;

/// A root mean square distance as a share of that of the expected tensor; 0 of equal ones.
pub fn apart(actual: &HostTensor, expected: &HostTensor) -> f64 {
    if actual.shape == expected.shape && actual.bytes == expected.bytes {
        return 0.0;
    }
    let zero = HostTensor { bytes: vec![0; expected.bytes.len()], ..expected.clone() };
    let share = rms_distance(actual, expected) / rms_distance(expected, &zero);
    if share.is_nan() { f64::INFINITY } else { share }
}

/// The farthest of all outputs, as a share of a bar. `side` says whose they are.
pub fn farthest_apart(
    side: &str,
    steps: &[BTreeMap<String, HostTensor>],
    independent: &[BTreeMap<String, PathBuf>],
    bar: f64,
) -> Result<Distance, String> {
    let mut worst = Distance::default();
    for (index, (step, files)) in steps.iter().zip(independent).enumerate() {
        for (name, file) in files {
            let expected = read_npy(file).map_err(|error| format!("{error:#}"))?;
            let actual = step.get(name).ok_or_else(|| format!("output `{name}` is missing"))?;
            let figure = apart(actual, &expected);
            if figure / bar > worst.share {
                let message = format!(
                    "step {index}, output `{name}` {side} is {figure:.4} (rms) apart from the independent evaluation, {bar} allowed"
                );
                worst = Distance { share: figure / bar, message };
            }
        }
    }
    Ok(worst)
}

/// What inputs moved by 1e-6 move of ONNX Runtime's results, as a share of what may be: beyond 1 they say nothing.
/// `tolerance` judges floats; without one the network is one of 8 bits.
pub fn condition(steps: &[Step], tolerance: Option<Tolerance>) -> Result<Distance, String> {
    let read = |file: &PathBuf| read_npy(file).map_err(|error| format!("{error:#}"));
    let mut worst = Distance::default();
    let mut note = |share: f64, reason: String| {
        if share > worst.share {
            worst = Distance { share, message: format!("says nothing: {reason}") };
        }
    };
    for (index, step) in steps.iter().enumerate() {
        for (name, file) in &step.outputs {
            let expected = read(file)?;
            let largest = expected.to_f64().iter().fold(0.0f64, |most, x| most.max(x.abs()));
            if expected.dtype.is_float() && index + 1 == steps.len() && largest < NOTHING {
                note(NOTHING / largest, format!("output `{name}` is at most {largest:.2e}"));
            }
            for moved in &step.moved {
                let moved = read(&moved[name])?;
                let share = match tolerance {
                    None => apart(&moved, &expected) / MOVED_INT8,
                    Some(tolerance) => distance(&moved, &expected, tolerance)
                        .map_or(f64::INFINITY, |distance| distance.share),
                };
                let of = "of its bar when the inputs move by 1e-6";
                note(share, format!("step {index}, output `{name}` moves by {share:.3} {of}"));
            }
        }
    }
    Ok(worst)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turned_sign_is_two_apart() {
        let of = |elements: &[f32]| HostTensor::from_elements(&[elements.len()], elements);
        assert_eq!(apart(&of(&[-1.0, 2.0]), &of(&[1.0, -2.0])), 2.0);
        assert_eq!(apart(&of(&[0.0, 0.0]), &of(&[0.0, 0.0])), 0.0);
        assert!(apart(&of(&[1.0]), &of(&[0.0])).is_infinite());
    }
}
