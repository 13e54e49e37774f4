//! Affine functions from bytes to bytes, as one fused multiply-add.
//!
//! Between two quantisations a model scales, shifts and normalises: dequantise, subtract, divide, each an op or three, in turn.
//! Before: decomposed, constants folded.  After: where the value that is rounded to a byte is affine in another byte, by
//! constants of one number or one for each channel, it is `fma(byte, a, b)`: for all 256 bytes of every channel the result is
//! the same ([`proof`]).

mod proof;

use proof::{Chain, Numbers, Step};
use tegula_base::{DType, Diagnostic, Diagnostics, HostTensor, Shape};
use tegula_ir::pass::{Changed, PassCx};
use tegula_ir::rewrite::{Rewrite, rewrite_ops};
use tegula_ir::{ConstStore, OpId, ScalarOp, Value};
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, TensorFunc, TensorOp, TensorProgram};

/// Ops of a chain; a walk goes through no more.
const MOST_STEPS: usize = 16;
/// A division by a constant is two products and a difference (`target-cpu/src/math/quantise.rs`).
const DIVISION: usize = 3;

/// Errors: internal, when what is built does not fit.
pub fn requantise(program: &mut TensorProgram, cx: &mut PassCx) -> Result<Changed, Diagnostics> {
    let mut changed = Changed::No;
    for func in &mut program.funcs {
        changed |= rewrite_ops(func, &mut |func, region, op| {
            let Some(found) = Found::at(func, &program.consts, op) else { return Ok(Rewrite::Keep) };
            let Some([factors, summands]) = found.fused() else {
                cx.count("kept", 1);
                return Ok(Rewrite::Keep);
            };
            cx.count("fused", 1);
            cx.remark(func.op(op).location.as_ref(), "from a byte to a byte: one fused multiply-add");
            let mut b = Builder::new(func, &mut program.consts).at_op(region, op);
            found
                .build(&mut b, op, factors, summands)
                .map(|value| Rewrite::Replace(vec![value]))
                .map_err(|reason| Diagnostics::from(Diagnostic::internal(reason)))
        })?;
    }
    Ok(changed)
}

/// A byte that is computed of another.
struct Found {
    from: Value,
    chain: Chain,
    /// Of the constants that differ by channel.
    channels: Vec<usize>,
    /// Added between rounding and the cast.
    zero: Option<Value>,
}

impl Found {
    fn at(func: &TensorFunc, consts: &ConstStore, op: OpId) -> Option<Found> {
        let TensorOp::Elementwise { f: ScalarOp::Cast { to, saturate: true } } = func.kind(op) else {
            return None;
        };
        let (least, most) = range(*to)?;
        let mut walk = Walk { func, consts, shape: func.ty(func.result(op)).shape.clone(), channels: vec![] };
        let rounded = func.operand(op, 0);
        let (round, zero) = match walk.only(rounded)? {
            (ScalarOp::Add, &[x, zero]) => (x, Some(zero)),
            (ScalarOp::Round, _) => (rounded, None),
            _ => return None,
        };
        let (ScalarOp::Round, &[last]) = walk.only(round)? else { return None };
        if func.ty(last).dtype != DType::F32 {
            return None;
        }
        let shift = zero.map_or(Some(vec![0.0]), |zero| walk.numbers(zero))?;
        let (from, steps) = walk.steps(last)?;
        let (first, end) = range(func.ty(from).dtype)?;
        let chain = Chain {
            steps,
            from: first..=end,
            least: shift.iter().map(|shift| f64::from(least) - shift).collect(),
            most: shift.iter().map(|shift| f64::from(most) - shift).collect(),
        };
        Some(Found { from, chain, channels: walk.channels, zero })
    }

    /// Factors and summands.
    fn fused(&self) -> Option<[Vec<f32>; 2]> {
        let count = self.channels.iter().product();
        let pairs: Option<Vec<(f32, f32)>> =
            (0..count).map(|channel| proof::fused(&self.chain, channel)).collect();
        let (factors, summands) = pairs?.into_iter().unzip();
        Some([factors, summands])
    }

    /// In the place of `cast`.
    fn build(&self, b: &mut Builder, cast: OpId, factors: Vec<f32>, summands: Vec<f32>) -> Built {
        let to = b.func.ty(b.func.result(cast)).dtype;
        let rank = b.rank(self.from);
        let [factor, summand] = [factors, summands].map(|numbers| match numbers.split_first() {
            Some((first, rest)) if rest.iter().any(|other| other != first) => {
                b.constant(HostTensor::from_elements(&self.channels, &numbers))
            }
            _ => b.literal(HostTensor::from_elements(&vec![1; rank], &numbers[..1])),
        });
        let byte = b.cast(self.from, DType::F32)?;
        let value = b.elementwise(ScalarOp::Fma, &[byte, factor?, summand?])?;
        let mut rounded = b.elementwise(ScalarOp::Round, &[value])?;
        if let Some(zero) = self.zero {
            rounded = b.add(rounded, zero)?;
        }
        b.cast(rounded, to)
    }
}

