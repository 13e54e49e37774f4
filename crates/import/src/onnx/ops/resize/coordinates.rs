//! Where the places of an output lie in the input, along one axis.
//!
//! Before: whole extents, and a scale that is a quotient. After: a quotient of two exact numbers.
//! Each coordinate is divided once, last. In `f64`, numerators of up to 2^52 steps are exact, and the one rounding of the
//! division keeps a coordinate on its side of every whole and half number. So the nearest element is that of rational
//! arithmetic; see `docs/decisions/058-resize-coordinates.md`.

use crate::onnx::cx::Cx;
use crate::report::{Fault, Outcome};
use tegula_ir::{ScalarOp, Value};

/// How output places map to input places: ONNX's `coordinate_transformation_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transform {
    HalfPixel,
    HalfPixelSymmetric,
    PytorchHalfPixel,
    AlignCorners,
    Asymmetric,
    CropAndResize,
}

/// Which neighbour is the nearest one: ONNX's `nearest_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    PreferFloor,
    PreferCeil,
    Floor,
    Ceil,
}

/// What the formulas compute with: tensors of `f64`, or plain numbers.
pub trait Arithmetic {
    type Number: Copy;
    fn add(&mut self, a: Self::Number, b: Self::Number) -> Outcome<Self::Number>;
    fn sub(&mut self, a: Self::Number, b: Self::Number) -> Outcome<Self::Number>;
    fn mul(&mut self, a: Self::Number, b: Self::Number) -> Outcome<Self::Number>;
    fn plus(&mut self, a: Self::Number, b: f64) -> Outcome<Self::Number>;
    fn times(&mut self, a: Self::Number, b: f64) -> Outcome<Self::Number>;
    fn floor(&mut self, a: Self::Number) -> Outcome<Self::Number>;
    fn ceil(&mut self, a: Self::Number) -> Outcome<Self::Number>;
}

/// An axis: extents, the scale as a quotient, and the region of `CropAndResize`.
pub struct Axis<N> {
    pub input: N,
    pub output: N,
    pub scale: (N, N),
    pub region: Option<(N, N)>,
}

impl Transform {
    /// Whether an output of one element has a coordinate of its own.
    pub fn singles_out(self) -> bool {
        matches!(self, Transform::PytorchHalfPixel | Transform::AlignCorners | Transform::CropAndResize)
    }

    /// The coordinate of a place, as numerator and denominator.
    pub fn coordinate<A: Arithmetic>(
        self,
        a: &mut A,
        axis: &Axis<A::Number>,
        place: A::Number,
    ) -> Outcome<(A::Number, A::Number)> {
        let (p, q) = axis.scale;
        Ok(match self {
            Transform::Asymmetric => (a.mul(place, q)?, p),
            // (x + 1/2) q/p - 1/2
            Transform::HalfPixel | Transform::PytorchHalfPixel => {
                let odd = a.times(place, 2.0)?;
                let odd = a.plus(odd, 1.0)?;
                let odd = a.mul(odd, q)?;
                (a.sub(odd, p)?, a.times(p, 2.0)?)
            }
            // (x + 1/2) q/p - 1/2 + input/2 (1 - output/(input p/q))
            Transform::HalfPixelSymmetric => {
                let odd = a.times(place, 2.0)?;
                let odd = a.plus(odd, 1.0)?;
                let centred = a.sub(odd, axis.output)?;
                let centred = a.mul(centred, q)?;
                let last = a.plus(axis.input, -1.0)?;
                let last = a.mul(last, p)?;
                (a.add(centred, last)?, a.times(p, 2.0)?)
            }
            Transform::AlignCorners => {
                let last = a.plus(axis.input, -1.0)?;
                (a.mul(place, last)?, a.plus(axis.output, -1.0)?)
            }
            // (start + x (end - start) / (output - 1)) (input - 1)
            Transform::CropAndResize => {
                let (start, end) = region(axis)?;
                let steps = a.plus(axis.output, -1.0)?;
                let (span, base) = (a.sub(end, start)?, a.mul(start, steps)?);
                let moved = a.mul(place, span)?;
                let moved = a.add(base, moved)?;
                let last = a.plus(axis.input, -1.0)?;
                (a.mul(moved, last)?, steps)
            }
        })
    }

