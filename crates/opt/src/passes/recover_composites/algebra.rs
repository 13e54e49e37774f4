//! What a value is as arithmetic: a product of powers, an affine function, a polynomial, a mean. One matcher for all
//! patterns: exporters write a formula in any order and association, with divisions or reciprocals, powers or products.
//!
//! A walk notes the ops that it goes through; a pattern replaces them all, so none may be read from outside
//! ([`Algebra::is_closed`]). Walks end after [`MOST`] ops: formulas are short, and chains of products may be long.

use crate::passes::canonicalise::Site;
use smallvec::SmallVec;
use tegula_base::{DType, Dim};
use tegula_ir::scalar::eval::eval;
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_tensor::TensorOp;

/// Ops of one walk.
const MOST: usize = 10;

/// The highest power of a polynomial, and one.
pub(super) const DEGREES: usize = 4;

pub(super) struct Algebra<'a, 'b> {
    pub site: &'a Site<'b>,
    /// What the walks went through.
    inner: SmallVec<[OpId; MOST]>,
}

/// `base ^ (halves / 2)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Power {
    pub base: Value,
    pub halves: i32,
}

pub(super) type Powers = SmallVec<[Power; 4]>;

/// `number * powers`, each base once for its whole powers.
#[derive(Clone, Debug, Default)]
pub(super) struct Product {
    pub number: f64,
    pub powers: Powers,
}

impl Product {
    /// The place of a power among the others.
    pub fn find(&self, base: Value, halves: i32) -> Option<usize> {
        self.powers.iter().position(|power| *power == Power { base, halves })
    }

    fn push(&mut self, base: Value, halves: i32) {
        // Roots stay apart: `sqrt(x) * sqrt(x)` is no `x` where x is negative.
        let like = self.powers.iter_mut().find(|power| power.base == base && power.halves % 2 == 0);
        match like {
            Some(power) if halves % 2 == 0 => power.halves += halves,
            _ => self.powers.push(Power { base, halves }),
        }
    }
}

/// `scale * inner + offset`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Affine {
    pub inner: Value,
    pub scale: f64,
    pub offset: f64,
}

impl<'a, 'b> Algebra<'a, 'b> {
    pub fn new(site: &'a Site<'b>) -> Algebra<'a, 'b> {
        Algebra { site, inner: SmallVec::new() }
    }

    /// Whether the formula is computed as wide as its composite is: in 16 bits each step is rounded, which a composite
    /// does not do.
    pub fn is_wide(&self) -> bool {
        matches!(self.site.result_type().dtype, DType::F32 | DType::F64)
    }

    // --- one op -----------------------------------------------------------------------------------------

    /// The function and the operands of an elementwise op.
    fn elementwise(&self, value: Value) -> Option<(OpId, ScalarOp, [Value; 2])> {
        let (op, TensorOp::Elementwise { f }) = self.site.def(value)? else { return None };
        let operands = self.site.b.func.operands(op);
        let (first, last) = (*operands.first()?, *operands.last()?);
        (operands.len() <= 2).then_some((op, *f, [first, last]))
    }

    /// The number that a splat repeats.
    pub fn number(&self, value: Value) -> Option<f64> {
        let bits = self.site.splat(value)? as u64;
        let dtype = self.site.b.dtype(value);
        let to = ScalarOp::Cast { to: DType::F64, saturate: true };
        dtype.is_float().then(|| f64::from_bits(eval(to, &[dtype], &[bits])))
    }

    /// Goes through the op behind a value.
    fn enter(&mut self, op: OpId) {
        if !self.inner.contains(&op) {
            self.inner.push(op);
        }
    }

    /// The operand of a function of one.
    pub fn operand_of(&mut self, value: Value, f: ScalarOp) -> Option<Value> {
        let (op, found, [x, _]) = self.elementwise(value)?;
        (found == f && f.arity() == 1).then(|| {
            self.enter(op);
            x
        })
    }

    /// The operands of a function of two.
    pub fn operands_of(&mut self, value: Value, f: ScalarOp) -> Option<[Value; 2]> {
        let (op, found, operands) = self.elementwise(value)?;
        (found == f && f.arity() == 2).then(|| {
            self.enter(op);
            operands
        })
    }

    /// What is reduced by `f`, and along which axes.
    pub fn reduced(&mut self, value: Value, f: ScalarOp) -> Option<(Value, Vec<usize>)> {
        let (op, TensorOp::Reduce { f: found, axes }) = self.site.def(value)? else { return None };
        let found = (*found == f).then(|| (self.site.b.func.operand(op, 0), axes.clone()));
        found.inspect(|_| self.enter(op))
    }

