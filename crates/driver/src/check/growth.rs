//! Outputs of which bounds say little, since rounding may grow on the way: 8-bit steps that are reached or not, long
//! chains of halves. How far it grows is drawn: the evaluator runs again and again with other roundings.
//!
//! Before: a program, inputs, bounds of its outputs.  After: of each that bounds say little of, how far such runs are off.

use crate::bound::{Bounded, rounded_otherwise};
use tegula_base::{Diagnostic, HostTensor};
use tegula_tensor::TensorProgram;

/// Runs of the evaluator. Each moves every float by a part of what an executor may at most be off there, so that a run
/// is further off than an executor, whose roundings mostly cancel.
const RUNS: u64 = 4;
/// Times the furthest of them that an executor may be off.
const ALLOWED: f64 = 2.0;

/// How far an output is from what is expected, as the root mean square over its elements: of differences, or of
/// integers, whose differences say nothing, of whether there is one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    pub apart: f64,
    /// What is allowed, by how far the drawn runs are from the evaluator.
    pub tolerance: f64,
}

impl Growth {
    /// Of an output where a drawn run may be so far off.
    pub(super) fn of(actual: &HostTensor, expected: &HostTensor, furthest: f64) -> Growth {
        Growth { apart: distance(actual, expected), tolerance: ALLOWED * furthest }
    }

    pub fn is_fine(&self) -> bool {
        self.apart == 0.0 || self.tolerance.is_finite() && self.apart <= self.tolerance
    }
}

/// How far drawn runs of the evaluator are from it, of each output of whose elements less than half have a bound.
/// Errors: the evaluator's.
pub(super) fn furthest(
    program: &TensorProgram,
    inputs: &[HostTensor],
    outputs: &[Bounded],
) -> Result<Vec<Option<f64>>, Diagnostic> {
    let says_little = |output: &Bounded| {
        let unbounded = (0..output.value.count()).filter(|i| !output.at(*i).is_finite());
        2 * unbounded.count() > output.value.count()
    };
    let mut furthest: Vec<Option<f64>> =
        outputs.iter().map(|output| says_little(output).then_some(0.0)).collect();
    if furthest.iter().all(Option::is_none) {
        return Ok(furthest);
    }
    for seed in 0..RUNS {
        let drawn = rounded_otherwise(program, inputs, seed)?;
        for ((furthest, drawn), output) in furthest.iter_mut().zip(&drawn).zip(outputs) {
            *furthest = furthest.map(|far| far.max(distance(drawn, &output.value)));
        }
    }
    Ok(furthest)
}

/// Infinite where shapes differ, or a number is infinite or none on one side alone.
fn distance(a: &HostTensor, b: &HostTensor) -> f64 {
    if (a.dtype, &a.shape) != (b.dtype, &b.shape) {
        return f64::INFINITY;
    }
    let square = |(x, y): (f64, f64)| match x == y || x.is_nan() && y.is_nan() {
        true => 0.0,
        false if !a.dtype.is_float() => 1.0,
        false if x.is_finite() && y.is_finite() => (x - y) * (x - y),
        false => f64::INFINITY,
    };
    let squares: f64 = a.to_f64().into_iter().zip(b.to_f64()).map(square).sum();
    (squares / a.count().max(1) as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_root_mean_squares() {
        let [a, b] = [[1.0f32, f32::NAN, 3.0, 4.0], [1.0, f32::NAN, 3.0, 6.0]]
            .map(|values| HostTensor::from_elements(&[4], &values));
        assert_eq!(distance(&a, &b), 1.0);
        let [a, b] = [[1i64, 2, 3, 4], [1, 2, 3, 900]].map(|values| HostTensor::from_elements(&[4], &values));
        assert_eq!(distance(&a, &b), 0.5);
        let nan = HostTensor::from_elements(&[1], &[f32::NAN]);
        assert_eq!(distance(&nan, &HostTensor::from_elements(&[1], &[0.0f32])), f64::INFINITY);
    }

    #[test]
    fn what_is_drawn_without_an_end_allows_nothing() {
        let is_fine = |apart, tolerance| Growth { apart, tolerance }.is_fine();
        assert!(is_fine(0.0, 0.0) && is_fine(1.0, 1.0) && !is_fine(1.1, 1.0));
        assert!(!is_fine(1.0, f64::INFINITY) && !is_fine(1.0, f64::NAN) && !is_fine(f64::NAN, 1.0));
    }
}
