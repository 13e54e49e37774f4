//! Functions of one tensor that formats have by name and the tensor level writes as several ops.

use super::ProgramBuilder;
use crate::report::{Fault, Outcome};
use tegula_ir::{ScalarOp, Value};

impl ProgramBuilder {
    /// `clip(alpha * x + beta, 0, 1)`.
    pub fn hard_sigmoid(&mut self, x: Value, alpha: f64, beta: f64) -> Outcome {
        let y = self.with_number(ScalarOp::Mul, x, alpha)?;
        let y = self.with_number(ScalarOp::Add, y, beta)?;
        let y = self.with_number(ScalarOp::Max, y, 0.0)?;
        self.with_number(ScalarOp::Min, y, 1.0)
    }

    /// `log(1 + exp(x))`, in the form that does not overflow.
    pub fn softplus(&mut self, x: Value) -> Outcome {
        let size = self.unary(ScalarOp::Abs, x)?;
        let size = self.unary(ScalarOp::Neg, size)?;
        let tail = self.unary(ScalarOp::Exp, size)?;
        let tail = self.unary(ScalarOp::Log1p, tail)?;
        let head = self.with_number(ScalarOp::Max, x, 0.0)?;
        self.add(head, tail)
    }

    /// `x / (1 + |x|)`.
    pub fn softsign(&mut self, x: Value) -> Outcome {
        let size = self.unary(ScalarOp::Abs, x)?;
        let below = self.with_number(ScalarOp::Add, size, 1.0)?;
        self.div(x, below)
    }

    /// The mean of squared distances from `mean`, biased.
    pub fn variance(&mut self, x: Value, mean: Value, axes: &[usize]) -> Outcome {
        let centred = self.sub(x, mean)?;
        let squares = self.mul(centred, centred)?;
        self.mean(squares, axes)
    }

    /// Keys' cubic convolution kernel with parameter `a`, of distances from its centre.
    pub fn cubic_filter(&mut self, distance: Value, a: f64) -> Outcome {
        let d = self.unary(ScalarOp::Abs, distance)?;
        let near = self.polynomial(d, &[1.0, 0.0, -(a + 3.0), a + 2.0])?;
        let far = self.polynomial(d, &[-4.0 * a, 8.0 * a, -5.0 * a, a])?;
        let zero = self.number_like(d, 0.0)?;
        let within_two = self.with_number(ScalarOp::Lt, d, 2.0)?;
        let far = self.select(within_two, far, zero)?;
        let within_one = self.with_number(ScalarOp::Le, d, 1.0)?;
        self.select(within_one, near, far)
    }

    /// By Horner's rule; coefficients by rising power. Errors: there are none.
    pub fn polynomial(&mut self, x: Value, coefficients: &[f64]) -> Outcome {
        let (last, rest) = coefficients.split_last().ok_or_else(|| Fault::invalid("no coefficients"))?;
        let mut sum = self.number_like(x, *last)?;
        for coefficient in rest.iter().rev() {
            let product = self.mul(sum, x)?;
            sum = self.with_number(ScalarOp::Add, product, *coefficient)?;
        }
        Ok(sum)
    }
}
