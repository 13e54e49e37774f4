//! Compares a computed tensor with an expected one under a stated tolerance.
//! Shapes and element types must be equal; NaN equals NaN and an infinity only itself.

use tegula_base::HostTensor;

/// What counts as equal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// Bytes are equal.
    Bitwise,
    /// |a - b| <= atol + rtol |b| for each element, integers too: `numpy.testing.assert_allclose`.
    Elementwise { rtol: f64, atol: f64 },
    /// max|a - b| <= relative (max|b| + 1e-6) over the tensor; integers are equal.
    OfLargest { relative: f64 },
    /// |a - b| <= relative max|b| + floor, the largest of the elements with the same index on the second axis; of the whole
    /// tensor where it has fewer than three axes. Integers are equal.
    OfChannel { relative: f64, floor: f64 },
}

/// Added to max|b| so that an all-zero expectation leaves some room.
const LARGEST_FLOOR: f64 = 1e-6;

/// How far apart two tensors of one shape are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distance {
    /// The share of the tolerance that was used: 0 when equal, 1 at the limit.
    pub share: f64,
    /// The worst element, its values, and how many are beyond the limit; empty when none is.
    pub message: String,
}

/// The share of the tolerance that was used, at most 1.
/// Errors: what differs, with its index and both values.
pub fn compare(actual: &HostTensor, expected: &HostTensor, tolerance: Tolerance) -> Result<f64, String> {
    let distance = distance(actual, expected, tolerance)?;
    if distance.share <= 1.0 { Ok(distance.share) } else { Err(distance.message) }
}

/// As [`compare`], but floats beyond the tolerance are measured, no error.
/// Errors: shapes or element types differ, or elements that must be bitwise equal are not.
pub fn distance(
    actual: &HostTensor,
    expected: &HostTensor,
    tolerance: Tolerance,
) -> Result<Distance, String> {
    if actual.dtype != expected.dtype || actual.shape != expected.shape {
        return Err(format!(
            "is {}{:?}, expected {}{:?}",
            actual.dtype, actual.shape, expected.dtype, expected.shape
        ));
    }
    if actual.bytes == expected.bytes {
        return Ok(Distance::default());
    }
    let (a, b) = (actual.to_f64(), expected.to_f64());
    let is_float = actual.dtype.is_float();
    let limits: Vec<f64> = match tolerance {
        Tolerance::Elementwise { rtol, atol } => b.iter().map(|b| atol + rtol * b.abs()).collect(),
        Tolerance::OfLargest { relative } if is_float => {
            let largest = b.iter().filter(|b| b.is_finite()).fold(0.0f64, |most, b| most.max(b.abs()));
            vec![relative * (largest + LARGEST_FLOOR); b.len()]
        }
        Tolerance::OfChannel { relative, floor } if is_float => {
            let largest = largest_of_channels(&b, &expected.shape);
            let limit = |index: usize| relative * largest[channel(index, &expected.shape)] + floor;
            (0..b.len()).map(limit).collect()
        }
        Tolerance::OfLargest { .. } | Tolerance::OfChannel { .. } | Tolerance::Bitwise => {
            let at = first_difference(actual, expected);
            return Err(mismatch(actual, at, a[at], b[at], "not bitwise equal"));
        }
    };
    let (mut worst, mut at) = (0.0f64, 0);
    for (index, (&a, &b)) in a.iter().zip(&b).enumerate() {
        let share = share_used(a, b, limits[index]);
        if share > worst {
            (worst, at) = (share, index);
        }
    }
    if worst <= 1.0 {
        return Ok(Distance { share: worst, message: String::new() });
    }
    let bad = (0..a.len()).filter(|&at| share_used(a[at], b[at], limits[at]) > 1.0).count();
    let note = format!("{bad} of {} elements beyond the tolerance; worst {worst:.3} times it", a.len());
    Ok(Distance { share: worst, message: mismatch(actual, at, a[at], b[at], &note) })
}

/// The largest finite magnitude of each channel.
pub fn largest_of_channels(elements: &[f64], shape: &[usize]) -> Vec<f64> {
    let mut largest = vec![0.0f64; if shape.len() < 3 { 1 } else { shape[1] }];
    for (index, x) in elements.iter().enumerate().filter(|(_, x)| x.is_finite()) {
        let most = &mut largest[channel(index, shape)];
        *most = most.max(x.abs());
    }
    largest
}

/// The index on the second axis of an element, 0 where there are fewer than three axes.
fn channel(index: usize, shape: &[usize]) -> usize {
    if shape.len() < 3 { 0 } else { index / shape[2..].iter().product::<usize>() % shape[1] }
}

