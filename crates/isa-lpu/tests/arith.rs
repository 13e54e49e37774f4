//! Arithmetic words against rational arithmetic in integers of 128 bits, and by hand.

use crate::sample::Random;
use half::f16;
use tegula_isa_lpu::arith::{alu, pass, sum_of_products};
use tegula_isa_lpu::word::{AluOp, Element, Factors, Number};

/// A finite `f16` as a multiple of 2^-24.
fn steps(x: f16) -> i128 {
    (x.to_f64() * f64::from(1 << 24)) as i128
}

/// An integer times 2^-48, rounded to the nearest `f32`, ties to even.
fn rounded(sum: i128) -> f32 {
    let size = sum.unsigned_abs();
    if size == 0 {
        return 0.0;
    }
    let spare = (128 - size.leading_zeros()).saturating_sub(24);
    let (kept, lost) = (size >> spare, size & ((1u128 << spare) - 1));
    let half = if spare == 0 { 0 } else { 1u128 << (spare - 1) };
    let up = spare > 0 && (lost > half || lost == half && kept & 1 == 1);
    // Both factors are exact, and the result is far from the least `f32`.
    let value = (kept + u128::from(up)) as f64 * (f64::from(spare) - 48.0).exp2();
    (if sum < 0 { -value } else { value }) as f32
}

#[test]
fn sums_of_products_are_exact_and_rounded_once() {
    let mut random = Random::new(7);
    for _ in 0..4000 {
        let n = 1 + random.below(320);
        // All exponents, or few: then much cancels.
        let keep = [0xffff, 0x87ff, 0xbfff][random.below(3) as usize];
        let mut draw = || {
            let x = f16::from_bits(random.below(1 << 16) as u16 & keep);
            if x.is_finite() { x } else { f16::ONE }
        };
        let pairs: Vec<(f16, f16)> = (0..n).map(|_| (draw(), draw())).collect();
        let exact: i128 = pairs.iter().map(|(a, b)| steps(*a) * steps(*b)).sum();
        let got = sum_of_products(pairs.iter().map(|(a, b)| (a.to_f32(), b.to_f32())));
        assert_eq!(got.to_bits(), rounded(exact).to_bits(), "{pairs:?}");
    }
}

#[test]
fn sums_near_ties_are_rounded_once() {
    // 2^24 + 1 lies between two `f32`; the least product decides, 2^-48 of either sign.
    let big = 4096.0;
    let tiny = f16::from_bits(1).to_f32();
    let tie = [(big, big), (1.0, 1.0)];
    let of = |last: f32| sum_of_products(tie.into_iter().chain([(tiny, last)]));
    assert_eq!(of(0.0), 16777216.0);
    assert_eq!(of(tiny), 16777218.0);
    assert_eq!(of(-tiny), 16777216.0);
}

#[test]
fn factors_that_are_no_numbers() {
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    assert_eq!(sum_of_products([(inf, 1.0), (2.0, 3.0)].into_iter()), inf);
    assert!(sum_of_products([(inf, 1.0), (-inf, 3.0)].into_iter()).is_nan());
    assert!(sum_of_products([(inf, 0.0)].into_iter()).is_nan());
    assert!(sum_of_products([(nan, 1.0)].into_iter()).is_nan());
}

#[test]
fn bytes_are_multiplied_as_integers() {
    let pairs = [(200u16, 3u16), (5, 255)];
    assert_eq!(pass(Factors::I8, pairs.into_iter()) as i32, -56 * 3 - 5);
}

#[test]
fn casts_round_shift_and_saturate() {
    let cast = |from, to, saturate, shift, bits: i32| {
        alu(AluOp::Cast { from, to, saturate, shift }, [bits as u32, 0, 0]) as i32
    };
    let (i32s, i8s, u8s) = (Element::I32, Element::I8, Element::U8);
    assert_eq!([5, 6, -6, -7].map(|x| cast(i32s, Element::I32, true, 2, x)), [1, 2, -1, -2]);
    assert_eq!([600, -600].map(|x| cast(i32s, i8s, true, 1, x) as u8 as i8), [127, -128]);
    assert_eq!(cast(i32s, i8s, false, 0, 300), 300 & 0xff);
    assert_eq!(cast(u8s, i32s, false, 0, 0xff), 255);
    assert_eq!(cast(i8s, i32s, false, 0, 0xff), -1);
    let float = |x: f32| x.to_bits() as i32;
    assert_eq!([0.5, 1.5, -2.5].map(|x| cast(Element::F32, i32s, true, 0, float(x))), [0, 2, -2]);
    assert_eq!(cast(Element::F32, u8s, true, 0, float(1e9)), 255);
    assert_eq!(cast(Element::F32, i8s, true, 0, float(f32::NAN)), 0);
    assert_eq!(cast(Element::F32, Element::F16, true, 0, float(1e6)) as u16, f16::MAX.to_bits());
    assert_eq!(cast(Element::F32, Element::F16, false, 0, float(1e6)) as u16, f16::INFINITY.to_bits());
    assert_eq!(f32::from_bits(cast(i32s, Element::F32, false, 0, 16777217) as u32), 16777216.0);
}

#[test]
fn minima_and_maxima_know_zeros_and_nan() {
    let of = |op: fn(Number) -> AluOp, x: f32, y: f32| {
        f32::from_bits(alu(op(Number::F32), [x.to_bits(), y.to_bits(), 0]))
    };
    assert!(of(AluOp::Min, f32::NAN, 1.0).is_nan() && of(AluOp::Max, 1.0, f32::NAN).is_nan());
    assert!(of(AluOp::Min, 0.0, -0.0).is_sign_negative() && of(AluOp::Max, -0.0, 0.0).is_sign_positive());
    assert_eq!((of(AluOp::Min, 2.0, -3.0), of(AluOp::Max, 2.0, -3.0)), (-3.0, 2.0));
}