    /// The coordinate of the only element of an output, where it [has its own](Self::singles_out).
    pub fn only_coordinate<A: Arithmetic>(self, a: &mut A, axis: &Axis<A::Number>) -> Outcome<A::Number> {
        if self != Transform::CropAndResize {
            return a.times(axis.output, 0.0);
        }
        let (start, end) = region(axis)?;
        let both = a.add(start, end)?;
        let last = a.plus(axis.input, -1.0)?;
        let middle = a.mul(both, last)?;
        a.times(middle, 0.5)
    }
}

fn region<N: Copy>(axis: &Axis<N>) -> Outcome<(N, N)> {
    axis.region.ok_or_else(|| Fault::invalid("the region of interest is missing"))
}

impl Rounding {
    /// The whole number beside a coordinate.
    pub fn round<A: Arithmetic>(self, a: &mut A, coordinate: A::Number) -> Outcome<A::Number> {
        match self {
            Rounding::Floor => a.floor(coordinate),
            Rounding::Ceil => a.ceil(coordinate),
            Rounding::PreferFloor => {
                let low = a.plus(coordinate, -0.5)?;
                a.ceil(low)
            }
            Rounding::PreferCeil => {
                let high = a.plus(coordinate, 0.5)?;
                a.floor(high)
            }
        }
    }
}

