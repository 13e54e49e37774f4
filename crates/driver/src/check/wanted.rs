//! What a program's outputs should be, and how far from it they may be.

use super::OutputCheck;
use super::difference::{Difference, compare};
use super::growth::{Growth, drawn_runs};
use crate::bound::{Bounded, reference};
use std::cell::OnceCell;
use tegula_base::{DType, Diagnostics, HostTensor};
use tegula_ir::{OpId, Value};
use tegula_opt::passes::Precision;
use tegula_tensor::{Evaluator, TensorProgram};

/// Outputs may differ by this share of the output's largest element where all floats have 32 bits or more: the bar of
/// the `models` check.
const OUTPUT_TOLERANCE: f64 = 1e-4;
/// The share where factors are rounded to `bf16`: several roundings of 2^-8 on the way, as of OpenVINO's results.
const ROUNDED_TOLERANCE: f64 = 5e-2;
/// The share where factors are rounded to `f16`, which has three bits more, and nothing else is rounded coarsely.
const HALF_TOLERANCE: f64 = ROUNDED_TOLERANCE / 8.0;
/// What that share is of besides, so that outputs which are all but zero need not be equal.
const OUTPUT_FLOOR: f64 = 1e-6;

/// What a program's outputs should be.
pub(crate) struct Wanted<'a> {
    program: &'a TensorProgram,
    inputs: &'a [HostTensor],
    values: Vec<HostTensor>,
    bar: Bar,
    /// Drawn when they are first needed.
    drawn: OnceCell<Vec<Vec<HostTensor>>>,
}

enum Bar {
    /// Of an output's largest element.
    Share(f64),
    /// The evaluator's values with how far an executor may be from them, and how many sides may: both we and who made the
    /// values.
    Bounds(Vec<Bounded>, f64),
}

impl<'a> Wanted<'a> {
    /// The evaluator's, or those given, of an executor that rounds factors to a precision. Errors: the evaluator's.
    pub fn of(
        program: &'a TensorProgram,
        precision: Precision,
        inputs: &'a [HostTensor],
        given: Option<&[HostTensor]>,
    ) -> Result<Wanted<'a>, Diagnostics> {
        let bar = match precision {
            Precision::Bf16 => Bar::Share(ROUNDED_TOLERANCE),
            Precision::F16 if !rounds_coarsely(program) => Bar::Share(HALF_TOLERANCE),
            Precision::F16 => Bar::Share(ROUNDED_TOLERANCE),
            Precision::F32 | Precision::F16x2 if !rounds_coarsely(program) => Bar::Share(OUTPUT_TOLERANCE),
            Precision::F16x2 => Bar::Share(ROUNDED_TOLERANCE),
            Precision::F32 => {
                Bar::Bounds(reference(program, inputs)?, if given.is_some() { 2.0 } else { 1.0 })
            }
        };
        let values = match (given, &bar) {
            (Some(given), _) => given.to_vec(),
            (None, Bar::Bounds(each, _)) => {
                each.iter().map(|bounded| bounded.value.as_ref().clone()).collect()
            }
            (None, Bar::Share(_)) => Evaluator::new(program).limited().run(inputs)?,
        };
        Ok(Wanted { program, inputs, values, bar, drawn: OnceCell::new() })
    }

    /// With a run's outputs of these names.
    pub fn compare(&self, names: &[String], actual: &[HostTensor]) -> Vec<OutputCheck> {
        let output = |(i, (actual, wanted)): (usize, (&HostTensor, &HostTensor))| OutputCheck {
            name: names.get(i).cloned().unwrap_or_else(|| format!("output{i}")),
            difference: match &self.bar {
                Bar::Bounds(bounds, sides) => {
                    compare(actual, wanted, |element| sides * bounds[i].at(element))
                }
                Bar::Share(share) => within(*share, actual, wanted),
            },
            growth: self.growth(i, actual, wanted),
            as_launched: None,
        };
        actual.iter().zip(&self.values).enumerate().map(output).collect()
    }

    /// Of output `i`; `None` where each element has a bound.
    fn growth(&self, i: usize, actual: &HostTensor, wanted: &HostTensor) -> Option<Growth> {
        let Bar::Bounds(bounds, _) = &self.bar else { return None };
        let bounds = &bounds[i];
        let elements: Vec<usize> = (0..bounds.value.count()).filter(|e| !bounds.at(*e).is_finite()).collect();
        if elements.is_empty() || (actual.dtype, &actual.shape) != (wanted.dtype, &wanted.shape) {
            return None;
        }
        let runs = || self.drawn.get_or_init(|| drawn_runs(self.program, self.inputs));
        let drawn = || runs().iter().map(|run| &run[i]);
        Some(Growth::of(actual, wanted, &bounds.value, &elements, drawn))
    }
}

fn within(share: f64, actual: &HostTensor, wanted: &HostTensor) -> Difference {
    let finite = wanted.to_f64().into_iter().filter(|x| x.is_finite());
    let largest = finite.fold(0.0f64, |most, x| most.max(x.abs()));
    let share = if wanted.dtype.is_float() { share } else { 0.0 };
    compare(actual, wanted, |_| share * (largest + OUTPUT_FLOOR))
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
