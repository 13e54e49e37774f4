//! Elementwise ops as chains of ALU operations.

use super::alu::{Arg, Chain, float, int};
use super::constants::{is_wide, uniform};
use super::{Lower, Lowered, Tensor, squeezed};
use crate::flow::Source;
use tegula_backend::Claim;
use tegula_base::DType;
use tegula_ir::{ScalarOp, Value};
use tegula_isa_lpu::word::{AluOp, Element, Number};

/// Whether a chain computes `f` on elements of a type.
pub(crate) fn claims(f: ScalarOp, dtype: DType, result: DType) -> Claim {
    use ScalarOp::*;
    if !is_wide(dtype) || !is_wide(result) {
        return Claim::No(
            format!("the ALUs compute no {}", if is_wide(dtype) { result } else { dtype }).into(),
        );
    }
    let is_float = dtype == DType::F32;
    let is_int = dtype == DType::I32;
    let is_narrow = matches!(dtype, DType::I8 | DType::U8 | DType::I16);
    let has = match f {
        Add | Sub | Mul => is_float || is_int || is_narrow,
        Min | Max | Fma | Neg | Abs => is_float || is_int,
        Sqrt | Rsqrt | Reciprocal | Exp | Log | Tanh | Erf | Sigmoid | Div | Ceil | Floor | Round | Trunc
        | Exp2 | IsNan => is_float,
        Eq | Ne | Lt | Le | Gt | Ge => dtype != DType::F16,
        And | Or | Xor | Not => dtype.is_int() || dtype == DType::Bool,
        Bitcast { .. } => [dtype, result].iter().all(|dtype| matches!(dtype, DType::I8 | DType::U8)),
        Select => true,
        Cast { .. } => dtype != DType::F16 && result != DType::F16,
        _ => false,
    };
    if has { Claim::Yes } else { Claim::No(format!("the ALUs have no `{}` of {dtype}", f.name()).into()) }
}

impl Lower<'_> {
    pub(super) fn elementwise(
        &mut self,
        f: ScalarOp,
        operands: &[Value],
        shape: Vec<usize>,
        dtype: DType,
    ) -> Result<Tensor, String> {
        let from = self.func.ty(operands[operands.len() - 1]).dtype;
        // Axes of 1 at the end are left out, unless an operand lies with them.
        let rank = if operands.iter().any(|operand| self.is_spread(*operand)) {
            shape.len()
        } else {
            squeezed(&shape).len()
        };
        let mut tensors = Vec::new();
        for operand in operands {
            let known = match self.values.get(operand) {
                Some(Lowered::Known(known)) => uniform(known),
                _ => None,
            };
            tensors.push(match known {
                Some(bits) => Err(bits),
                None => {
                    let (tensor, own) = (self.tensor(*operand)?, self.shape(*operand)?);
                    Ok(self.laid_as(tensor, &own[..rank]))
                }
            });
        }
        let shape = shape[..rank].to_vec();
        let mut chain = Chain::over(self, &shape);
        let args: Vec<Arg> = tensors
            .iter()
            .map(|tensor| match tensor {
                Ok(tensor) => chain.arg(tensor),
                Err(bits) => Source::Immediate(*bits),
            })
            .collect();
        let result = chain.scalar(f, from, dtype, &args)?;
        Ok(chain.finish(result, shape, dtype))
    }
}

impl Lower<'_> {
    /// Integers of 32 bits as those of a type of fewer bits, which wrap.
    pub(super) fn wrapped(&mut self, tensor: Tensor, to: DType) -> Tensor {
        if tensor.dtype == to {
            return tensor;
        }
        let mut chain = Chain::over(self, &tensor.shape);
        let x = chain.arg(&tensor);
        let result = chain.wrap(&x, to);
        chain.finish(result, tensor.shape, to)
    }
}

