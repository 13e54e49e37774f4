//! What a program's outputs should be, and how far from it they may be.

use super::OutputCheck;
use super::difference::compare;
use super::growth::{Growth, furthest};
use crate::bound::{Bounded, reference};
use tegula_base::{DType, Diagnostics, HostTensor};
use tegula_ir::{OpId, Value};
use tegula_tensor::{Evaluator, TensorProgram};

/// Outputs may differ by this share of the output's largest element where all floats have 32 bits or more: the bar of
/// the `models` check.
const OUTPUT_TOLERANCE: f64 = 1e-4;
/// The share where factors are rounded to `bf16`: several roundings of 2^-8 on the way, as of OpenVINO's results.
const ROUNDED_TOLERANCE: f64 = 5e-2;
/// What that share is of besides, so that outputs which are all but zero need not be equal.
const OUTPUT_FLOOR: f64 = 1e-6;

pub(crate) struct Wanted {
    values: Vec<HostTensor>,
    /// The evaluator's values with how far an executor may be from them, where a flat share would not do.
    bounds: Option<Vec<Bounded>>,
    /// Of each output whose bounds say little, how far drawn runs of the evaluator are from it.
    furthest: Vec<Option<f64>>,
    /// Both we and who made the values may use a bound.
    sides: f64,
    /// Of the largest element, where there are no bounds.
    share: f64,
}

impl Wanted {
    /// The evaluator's, or those given. Errors: the evaluator's.
    pub fn of(
        program: &TensorProgram,
        inputs: &[HostTensor],
        given: Option<&[HostTensor]>,
    ) -> Result<Wanted, Diagnostics> {
        if !rounds_coarsely(program) {
            return Wanted::within(OUTPUT_TOLERANCE, program, inputs, given);
        }
        let bounds = reference(program, inputs)?;
        let values = match given {
            Some(given) => given.to_vec(),
            None => bounds.iter().map(|bounded| bounded.value.as_ref().clone()).collect(),
        };
        let furthest = furthest(program, inputs, &bounds)?;
        let sides = if given.is_some() { 2.0 } else { 1.0 };
        Ok(Wanted { values, bounds: Some(bounds), furthest, sides, share: 0.0 })
    }

    /// As [`Self::of`], for an executor that rounds factors.
    pub fn of_rounded(
        program: &TensorProgram,
        inputs: &[HostTensor],
        given: Option<&[HostTensor]>,
    ) -> Result<Wanted, Diagnostics> {
        Wanted::within(ROUNDED_TOLERANCE, program, inputs, given)
    }

    fn within(
        share: f64,
        program: &TensorProgram,
        inputs: &[HostTensor],
        given: Option<&[HostTensor]>,
    ) -> Result<Wanted, Diagnostics> {
        let values = match given {
            Some(given) => given.to_vec(),
            None => Evaluator::new(program).run(inputs)?,
        };
        let furthest = vec![None; values.len()];
        Ok(Wanted { values, bounds: None, furthest, sides: 1.0, share })
    }

    /// With a run's outputs of these names.
    pub fn compare(&self, names: &[String], actual: &[HostTensor]) -> Vec<OutputCheck> {
        let output = |(i, (actual, wanted)): (usize, (&HostTensor, &HostTensor))| OutputCheck {
            name: names.get(i).cloned().unwrap_or_else(|| format!("output{i}")),
            difference: match &self.bounds {
                Some(bounds) => compare(actual, wanted, |element| self.sides * bounds[i].at(element)),
                None => {
                    let finite = wanted.to_f64().into_iter().filter(|x| x.is_finite());
                    let largest = finite.fold(0.0f64, |most, x| most.max(x.abs()));
                    let share = if wanted.dtype.is_float() { self.share } else { 0.0 };
                    compare(actual, wanted, |_| share * (largest + OUTPUT_FLOOR))
                }
            },
            growth: self.furthest[i].map(|furthest| Growth::of(actual, wanted, self.sides * furthest)),
            as_launched: None,
        };
        actual.iter().zip(&self.values).enumerate().map(output).collect()
    }
}

/// Whether an op gives floats of less than 32 bits, or integers of 8 or 16 by rounding floats: one step of either is
/// more than [`OUTPUT_TOLERANCE`].
fn rounds_coarsely(program: &TensorProgram) -> bool {
    let func = program.entry();
    let dtypes =
        |values: &[Value]| -> Vec<DType> { values.iter().map(|value| func.ty(*value).dtype).collect() };
    let is_coarse = |op: OpId| {
        let of_floats = dtypes(func.operands(op)).into_iter().any(DType::is_float);
        let is_narrow =
            |ty: DType| ty.is_float() && ty.size() < 4 || of_floats && ty.is_int() && ty.bits() <= 16;
        dtypes(func.results(op)).into_iter().any(is_narrow)
    };
    func.walk().into_iter().any(is_coarse)
}
