//! Constant weights in `bf16`: each is one of the two numbers around it, and those of a convolution's filter add up to
//! what they added up to before.
//!
//! Activations behind a rectifier are positive. What the roundings of a filter's weights leave over in sum then shifts
//! all its results the same way, layer after layer, while roundings that cancel are noise. So each weight goes to the
//! nearest number, and of those that are nearly in the middle a few go to the other side until the sum is right: about
//! as many as the square root of their number, whose error grows by next to nothing. The factors of other contractions
//! mostly come from norms, and have either sign.

use tegula_base::DType;
use tegula_ir::{ConstData, Value};
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, TensorOp};

/// The part of the distance of two numbers from which on the farther one may be taken: of weights in any order a tenth
/// is enough to choose from.
const NEARLY_HALF: f64 = 0.4;

/// The rounded weights, where operand `i` of a contraction is a constant.
pub(super) fn rounded(b: &mut Builder, kind: &TensorOp, value: Value, i: usize) -> Built<Option<Value>> {
    let Some(TensorOp::Constant { id, .. }) = b.func.def_op(value).map(|op| b.func.kind(op)) else {
        return Ok(None);
    };
    let Some(data) = b.consts.get(*id) else { return Ok(None) };
    let Some(reals) = data.elements::<f32>() else { return Ok(None) };
    let shape = data.shape.clone();
    let weights: Vec<u32> = reals.into_iter().map(f32::to_bits).collect();
    let mut numbers: Vec<u16> = weights.iter().map(|bits| nearest(*bits)).collect();
    let filter = shape.iter().skip(1).product::<usize>();
    if matches!(kind, TensorOp::Conv { .. }) && i == 1 && filter > 0 {
        let filters = weights.chunks_exact(filter).zip(numbers.chunks_exact_mut(filter));
        filters.for_each(|(weights, numbers)| balance(weights, numbers));
    }
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let data = ConstData::new(DType::BF16, shape, bytes.into()).map_err(|wrong| wrong.message)?;
    b.constant(data).map(Some)
}

/// A rounded splat.
pub(super) fn splat(b: &mut Builder, value: Value) -> Option<Built> {
    let TensorOp::Splat { shape, bits, .. } = b.func.kind(b.func.def_op(value)?) else { return None };
    let (shape, bits) = (shape.clone(), nearest(*bits as u32).into());
    Some(b.emit(TensorOp::Splat { dtype: DType::BF16, shape, bits }, &[]))
}

fn real(number: u16) -> f64 {
    f32::from_bits(u32::from(number) << 16).into()
}

/// The nearest number, of two equally near the even one; NaN stays NaN.
fn nearest(bits: u32) -> u16 {
    if f32::from_bits(bits).is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

/// Puts some of the numbers on the other side of their weights, so that they add up to what those do.
fn balance(weights: &[u32], numbers: &mut [u16]) {
    let weight = |at: usize| f64::from(f32::from_bits(weights[at]));
    let mut excess: f64 = (0..weights.len()).map(|at| real(numbers[at]) - weight(at)).sum();
    // Place, the number on the other side, what taking it adds to the sum, its part of the distance.
    let mut movable: Vec<(usize, u16, f64, f64)> = Vec::new();
    for (at, number) in numbers.iter().enumerate() {
        let below = (weights[at] >> 16) as u16;
        let other = if *number == below { below.wrapping_add(1) } else { below };
        let step = real(other) - real(*number);
        let part = (real(*number) - weight(at)) / -step;
        if step.is_finite() && part >= NEARLY_HALF && step * excess < 0.0 {
            movable.push((at, other, step, part));
        }
    }
    movable.sort_by(|a, b| b.3.total_cmp(&a.3));
    for (at, other, step, _) in movable {
        if (excess + step).abs() < excess.abs() {
            numbers[at] = other;
            excess += step;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_nearest() {
        for (real, bits) in
            [(1.0f32, 0x3f80), (1.003_906_3, 0x3f80), (1.003_91, 0x3f81), (-1.011_718_8, 0xbf82)]
        {
            assert_eq!(nearest(real.to_bits()), bits, "{real}");
        }
        assert_eq!(nearest(f32::MAX.to_bits()), 0x7f80);
        assert!(real(nearest(0x7f80_0001)).is_nan());
    }

    /// Whatever the weights: each number is beside its weight, and their sum is off by half a step of one at most.
    #[test]
    fn filters_keep_their_sums() {
        let mut state = 1u32;
        let mut draw = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 24) as f32
        };
        for steps in [64, 577, 4608] {
            let reals: Vec<f32> = (0..steps).map(|_| (draw() + draw() + draw() - 1.5) / 8.0).collect();
            let weights: Vec<u32> = reals.iter().map(|real| real.to_bits()).collect();
            let mut numbers: Vec<u16> = weights.iter().map(|bits| nearest(*bits)).collect();
            let excess = |numbers: &[u16]| -> f64 {
                numbers.iter().zip(&reals).map(|(number, weight)| real(*number) - f64::from(*weight)).sum()
            };
            balance(&weights, &mut numbers);
            assert!(excess(&numbers).abs() < 0.25 / 256.0, "{}", excess(&numbers));
            for (number, weight) in numbers.iter().zip(&reals) {
                let distance = (real(*number) - f64::from(*weight)).abs();
                assert!(
                    distance <= 0.6 / 128.0 * f64::from(weight.abs()),
                    "{weight} became {}",
                    real(*number)
                );
            }
        }
    }
}