    /// `x` of `x * x` or `x ^ 2`.
    pub fn square(&mut self, value: Value) -> Option<Value> {
        let (op, f, [a, b]) = self.elementwise(value)?;
        let found = match f {
            ScalarOp::Mul => a == b,
            ScalarOp::Pow => self.number(b) == Some(2.0),
            _ => false,
        };
        found.then(|| {
            self.enter(op);
            a
        })
    }

    // --- formulas ---------------------------------------------------------------------------------------

    /// Any value as a product; `whole` is not taken apart.
    pub fn product(&mut self, value: Value, whole: Option<Value>) -> Product {
        let mut product = Product { number: 1.0, powers: Powers::new() };
        let mut left = MOST;
        self.multiply(value, 2, whole, &mut left, &mut product);
        product.powers.retain(|power| power.halves != 0);
        product
    }

    /// Multiplies by `value ^ (halves / 2)`; `halves` is even but below roots, which are not walked through.
    fn multiply(
        &mut self,
        value: Value,
        halves: i32,
        whole: Option<Value>,
        left: &mut usize,
        into: &mut Product,
    ) {
        if let Some(number) = self.number(value) {
            into.number *= number.powi(halves / 2);
            return;
        }
        let found = self.elementwise(value).filter(|_| *left > 0 && whole != Some(value));
        let Some((op, f, [a, b])) = found else { return into.push(value, halves) };
        let power = match f {
            ScalarOp::Pow => {
                self.number(b).filter(|power| (power * 2.0).fract() == 0.0 && power.abs() <= 3.0)
            }
            _ => None,
        };
        *left -= 1;
        match f {
            ScalarOp::Mul => {
                self.multiply(a, halves, whole, left, into);
                self.multiply(b, halves, whole, left, into);
            }
            ScalarOp::Div => {
                self.multiply(a, halves, whole, left, into);
                self.multiply(b, -halves, whole, left, into);
            }
            ScalarOp::Neg => {
                into.number *= if halves % 4 == 0 { 1.0 } else { -1.0 };
                self.multiply(a, halves, whole, left, into);
            }
            ScalarOp::Reciprocal => self.multiply(a, -halves, whole, left, into),
            ScalarOp::Sqrt if halves.abs() == 2 => into.push(a, halves / 2),
            ScalarOp::Rsqrt if halves.abs() == 2 => into.push(a, -halves / 2),
            ScalarOp::Pow if power.is_some_and(|power| power.fract() == 0.0) => {
                self.multiply(a, halves * power.map_or(1, |power| power as i32), whole, left, into);
            }
            ScalarOp::Pow if power.is_some() && halves.abs() == 2 => {
                into.push(a, halves / 2 * power.map_or(1, |power| (power * 2.0) as i32));
            }
            _ => return into.push(value, halves),
        }
        self.enter(op);
    }

    /// Any value as an affine function of what is no arithmetic with numbers.
    pub fn affine(&mut self, value: Value) -> Affine {
        let mut outer = Affine { inner: value, scale: 1.0, offset: 0.0 };
        for _ in 0..MOST {
            let Some((op, f, [a, b])) = self.elementwise(outer.inner) else { break };
            let (left, right) = (self.number(a), self.number(b));
            // As `inner -> scale * inner + offset`.
            let (inner, scale, offset) = match (f, left, right) {
                (ScalarOp::Neg, _, _) => (a, -1.0, 0.0),
                (ScalarOp::Add, None, Some(number)) => (a, 1.0, number),
                (ScalarOp::Add, Some(number), None) => (b, 1.0, number),
                (ScalarOp::Sub, None, Some(number)) => (a, 1.0, -number),
                (ScalarOp::Sub, Some(number), None) => (b, -1.0, number),
                (ScalarOp::Mul, None, Some(number)) => (a, number, 0.0),
                (ScalarOp::Mul, Some(number), None) => (b, number, 0.0),
                (ScalarOp::Div, None, Some(number)) => (a, 1.0 / number, 0.0),
                _ => break,
            };
            self.enter(op);
            outer = Affine { inner, scale: outer.scale * scale, offset: outer.scale * offset + outer.offset };
        }
        outer
    }