/// Root mean square of the elementwise difference; NaN when the shapes differ.
pub fn rms_distance(a: &HostTensor, b: &HostTensor) -> f64 {
    if a.shape != b.shape {
        return f64::NAN;
    }
    let (a, b) = (a.to_f64(), b.to_f64());
    if a.is_empty() {
        return 0.0;
    }
    let squares: f64 = a.iter().zip(&b).map(|(a, b)| (a - b) * (a - b)).sum();
    (squares / a.len() as f64).sqrt()
}

/// |a - b| as a share of the limit; equal values, NaNs and infinities use none of it.
fn share_used(a: f64, b: f64, limit: f64) -> f64 {
    if a == b || (a.is_nan() && b.is_nan()) {
        return 0.0;
    }
    let share = (a - b).abs() / limit;
    if share.is_nan() { f64::INFINITY } else { share }
}

/// The index of the first element whose bytes differ.
fn first_difference(a: &HostTensor, b: &HostTensor) -> usize {
    let size = a.dtype.size();
    a.bytes.chunks(size).zip(b.bytes.chunks(size)).position(|(a, b)| a != b).unwrap_or(0)
}

fn mismatch(tensor: &HostTensor, at: usize, a: f64, b: f64, note: &str) -> String {
    let mut index = vec![0; tensor.shape.len()];
    let mut rest = at;
    for (i, size) in index.iter_mut().zip(&tensor.shape).rev() {
        *i = rest % size;
        rest /= size;
    }
    format!("at {index:?} is {a}, expected {b} ({note})")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f32s(elements: &[f32]) -> HostTensor {
        HostTensor::from_elements(&[elements.len()], elements)
    }

    #[test]
    fn tolerance_is_per_element_or_of_the_largest() {
        let (a, b) = (f32s(&[1.0, 100.5]), f32s(&[1.0, 100.0]));
        assert!(compare(&a, &b, Tolerance::Elementwise { rtol: 1e-2, atol: 0.0 }).is_ok());
        assert!(compare(&a, &b, Tolerance::Elementwise { rtol: 1e-3, atol: 0.0 }).is_err());
        let (a, b) = (f32s(&[1.5, 100.0]), f32s(&[1.0, 100.0]));
        assert!(compare(&a, &b, Tolerance::OfLargest { relative: 1e-2 }).is_ok());
        assert!(compare(&a, &b, Tolerance::OfLargest { relative: 1e-3 }).is_err());
    }

    #[test]
    fn small_channels_beside_large_ones_are_judged() {
        let boxes_and_scores =
            |score: f32| HostTensor::from_elements(&[1, 2, 2], &[320.0, 100.0, score, 0.1]);
        let (zeroed, right) = (boxes_and_scores(0.0), boxes_and_scores(0.01));
        assert!(compare(&zeroed, &right, Tolerance::OfLargest { relative: 1e-4 }).is_ok());
        assert!(compare(&zeroed, &right, Tolerance::OfChannel { relative: 1e-4, floor: 1e-6 }).is_err());
        assert_eq!(largest_of_channels(&[1.0, -2.0, 3.0, f64::NAN], &[1, 2, 2]), [2.0, 3.0]);
    }

    #[test]
    fn nan_and_infinity_must_stand_in_the_same_place() {
        let odd = f32s(&[f32::NAN, f32::INFINITY, 0.0]);
        let zero = f32s(&[f32::NAN, f32::INFINITY, -0.0]);
        let loose = Tolerance::OfLargest { relative: 1.0 };
        assert_eq!(compare(&odd, &zero, loose), Ok(0.0));
        assert!(compare(&odd, &zero, Tolerance::Bitwise).is_err());
        for other in [[0.0, f32::INFINITY, 0.0], [f32::NAN, f32::NEG_INFINITY, 0.0], [f32::NAN, 1e30, 0.0]] {
            assert!(compare(&f32s(&other), &odd, loose).is_err(), "{other:?}");
        }
    }

    #[test]
    fn integers_shapes_and_types_are_exact() {
        let loose = Tolerance::OfLargest { relative: 1.0 };
        let (a, b) =
            (HostTensor::from_elements(&[2], &[1i64, 2]), HostTensor::from_elements(&[2], &[1i64, 3]));
        assert_eq!(compare(&a, &b, loose), Err("at [1] is 2, expected 3 (not bitwise equal)".to_string()));
        assert!(compare(&a, &HostTensor::from_elements(&[2, 1], &[1i64, 2]), loose).is_err());
        assert!(compare(&a, &HostTensor::from_elements(&[2], &[1i32, 2]), loose).is_err());
    }

    #[test]
    fn rms_of_a_constant_shift_is_the_shift() {
        assert_eq!(rms_distance(&f32s(&[1.0, 2.0]), &f32s(&[1.5, 1.5])), 0.5);
    }
}