/// The least and the largest value.
fn range(byte: DType) -> Option<(i32, i32)> {
    let (least, most) = byte.int_range().filter(|_| byte.is_int() && byte.bits() == 8)?;
    Some((least as i32, most as i32))
}

struct Walk<'a> {
    func: &'a TensorFunc,
    consts: &'a ConstStore,
    /// Of all that is computed.
    shape: Shape,
    /// The shape of constants that are not one number.
    channels: Vec<usize>,
}

impl<'a> Walk<'a> {
    /// The op behind a value that one op alone reads.
    fn only(&self, value: Value) -> Option<(ScalarOp, &'a [Value])> {
        self.elementwise(value).filter(|_| self.func.users(value).len() == 1)
    }

    fn elementwise(&self, value: Value) -> Option<(ScalarOp, &'a [Value])> {
        let op = self.func.def_op(value)?;
        match self.func.kind(op) {
            TensorOp::Elementwise { f } => Some((*f, self.func.operands(op))),
            _ => None,
        }
    }

    /// The byte that a value is computed of, and how, first step first; none where one multiply-add would save nothing.
    fn steps(&mut self, last: Value) -> Option<(Value, Vec<Step>)> {
        let (mut steps, mut value, mut cost) = (Vec::new(), last, 0);
        while range(self.func.ty(value).dtype).is_none() {
            if self.func.ty(value).shape != self.shape || steps.len() == MOST_STEPS {
                return None;
            }
            let is_float = match self.func.ty(value).dtype {
                DType::F32 => true,
                DType::I32 => false,
                _ => return None,
            };
            let (f, operands) = self.elementwise(value)?;
            let (step, before) = match (f, operands) {
                (ScalarOp::Cast { .. }, &[x]) => {
                    let of_byte = range(self.func.ty(x).dtype).is_some();
                    let exact = of_byte || (is_float && self.func.ty(x).dtype == DType::I32);
                    (exact.then_some(if is_float { Step::ToFloat } else { Step::ToInt })?, x)
                }
                (ScalarOp::Add | ScalarOp::Mul, &[x, y]) => {
                    let (x, c) = match (self.numbers(y), self.numbers(x)) {
                        (Some(c), None) => (x, c),
                        (None, Some(c)) => (y, c),
                        _ => return None,
                    };
                    (if f == ScalarOp::Add { Step::Add(c) } else { Step::Mul(c) }, x)
                }
                (ScalarOp::Sub, &[x, y]) => match (self.numbers(x), self.numbers(y)) {
                    (None, Some(c)) => (Step::Sub(c), x),
                    (Some(c), None) => (Step::SubFrom(c), y),
                    _ => return None,
                },
                (ScalarOp::Div, &[x, y]) if is_float => (Step::Div(self.numbers(y)?), x),
                (ScalarOp::Fma, &[x, y, z]) if is_float => {
                    let summand = self.numbers(z)?;
                    match (self.numbers(x), self.numbers(y)) {
                        (None, Some(c)) => (Step::Fma(c, summand), x),
                        (Some(c), None) => (Step::Fma(c, summand), y),
                        _ => return None,
                    }
                }
                _ => return None,
            };
            cost += match step {
                Step::ToInt | Step::ToFloat => 0,
                Step::Div(_) => DIVISION,
                _ => 1,
            };
            steps.push(step);
            value = before;
        }
        steps.reverse();
        (cost > 1 && self.func.ty(value).shape == self.shape).then_some((value, steps))
    }

    /// What a constant holds, if it is one finite number or one for each channel, as all that are not one number.
    fn numbers(&mut self, value: Value) -> Option<Numbers> {
        let (op, ty) = (self.func.def_op(value)?, self.func.ty(value));
        let constant = match self.func.kind(op) {
            TensorOp::Constant { id, .. } => self.consts.get(*id)?.to_host(),
            TensorOp::Splat { dtype, bits, .. } => HostTensor {
                dtype: *dtype,
                shape: vec![],
                bytes: bits.to_le_bytes()[..dtype.size()].to_vec(),
            },
            _ => return None,
        };
        if !matches!(ty.dtype, DType::F32 | DType::I32) || ty.rank() != self.shape.rank() {
            return None;
        }
        if constant.count() > 1 {
            let fits = self.channels.is_empty() || self.channels == constant.shape;
            let is_channel = constant.shape.iter().filter(|size| **size > 1).count() == 1;
            if !fits || !is_channel {
                return None;
            }
            self.channels.clone_from(&constant.shape);
        }
        let numbers = constant.to_f64();
        (!numbers.is_empty() && numbers.iter().all(|number| number.is_finite())).then_some(numbers)
    }
}