    /// A value as a polynomial of `x`, coefficients from that of `x^0` on.
    pub fn polynomial(&mut self, value: Value, x: Value) -> Option<[f64; DEGREES]> {
        self.polynomial_within(value, x, &mut { MOST })
    }

    fn polynomial_within(&mut self, value: Value, x: Value, left: &mut usize) -> Option<[f64; DEGREES]> {
        if value == x {
            return Some([0.0, 1.0, 0.0, 0.0]);
        }
        if let Some(number) = self.number(value) {
            return Some([number, 0.0, 0.0, 0.0]);
        }
        let (op, f, [a, b]) = self.elementwise(value)?;
        *left = left.checked_sub(1)?;
        let first = self.polynomial_within(a, x, left)?;
        let result = match f {
            ScalarOp::Neg => first.map(|c| -c),
            ScalarOp::Pow => {
                let power = self.number(b).filter(|power| [2.0, 3.0].contains(power))?;
                (1..power as usize).try_fold(first, |result, _| times(&result, &first))?
            }
            ScalarOp::Div => {
                let number = self.number(b)?;
                first.map(|c| c / number)
            }
            _ => {
                let second = self.polynomial_within(b, x, left)?;
                let each = |f: fn(f64, f64) -> f64| std::array::from_fn(|i| f(first[i], second[i]));
                match f {
                    ScalarOp::Add => each(|a, b| a + b),
                    ScalarOp::Sub => each(|a, b| a - b),
                    ScalarOp::Mul => times(&first, &second)?,
                    _ => return None,
                }
            }
        };
        self.enter(op);
        Some(result)
    }

    /// What a value is the mean of, and along which axes.
    pub fn mean(&mut self, value: Value) -> Option<(Value, Vec<usize>)> {
        let mut product = self.product(value, None);
        let at = product.powers.iter().position(|power| {
            power.halves == 2 && matches!(self.site.def(power.base), Some((_, TensorOp::Reduce { .. })))
        })?;
        let sum = product.powers.swap_remove(at).base;
        let (x, axes) = self.reduced(sum, ScalarOp::Add)?;
        let shape = self.site.shape(x);
        let count = axes.iter().fold(Dim::from(1), |count, axis| count * shape[*axis].clone());
        let divided = match (product.powers.as_slice(), count.as_const()) {
            ([], Some(count)) => self.is(value, product.number * count as f64, 1.0),
            ([Power { base, halves: -2 }], None) => product.number == 1.0 && self.is_size(*base, &count),
            _ => false,
        };
        divided.then_some((x, axes))
    }

    /// Whether a value is a size as a number.
    fn is_size(&self, mut value: Value, size: &Dim) -> bool {
        for _ in 0..MOST {
            match self.site.def(value) {
                Some((_, TensorOp::Sizes { dims })) => return matches!(dims.as_slice(), [dim] if dim == size),
                Some((op, TensorOp::Reshape { .. } | TensorOp::Elementwise { f: ScalarOp::Cast { .. } })) => {
                    value = self.site.b.func.operand(op, 0);
                }
                _ => return false,
            }
        }
        false
    }

    // --- judging ----------------------------------------------------------------------------------------

    /// Whether a number that was computed from constants of the value's type is `wanted`, but for their rounding.
    pub fn is(&self, value: Value, number: f64, wanted: f64) -> bool {
        let unit = match self.site.b.dtype(value) {
            DType::F64 => 2f64.powi(-53),
            DType::F32 => 2f64.powi(-24),
            _ => return false,
        };
        (number - wanted).abs() <= 4.0 * unit * wanted.abs()
    }

    /// Whether nobody but the pattern itself reads what the walks went through; the op at the site is its end.
    pub fn is_closed(&self) -> bool {
        let func = &self.site.b.func;
        let is_inside = |op: &OpId| *op == self.site.op || self.inner.contains(op);
        let is_read_inside =
            |op: &OpId| func.results(*op).iter().all(|v| func.users(*v).iter().all(is_inside));
        self.inner.iter().filter(|op| **op != self.site.op).all(is_read_inside)
    }
}

/// The product of two polynomials, where its degree is small.
fn times(a: &[f64; DEGREES], b: &[f64; DEGREES]) -> Option<[f64; DEGREES]> {
    let mut result = [0.0; DEGREES];
    for (i, a) in a.iter().enumerate().filter(|(_, a)| **a != 0.0) {
        for (j, b) in b.iter().enumerate().filter(|(_, b)| **b != 0.0) {
            *result.get_mut(i + j)? += a * b;
        }
    }
    Some(result)
}