impl Arithmetic for Cx<'_> {
    type Number = Value;

    fn add(&mut self, a: Value, b: Value) -> Outcome {
        self.binary(ScalarOp::Add, a, b)
    }

    fn sub(&mut self, a: Value, b: Value) -> Outcome {
        self.binary(ScalarOp::Sub, a, b)
    }

    fn mul(&mut self, a: Value, b: Value) -> Outcome {
        self.binary(ScalarOp::Mul, a, b)
    }

    fn plus(&mut self, a: Value, b: f64) -> Outcome {
        self.with_number(ScalarOp::Add, a, b)
    }

    fn times(&mut self, a: Value, b: f64) -> Outcome {
        self.with_number(ScalarOp::Mul, a, b)
    }

    fn floor(&mut self, a: Value) -> Outcome {
        self.unary(ScalarOp::Floor, a)
    }

    fn ceil(&mut self, a: Value) -> Outcome {
        self.unary(ScalarOp::Ceil, a)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Plain;

    impl Arithmetic for Plain {
        type Number = f64;

        fn add(&mut self, a: f64, b: f64) -> Outcome<f64> {
            Ok(a + b)
        }

        fn sub(&mut self, a: f64, b: f64) -> Outcome<f64> {
            Ok(a - b)
        }

        fn mul(&mut self, a: f64, b: f64) -> Outcome<f64> {
            Ok(a * b)
        }

        fn plus(&mut self, a: f64, b: f64) -> Outcome<f64> {
            Ok(a + b)
        }

        fn times(&mut self, a: f64, b: f64) -> Outcome<f64> {
            Ok(a * b)
        }

        fn floor(&mut self, a: f64) -> Outcome<f64> {
            Ok(a.floor())
        }

        fn ceil(&mut self, a: f64) -> Outcome<f64> {
            Ok(a.ceil())
        }
    }

    /// A rational number, not reduced; the denominator is positive.
    #[derive(Clone, Copy)]
    struct Ratio(i128, i128);

    impl Ratio {
        /// A float as the number that it is.
        fn of(x: f32) -> Ratio {
            let (mut x, mut under) = (f64::from(x), 1);
            while x.fract() != 0.0 {
                (x, under) = (x * 2.0, under * 2);
            }
            Ratio(x as i128, under)
        }

        fn plus(self, other: Ratio) -> Ratio {
            match self.1 == other.1 {
                true => Ratio(self.0 + other.0, self.1),
                false => Ratio(self.0 * other.1 + other.0 * self.1, self.1 * other.1),
            }
        }

        fn minus(self, other: Ratio) -> Ratio {
            self.plus(Ratio(-other.0, other.1))
        }

        fn times(self, other: Ratio) -> Ratio {
            Ratio(self.0 * other.0, self.1 * other.1)
        }

        /// By a positive number.
        fn over(self, other: Ratio) -> Ratio {
            Ratio(self.0 * other.1, self.1 * other.0)
        }

        fn floor(self) -> i128 {
            self.0.div_euclid(self.1)
        }
    }

    /// A case: extents, the scale, the region.
    struct Case {
        n: i128,
        m: i128,
        scale: Ratio,
        region: (f32, f32),
    }

    /// The sentences of ONNX's Resize, as they stand.
    fn by_the_text(transform: Transform, case: &Case, x: i128) -> Ratio {
        let whole = |n: i128| Ratio(n, 1);
        let (n, m, half) = (whole(case.n), whole(case.m), Ratio(1, 2));
        let centre = whole(x).plus(half).over(case.scale).minus(half);
        let (start, end) = (Ratio::of(case.region.0), Ratio::of(case.region.1));
        let last = n.minus(whole(1));
        match transform {
            Transform::HalfPixel => centre,
            Transform::HalfPixelSymmetric => {
                let adjustment = m.over(n.times(case.scale));
                n.times(half).times(whole(1).minus(adjustment)).plus(centre)
            }
            Transform::PytorchHalfPixel if case.m > 1 => centre,
            Transform::AlignCorners if case.m > 1 => whole(x).times(last).over(m.minus(whole(1))),
            Transform::PytorchHalfPixel | Transform::AlignCorners => whole(0),
            Transform::Asymmetric => whole(x).over(case.scale),
            Transform::CropAndResize if case.m > 1 => {
                let step = end.minus(start).times(last).over(m.minus(whole(1)));
                start.times(last).plus(whole(x).times(step))
            }
            Transform::CropAndResize => start.plus(end).times(half).times(last),
        }
    }

    fn exactly_rounded(rounding: Rounding, x: Ratio) -> i128 {
        let (down, up) = (x.floor(), -Ratio(-x.0, x.1).floor());
        // Where x lies between them, in halves.
        let past_half = (2 * x.0 - (2 * down + 1) * x.1).signum();
        match (rounding, past_half) {
            (Rounding::Floor, _) => down,
            (Rounding::Ceil, _) => up,
            (_, -1) | (Rounding::PreferFloor, 0) => down,
            _ => up,
        }
    }

    const TRANSFORMS: [Transform; 6] = [
        Transform::HalfPixel,
        Transform::HalfPixelSymmetric,
        Transform::PytorchHalfPixel,
        Transform::AlignCorners,
        Transform::Asymmetric,
        Transform::CropAndResize,
    ];

    const ROUNDINGS: [Rounding; 4] =
        [Rounding::PreferFloor, Rounding::PreferCeil, Rounding::Floor, Rounding::Ceil];

    /// All places of an axis, by every transform and rounding.
    fn compare(case: &Case, scale: (f64, f64)) {
        let region = (f64::from(case.region.0), f64::from(case.region.1));
        let axis = Axis { input: case.n as f64, output: case.m as f64, scale, region: Some(region) };
        for transform in TRANSFORMS {
            for x in 0..case.m {
                let coordinate = match transform.singles_out() && case.m == 1 {
                    true => transform.only_coordinate(&mut Plain, &axis),
                    false => {
                        transform.coordinate(&mut Plain, &axis, x as f64).map(|(over, under)| over / under)
                    }
                };
                let coordinate = coordinate.unwrap_or(f64::NAN);
                let exact = by_the_text(transform, case, x);
                for rounding in ROUNDINGS {
                    let got = rounding.round(&mut Plain, coordinate).unwrap_or(f64::NAN);
                    let wanted = exactly_rounded(rounding, exact);
                    let (n, m) = (case.n, case.m);
                    assert_eq!(
                        got, wanted as f64,
                        "{transform:?} {rounding:?} of {n} to {m} at {x}, scale {scale:?}"
                    );
                }
            }
        }
    }

    const REGIONS: [(f32, f32); 3] = [(0.1, 0.9), (-0.25, 1.3), (0.7, 0.3)];

    fn by_sizes(n: i128, m: i128) {
        let region = REGIONS[(n + m) as usize % REGIONS.len()];
        compare(&Case { n, m, scale: Ratio(m, n), region }, (m as f64, n as f64));
    }

    fn by_scale(n: i128, scale: f32) {
        let m = (n as f32 * scale).floor() as i128;
        let region = REGIONS[(n + m) as usize % REGIONS.len()];
        if m > 0 {
            compare(&Case { n, m, scale: Ratio::of(scale), region }, (f64::from(scale), 1.0));
        }
    }

    /// Every pair of small extents, and every 251st of those to 512.
    #[test]
    fn nearest_elements_are_those_of_rational_arithmetic() {
        for n in 1..=512 {
            for m in (1..=512).filter(|m| n.max(*m) <= 20 || (5 * n + m) % 251 == 0) {
                by_sizes(n, m);
                by_scale(n, m as f32 / n as f32);
            }
        }
        for scale in [0.1, 0.3, 0.6, 1.1, 1.5, 2.0, 2.5, 7.0] {
            (1..=40).for_each(|n| by_scale(n, scale));
        }
    }
}
