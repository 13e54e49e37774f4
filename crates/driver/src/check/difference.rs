//! How far two tensors are apart, as a share of what is allowed, element by element.

use crate::bound::Bounded;
use tegula_base::HostTensor;

/// How two tensors differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub max_abs: f64,
    /// The largest difference that is taken for rounding, of the element that uses most of it.
    pub tolerance: f64,
    /// That element, flat, with both values: computed and expected.
    pub worst: Option<(usize, f64, f64)>,
    /// Elements that are not judged: within what rounding does to their operands they may step to another value.
    pub unjudged: usize,
    /// Of how many.
    pub elements: usize,
    /// Set when they cannot be compared: shape, element type.
    pub mismatch: Option<String>,
}

impl Difference {
    pub fn none() -> Difference {
        Difference { max_abs: 0.0, tolerance: 0.0, worst: None, unjudged: 0, elements: 0, mismatch: None }
    }

    pub fn is_fine(&self) -> bool {
        self.mismatch.is_none() && self.max_abs <= self.tolerance
    }

    /// Of what is allowed.
    fn share(&self) -> f64 {
        match (&self.mismatch, self.max_abs) {
            (Some(_), _) => f64::INFINITY,
            (None, 0.0) => 0.0,
            (None, max) => max / self.tolerance,
        }
    }
}

/// The results of a launch against what they must be on its very operands: the worst of them, with the elements of all.
pub fn judge(computed: &[HostTensor], expected: &[Bounded]) -> Difference {
    let pairs = computed.iter().zip(expected);
    let each: Vec<Difference> =
        pairs.map(|(computed, expected)| compare(computed, &expected.value, |i| expected.at(i))).collect();
    let [unjudged, elements] = [|one: &Difference| one.unjudged, |one: &Difference| one.elements]
        .map(|of| each.iter().map(of).sum());
    let worst = each.into_iter().max_by(|a, b| a.share().total_cmp(&b.share()));
    Difference { unjudged, elements, ..worst.unwrap_or(Difference::none()) }
}

/// `allowed` says how far an element may be off; where that is infinite or no number the element is not judged.
/// NaN equals NaN, an infinity itself.
pub(super) fn compare(
    actual: &HostTensor,
    expected: &HostTensor,
    allowed: impl Fn(usize) -> f64,
) -> Difference {
    let mut difference = Difference::none();
    if (actual.dtype, &actual.shape) != (expected.dtype, &expected.shape) {
        difference.mismatch = Some(format!(
            "is {}{:?}, expected {}{:?}",
            actual.dtype, actual.shape, expected.dtype, expected.shape
        ));
        return difference;
    }
    let (mut most, mut unjudged) = (0.0, 0);
    for (index, (a, b)) in actual.to_f64().into_iter().zip(expected.to_f64()).enumerate() {
        let tolerance = allowed(index);
        if !tolerance.is_finite() {
            unjudged += 1;
            continue;
        }
        if a == b || a.is_nan() && b.is_nan() {
            continue;
        }
        let apart = (a - b).abs();
        let max_abs = if apart.is_nan() { f64::INFINITY } else { apart };
        let share = max_abs / tolerance;
        if share > most {
            most = share;
            difference = Difference { max_abs, tolerance, worst: Some((index, a, b)), ..Difference::none() };
        }
    }
    Difference { unjudged, elements: actual.count(), ..difference }
}

/// Whether two tensors have the same bits, but for those of NaN.
pub(super) fn are_same(a: &HostTensor, b: &HostTensor) -> bool {
    let both_nan = |x: f64, y: f64| x.is_nan() && y.is_nan();
    let equal = |(x, y): (f64, f64)| x.to_bits() == y.to_bits() || both_nan(x, y);
    (a.dtype, &a.shape) == (b.dtype, &b.shape)
        && (a.bytes == b.bytes || a.dtype.is_float() && a.to_f64().into_iter().zip(b.to_f64()).all(equal))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(values: &[f32]) -> HostTensor {
        HostTensor::from_elements(&[values.len()], values)
    }

    #[test]
    fn the_element_that_uses_most_of_its_bound_is_the_worst() {
        let (expected, actual) = (tensor(&[100.0, 1.0]), tensor(&[100.5, 1.25]));
        let found = compare(&actual, &expected, |i| [1.0, 0.125][i]);
        assert_eq!((found.max_abs, found.worst), (0.25, Some((1, 1.25, 1.0))));
        assert!(!found.is_fine() && compare(&actual, &expected, |_| 0.5).is_fine());
    }

    #[test]
    fn infinities_and_nan_equal_themselves_alone() {
        let (inf, nan) = (f32::INFINITY, f32::NAN);
        assert!(compare(&tensor(&[inf, nan]), &tensor(&[inf, nan]), |_| 0.0).is_fine());
        assert!(!compare(&tensor(&[1e38]), &tensor(&[inf]), |_| 1e30).is_fine());
        assert!(!compare(&tensor(&[nan]), &tensor(&[1.0]), |_| 1e30).is_fine());
        let unbounded = compare(&tensor(&[nan]), &tensor(&[1.0]), |_| f64::INFINITY);
        assert!(unbounded.is_fine() && unbounded.unjudged == 1);
    }

    #[test]
    fn shapes_and_types_must_match() {
        let found = compare(&tensor(&[1.0]), &tensor(&[1.0, 2.0]), |_| f64::INFINITY);
        assert!(!found.is_fine() && found.mismatch.is_some());
    }
}
