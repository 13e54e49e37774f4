//! The reference results of a program with, for each element, how far an executor may be from it: the one home of
//! bounds, for `check` and for the project's own comparisons of executors.
//!
//! Before: a verified program and inputs that fit.  After: the evaluator's values, and for each element a bound on
//! |executor - evaluator| by the two tables of `docs/numerics.md`: an op's own bound, plus what the bounds of its
//! operands become. 0 asks for the same bits; infinity leaves an element unchecked (rounding may decide a step).
//!
//! ```text
//! reference ─► run (regions, composites as their decomposition) ─► rules: one op ─┬─► scalar   elementwise
//!                                                                                ├─► sums     contractions, reductions
//!                                                                                └─► moved    the op itself, on the bounds
//! ```

mod float;
mod noise;
mod rules;
mod run;
mod scalar;
mod sums;

pub use run::{Watch, reference, rounded_otherwise, watch_kernels, watch_kernels_at};

use std::sync::Arc;
use tegula_base::HostTensor;

/// A value and its bounds.
#[derive(Clone, Debug)]
pub struct Bounded {
    pub value: Arc<HostTensor>,
    /// Row-major, one an element; `None`: all 0.
    pub error: Option<Arc<Vec<f64>>>,
    /// Elements are 8-bit floats, or such times scales of several each: products of them may be summed in fewer bits.
    is_small: bool,
}

impl Bounded {
    pub fn exact(value: HostTensor) -> Bounded {
        Bounded::shared(Arc::new(value), None)
    }

    fn shared(value: Arc<HostTensor>, error: Option<Arc<Vec<f64>>>) -> Bounded {
        let is_small = value.dtype.is_float() && value.dtype.bits() == 8;
        Bounded { value, error, is_small }
    }

    fn new(value: HostTensor, error: Vec<f64>) -> Bounded {
        let error = error.iter().any(|e| *e != 0.0).then(|| Arc::new(error));
        Bounded::shared(Arc::new(value), error)
    }

    /// Every element unchecked.
    fn unchecked(value: HostTensor) -> Bounded {
        let error = vec![f64::INFINITY; value.count()];
        Bounded::new(value, error)
    }

    /// How far element `i`, row-major, may be off; infinity: unchecked.
    pub fn at(&self, i: usize) -> f64 {
        self.error.as_ref().map_or(0.0, |error| error[i])
    }

    fn at_each(&self) -> impl Iterator<Item = f64> + '_ {
        (0..self.value.count()).map(|i| self.at(i))
    }

    /// The bounds as a tensor, to be moved like the value.
    fn error_tensor(&self) -> HostTensor {
        match &self.error {
            Some(error) => HostTensor::from_elements(&self.value.shape, error),
            None => HostTensor::zeros(tegula_base::DType::F64, &self.value.shape),
        }
    }
}

/// What a comparison looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Agreement {
    /// Elements that had to have the same bits.
    pub exact: u64,
    /// Elements that had to be within a bound.
    pub bounded: u64,
    pub unchecked: u64,
    /// The largest share of a bound that was used.
    pub used: f64,
}

impl Agreement {
    pub fn add(&mut self, other: Agreement) {
        self.exact += other.exact;
        self.bounded += other.bounded;
        self.unchecked += other.unchecked;
        self.used = self.used.max(other.used);
    }
}

/// Holds an executor's result against the reference. Errors: the first element beyond its bound.
pub fn compare(got: &HostTensor, want: &Bounded) -> Result<Agreement, String> {
    let expected = &want.value;
    if (got.dtype, &got.shape) != (expected.dtype, &expected.shape) || got.bytes.len() != expected.bytes.len()
    {
        return Err(format!(
            "is {}{:?}, expected {}{:?}",
            got.dtype, got.shape, expected.dtype, expected.shape
        ));
    }
    let size = got.dtype.size();
    let (a, b) = (got.to_f64(), expected.to_f64());
    let mut agreement = Agreement::default();
    for i in 0..got.count() {
        let bound = want.at(i);
        let same_bits = got.bytes[i * size..][..size] == expected.bytes[i * size..][..size];
        let both_nan = got.dtype.is_float() && a[i].is_nan() && b[i].is_nan();
        if bound.is_infinite() || bound.is_nan() {
            agreement.unchecked += 1;
            continue;
        }
        let distance = (a[i] - b[i]).abs();
        let within = bound > 0.0 && (distance <= bound || a[i] == b[i]);
        if !(same_bits || both_nan || within) {
            let raw = |tensor: &HostTensor| format!("{:02x?}", &tensor.bytes[i * size..][..size]);
            return Err(format!(
                "element {i} of {:?} is {} {}, expected {} {} within {bound:e}",
                got.shape,
                a[i],
                raw(got),
                b[i],
                raw(expected),
            ));
        }
        if bound > 0.0 {
            agreement.bounded += 1;
            if distance.is_finite() {
                agreement.used = agreement.used.max(distance / bound);
            }
        } else {
            agreement.exact += 1;
        }
    }
    Ok(agreement)
}