impl Chain<'_, '_> {
    pub(super) fn scalar(&mut self, f: ScalarOp, from: DType, to: DType, x: &[Arg]) -> Result<Arg, String> {
        use ScalarOp::*;
        let number = if from.is_float() { Number::F32 } else { Number::I32 };
        let is_float = number == Number::F32;
        let one = |chain: &mut Self, op: AluOp| chain.alu(op, &x.iter().collect::<Vec<_>>());
        Ok(match f {
            Add | Sub | Mul => {
                let op = match f {
                    Add => AluOp::Add(number),
                    Sub => AluOp::Sub(number),
                    _ => AluOp::Mul(number),
                };
                let result = one(self, op);
                self.wrap(&result, to)
            }
            Min => one(self, AluOp::Min(number)),
            Max => one(self, AluOp::Max(number)),
            Fma => one(self, AluOp::Fma(number)),
            Select => one(self, AluOp::Select),
            And => one(self, AluOp::And),
            Or => one(self, AluOp::Or),
            Xor => one(self, AluOp::Xor),
            Not if from == DType::Bool => self.xor(&x[0], &int(1)),
            Not => {
                let bits = self.xor(&x[0], &int(-1));
                self.wrap(&bits, from)
            }
            Bitcast { .. } => self.wrap(&x[0], to),
            Neg if is_float => self.neg(&x[0]),
            Neg => self.alu(AluOp::Sub(number), &[&int(0), &x[0]]),
            Abs if is_float => self.abs(&x[0]),
            Abs => {
                let minus = self.alu(AluOp::Sub(number), &[&int(0), &x[0]]);
                self.alu(AluOp::Max(number), &[&x[0], &minus])
            }
            Eq => one(self, AluOp::Equal(number)),
            Lt => one(self, AluOp::Less(number)),
            Ne => {
                let equal = one(self, AluOp::Equal(number));
                self.xor(&equal, &int(1))
            }
            Gt => self.alu(AluOp::Less(number), &[&x[1], &x[0]]),
            Le => {
                let (less, equal) = (one(self, AluOp::Less(number)), one(self, AluOp::Equal(number)));
                self.or(&less, &equal)
            }
            Ge => {
                let less = self.alu(AluOp::Less(number), &[&x[1], &x[0]]);
                let equal = one(self, AluOp::Equal(number));
                self.or(&less, &equal)
            }
            IsNan => {
                let equal = self.equal(&x[0], &x[0]);
                self.xor(&equal, &int(1))
            }
            Sqrt => self.sqrt(&x[0]),
            Rsqrt => self.rsqrt(&x[0]),
            Reciprocal => self.reciprocal(&x[0]),
            Exp => self.exp(&x[0]),
            Exp2 => one(self, AluOp::Exp2),
            Log => self.log(&x[0]),
            Tanh => self.tanh(&x[0]),
            Erf => self.erf(&x[0]),
            Sigmoid => self.sigmoid(&x[0]),
            Div => self.div(&x[0], &x[1]),
            Ceil => self.ceil(&x[0]),
            Floor => self.floor(&x[0]),
            Round => self.round(&x[0]),
            Trunc => self.trunc(&x[0]),
            Cast { .. } => self.cast_to(&x[0], from, to),
            other => return Err(format!("the ALUs have no `{}`", other.name())),
        })
    }

    /// As the model casts: floats are cut and saturate, integers wrap.
    fn cast_to(&mut self, x: &Arg, from: DType, to: DType) -> Arg {
        let is_float = |dtype: DType| dtype.is_float();
        match (from, to) {
            _ if from == to => x.clone(),
            (_, DType::Bool) if is_float(from) => {
                let equal = self.equal(x, &float(0.0));
                self.xor(&equal, &int(1))
            }
            (_, DType::Bool) => {
                let equal = self.alu(AluOp::Equal(Number::I32), &[x, &int(0)]);
                self.xor(&equal, &int(1))
            }
            _ if is_float(from) => {
                let cut = self.trunc(x);
                let whole = self.cast(&cut, Element::F32, Element::I32);
                self.saturate(&whole, to)
            }
            _ if is_float(to) => self.cast(x, Element::I32, Element::F32),
            _ => self.wrap(x, to),
        }
    }

    pub(super) fn saturate(&mut self, x: &Arg, to: DType) -> Arg {
        let Some((least, most)) = range(to) else { return x.clone() };
        let x = self.alu(AluOp::Max(Number::I32), &[x, &int(least)]);
        self.alu(AluOp::Min(Number::I32), &[&x, &int(most)])
    }

    fn wrap(&mut self, x: &Arg, to: DType) -> Arg {
        match to {
            DType::U8 => self.and(x, &int(0xff)),
            DType::I8 => self.sign_extended(x, 24),
            DType::I16 => self.sign_extended(x, 16),
            _ => x.clone(),
        }
    }

    fn sign_extended(&mut self, x: &Arg, by: i32) -> Arg {
        let high = self.alu(AluOp::ShiftLeft, &[x, &int(by)]);
        self.alu(AluOp::ShiftRight, &[&high, &int(by)])
    }
}

/// The numbers of an integer type that has less than 32 bits.
pub(super) fn range(dtype: DType) -> Option<(i32, i32)> {
    match dtype {
        DType::U8 => Some((0, 255)),
        DType::I8 => Some((-128, 127)),
        DType::I16 => Some((-32768, 32767)),
        _ => None,
    }
}
