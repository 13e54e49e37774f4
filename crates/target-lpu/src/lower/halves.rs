//! Factors of floats as `f16`, and the passes of their products.
//!
//! A factor is what it rounds to, its *high* half. At [`FloatFactors::F16x2`] it has a *low* half as well: what that rounding
//! leaves, times [`LOW_SCALE`]. A product is then `high high + (high low + low high) / LOW_SCALE`, three passes through the
//! planes. The sum in parentheses is rounded once, and the whole once. Left out are `low low` and what the low halves are
//! rounded by: up to 2^-20 of a product of two elements. Bytes are numbers of `f16`, and have no low half.

use super::alu::{Chain, float};
use super::{Lower, Tensor, vectors};
use crate::flow::ValueId;
use crate::target::FloatFactors;
use half::f16;
use tegula_base::DType;
use tegula_isa_lpu::word::{AluOp, Element, Number};

/// Half a step of an `f16` of `[1, 2)` becomes 1, so that low halves underflow where high ones do.
const LOW_SCALE: f32 = 2048.0;

/// A factor's halves; no low one where it is not kept.
pub(super) struct Halves<T> {
    pub(super) high: T,
    pub(super) low: Option<T>,
}

impl<T> Halves<T> {
    pub(super) fn map<U>(self, mut f: impl FnMut(T) -> U) -> Halves<U> {
        Halves { high: f(self.high), low: self.low.map(f) }
    }
}

/// The bytes of a known number's high half.
pub(super) fn high(x: f64) -> Vec<u8> {
    f16::from_f64(x).to_le_bytes().to_vec()
}

/// The bytes of a known number's low half.
pub(super) fn low(x: f64) -> Vec<u8> {
    let rest = x - f16::from_f64(x).to_f64();
    f16::from_f64(rest * f64::from(LOW_SCALE)).to_le_bytes().to_vec()
}

impl Lower<'_> {
    /// Whether factors of a type have low halves.
    pub(super) fn has_low(&self, dtype: DType) -> bool {
        self.factors == FloatFactors::F16x2 && dtype.is_float()
    }

    /// The halves of a tensor of floats or bytes.
    pub(super) fn halved(&mut self, tensor: Tensor) -> Halves<ValueId> {
        self.halved_by(tensor, &|lower, half, _| {
            let count = vectors(&half.shape, lower.lanes());
            lower.narrowed(half.value, 0, count, DType::F32, Element::F16)
        })
    }

    /// Likewise; `narrowed` stores a half of 32 bits as `f16`, and is told what a known number has there.
    pub(super) fn halved_by(
        &mut self,
        tensor: Tensor,
        narrowed: &dyn Fn(&mut Self, &Tensor, fn(f64) -> Vec<u8>) -> ValueId,
    ) -> Halves<ValueId> {
        let has_low = self.has_low(tensor.dtype);
        let tensor = self.as_floats(tensor);
        let rest = has_low.then(|| {
            let count = vectors(&tensor.shape, self.lanes());
            let near = self.narrowed(tensor.value, 0, count, DType::F32, Element::F16);
            let near = Tensor { value: self.widened(near, Element::F16, count), ..tensor.clone() };
            let mut chain = Chain::over(self, &tensor.shape);
            let (x, near) = (chain.arg(&tensor), chain.arg(&near));
            let rest = chain.sub(&x, &near);
            let rest = chain.mul(&rest, &float(LOW_SCALE));
            let rest = chain.finish(rest, tensor.shape.clone(), DType::F32);
            narrowed(self, &rest, low)
        });
        Halves { high: narrowed(self, &tensor, high), low: rest }
    }

    fn as_floats(&mut self, tensor: Tensor) -> Tensor {
        if tensor.dtype.is_float() {
            return tensor;
        }
        let mut chain = Chain::over(self, &tensor.shape);
        let x = chain.arg(&tensor);
        let floats = chain.cast(&x, Element::I32, Element::F32);
        chain.finish(floats, tensor.shape, DType::F32)
    }

    /// The sum of the products of halves, each by `product`.
    pub(super) fn passes<W>(
        &mut self,
        rows: &Halves<ValueId>,
        weights: &Halves<W>,
        product: &dyn Fn(&mut Self, ValueId, &W) -> Tensor,
    ) -> Tensor {
        let whole = product(self, rows.high, &weights.high);
        let by_low = weights.low.as_ref().map(|low| product(self, rows.high, low));
        let of_low = rows.low.map(|low| product(self, low, &weights.high));
        let rest = match (by_low, of_low) {
            (None, None) => return whole,
            (Some(rest), None) | (None, Some(rest)) => rest,
            (Some(a), Some(b)) => {
                let mut chain = Chain::over(self, &a.shape);
                let (x, y) = (chain.arg(&a), chain.arg(&b));
                let sum = chain.alu(AluOp::Add(Number::F32), &[&x, &y]);
                chain.finish(sum, a.shape.clone(), DType::F32)
            }
        };
        let mut chain = Chain::over(self, &whole.shape);
        let (high, rest) = (chain.arg(&whole), chain.arg(&rest));
        let sum = chain.fma(&rest, &float(1.0 / LOW_SCALE), &high);
        chain.finish(sum, whole.shape.clone(), DType::F32)
    }
}
