//! Elements without a bound, since rounding may grow on the way to them: 8-bit steps that are reached or not, long chains
//! of halves. How far it grows is drawn: the evaluator runs again and again with other roundings.
//!
//! Before: what a run gave, what is expected, the evaluator's values.  After: how far apart they are, beside such runs.

use crate::bound::rounded_otherwise;
use tegula_base::HostTensor;
use tegula_tensor::TensorProgram;

/// Runs of the evaluator. Each moves every float by a part of what an executor may at most be off there, so that a run
/// is further off than an executor, whose roundings mostly cancel: of a dozen 8-bit models one was as far off as the
/// furthest run (`ocr-lstm-int8`), most by less than a tenth of that.
const RUNS: u64 = 4;
/// Times the furthest of them that an executor may be off.
const ALLOWED: f64 = 2.0;
/// The share of the values' own size up to which the allowance says something: what has nothing to do with the values
/// is off by that size or more.
const MOST_ALLOWED: f64 = 0.5;

/// How far elements are from what is expected, as the root mean square: of differences, or of integers, whose
/// differences say nothing, of whether there is one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    pub elements: usize,
    pub apart: f64,
    /// What is allowed, by how far the drawn runs are from the evaluator; `None` where none could be compared.
    pub tolerance: Option<f64>,
    /// Of what is expected.
    pub size: f64,
}

/// What can be said of such elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    Right,
    Wrong,
    /// On these inputs rounding decides what they are.
    Open,
}

impl Growth {
    /// Of these elements; `drawn` gives the runs, if they are needed.
    pub(super) fn of<'a, I: Iterator<Item = &'a HostTensor>>(
        actual: &HostTensor,
        expected: &HostTensor,
        evaluated: &HostTensor,
        elements: &[usize],
        drawn: impl FnOnce() -> I,
    ) -> Growth {
        let is_float = expected.dtype.is_float();
        let of = |tensor: &HostTensor| -> Vec<f64> {
            let all = tensor.to_f64();
            elements.iter().map(|element| all[*element]).collect()
        };
        let expected = of(expected);
        let apart = distance(&of(actual), &expected, is_float);
        let finite: Vec<f64> = expected.iter().copied().filter(|x| x.is_finite()).collect();
        let size = if is_float { mean_square(&finite).sqrt() } else { 1.0 };
        let mut tolerance = None;
        if apart > 0.0 {
            let middle = of(evaluated);
            for run in drawn().filter(|run| run.shape == evaluated.shape) {
                let far = ALLOWED * drawn_distance(&of(run), &middle, is_float);
                tolerance = Some(tolerance.unwrap_or(0.0f64).max(far));
            }
        }
        Growth { elements: elements.len(), apart, tolerance, size }
    }

    pub fn judgement(&self) -> Judgement {
        match self.tolerance {
            _ if self.apart == 0.0 => Judgement::Right,
            Some(tolerance) if self.apart > tolerance => Judgement::Wrong,
            Some(tolerance) if tolerance <= MOST_ALLOWED * self.size => Judgement::Right,
            _ => Judgement::Open,
        }
    }

    pub fn is_fine(&self) -> bool {
        self.judgement() == Judgement::Right
    }
}

/// Outputs of the evaluator with other roundings. One that other roundings stop is left out.
pub(super) fn drawn_runs(program: &TensorProgram, inputs: &[HostTensor]) -> Vec<Vec<HostTensor>> {
    (0..RUNS).filter_map(|seed| rounded_otherwise(program, inputs, seed).ok()).collect()
}

fn mean_square(values: &[f64]) -> f64 {
    values.iter().map(|x| x * x).sum::<f64>() / values.len().max(1) as f64
}

/// Infinite where a number is infinite or none on one side alone.
fn distance(a: &[f64], b: &[f64], is_float: bool) -> f64 {
    let apart = |(x, y): (&f64, &f64)| match x == y || x.is_nan() && y.is_nan() {
        true => 0.0,
        false if !is_float => 1.0,
        false if x.is_finite() && y.is_finite() => x - y,
        false => f64::INFINITY,
    };
    mean_square(&a.iter().zip(b).map(apart).collect::<Vec<f64>>()).sqrt()
}

/// Without the elements that left the numbers in the drawn run alone.
fn drawn_distance(drawn: &[f64], middle: &[f64], is_float: bool) -> f64 {
    let stays = |(x, y): &(&f64, &f64)| x.is_finite() || !y.is_finite();
    let (drawn, middle): (Vec<f64>, Vec<f64>) = drawn.iter().zip(middle).filter(stays).unzip();
    distance(&drawn, &middle, is_float)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_root_mean_squares() {
        let nan = f64::NAN;
        assert_eq!(distance(&[1.0, nan, 3.0, 4.0], &[1.0, nan, 3.0, 6.0], true), 1.0);
        assert_eq!(distance(&[1.0, 2.0, 3.0, 4.0], &[1.0, 2.0, 3.0, 900.0], false), 0.5);
        assert_eq!(distance(&[nan], &[0.0], true), f64::INFINITY);
        assert_eq!(drawn_distance(&[nan, 2.0], &[0.0, 3.0], true), 1.0);
    }

    #[test]
    fn an_allowance_of_the_values_own_size_says_nothing() {
        let of = |apart, tolerance| Growth { elements: 1, apart, tolerance, size: 1.0 }.judgement();
        assert_eq!((of(0.0, None), of(0.1, Some(0.2))), (Judgement::Right, Judgement::Right));
        assert_eq!((of(0.3, Some(0.2)), of(f64::INFINITY, Some(0.2))), (Judgement::Wrong, Judgement::Wrong));
        assert_eq!((of(0.1, Some(0.9)), of(0.1, None)), (Judgement::Open, Judgement::Open));
    }
}
