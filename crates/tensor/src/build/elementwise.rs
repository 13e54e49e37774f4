//! Elementwise ops, strict or broadcasting as NumPy does, and the reductions next to them.

use super::{Builder, Built};
use crate::TensorOp;
use tegula_base::{DType, Dim, Shape};
use tegula_ir::{ScalarOp, Value};

macro_rules! unary {
    ($($method:ident = $op:ident),* $(,)?) => {
        impl Builder<'_> {$(
            pub fn $method(&mut self, x: Value) -> Built {
                self.elementwise(ScalarOp::$op, &[x])
            }
        )*}
    };
}
unary!(
    neg = Neg,
    abs = Abs,
    sign = Sign,
    sqrt = Sqrt,
    rsqrt = Rsqrt,
    reciprocal = Reciprocal,
    exp = Exp,
    log = Log,
    tanh = Tanh,
    erf = Erf,
    sigmoid = Sigmoid,
    round = Round,
    floor = Floor,
    not = Not,
    is_nan = IsNan,
);

/// Two operands, broadcast against each other.
macro_rules! binary {
    ($($method:ident = $op:ident),* $(,)?) => {
        impl Builder<'_> {$(
            pub fn $method(&mut self, a: Value, b: Value) -> Built {
                self.broadcasted(ScalarOp::$op, &[a, b])
            }
        )*}
    };
}
binary!(
    add = Add,
    sub = Sub,
    mul = Mul,
    div = Div,
    rem = Rem,
    modulo = Mod,
    pow = Pow,
    min = Min,
    max = Max,
    and = And,
    or = Or,
    xor = Xor,
    eq = Eq,
    ne = Ne,
    lt = Lt,
    le = Le,
    gt = Gt,
    ge = Ge,
);

impl Builder<'_> {
    /// Operands of equal rank; extents of constant 1 broadcast.
    pub fn elementwise(&mut self, f: ScalarOp, operands: &[Value]) -> Built {
        self.emit(TensorOp::Elementwise { f }, operands)
    }

    /// Ranks are padded with leading 1s first, as NumPy does.
    pub fn broadcasted(&mut self, f: ScalarOp, operands: &[Value]) -> Built {
        let rank = operands.iter().map(|value| self.rank(*value)).max().unwrap_or(0);
        let padded =
            operands.iter().map(|value| self.pad_rank(*value, rank)).collect::<Built<Vec<Value>>>()?;
        self.elementwise(f, &padded)
    }

    /// Leading extents of 1 up to `rank`.
    pub fn pad_rank(&mut self, x: Value, rank: usize) -> Built {
        let missing = rank.saturating_sub(self.rank(x));
        if missing == 0 {
            return Ok(x);
        }
        let ones = std::iter::repeat_n(Dim::from(1), missing);
        let shape: Shape = ones.chain(self.shape(x).iter().cloned()).collect();
        self.reshape(x, shape)
    }

    pub fn select(&mut self, condition: Value, yes: Value, no: Value) -> Built {
        self.broadcasted(ScalarOp::Select, &[condition, yes, no])
    }

    /// To another element type; nothing when it is that already.
    pub fn cast(&mut self, x: Value, to: DType) -> Built {
        self.cast_with(x, to, true)
    }

    pub fn cast_with(&mut self, x: Value, to: DType, saturate: bool) -> Built {
        if self.dtype(x) == to {
            return Ok(x);
        }
        self.elementwise(ScalarOp::Cast { to, saturate }, &[x])
    }

    /// `x` and a number of x's element type: `x + 1`, `x * 0.5`.
    pub fn with_number(&mut self, f: ScalarOp, x: Value, number: f64) -> Built {
        let ones: Shape = std::iter::repeat_n(Dim::from(1), self.rank(x)).collect();
        let number = self.splat(self.dtype(x), ones, number)?;
        self.elementwise(f, &[x, number])
    }

    // --- reductions ------------------------------------------------------------------------------------

    /// Combines along `axes` (any order); they stay as extents of 1 when `keep`, else they go.
    pub fn reduce(&mut self, f: ScalarOp, x: Value, axes: &[usize], keep: bool) -> Built {
        let mut axes = axes.to_vec();
        axes.sort();
        axes.dedup();
        let reduced =
            if axes.is_empty() { x } else { self.emit(TensorOp::Reduce { f, axes: axes.clone() }, &[x])? };
        if keep { Ok(reduced) } else { self.squeeze(reduced, &axes) }
    }

    /// The mean along `axes`, which stay as extents of 1; x is a float.
    pub fn mean(&mut self, x: Value, axes: &[usize]) -> Built {
        let count = axes.iter().fold(Dim::from(1), |count, axis| count * self.shape(x)[*axis].clone());
        let sum = self.reduce(ScalarOp::Add, x, axes, true)?;
        let count = self.size_as(&count, self.dtype(x), self.rank(x))?;
        self.div(sum, count)
    }

    /// A size as a number of another type, with `rank` extents of 1.
    pub fn size_as(&mut self, dim: &Dim, dtype: DType, rank: usize) -> Built {
        let ones: Shape = std::iter::repeat_n(Dim::from(1), rank).collect();
        match dim.as_const() {
            Some(n) => self.splat_int(dtype, ones, n),
            None => {
                let size = self.sizes(std::slice::from_ref(dim))?;
                let size = self.cast(size, dtype)?;
                self.reshape(size, ones)
            }
        }
    }

    pub fn arg_reduce(&mut self, max: bool, x: Value, axis: usize, last: bool, keep: bool) -> Built {
        let index = self.emit(TensorOp::ArgReduce { max, axis, last }, &[x])?;
        if keep { Ok(index) } else { self.squeeze(index, &[axis]) }
    }

    pub fn scan(&mut self, f: ScalarOp, x: Value, axis: usize, exclusive: bool, reverse: bool) -> Built {
        self.emit(TensorOp::Scan { f, axis, exclusive, reverse }, &[x])
    }
}
