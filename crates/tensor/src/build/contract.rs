//! Contractions, convolutions, pooling, and the composites built whole.

use super::{Builder, Built};
use crate::{Direction, DotDims, PoolKind, QuantScheme, TensorOp, Window};
use tegula_base::{DType, Dim, Shape};
use tegula_ir::attr::F64;
use tegula_ir::{ScalarOp, Value};

/// A window without padding, stride or dilation.
pub fn same_window(size: &[i64]) -> Window {
    let zeros = vec![Dim::from(0); size.len()];
    Window {
        size: size.to_vec(),
        strides: vec![1; size.len()],
        dilations: vec![1; size.len()],
        low: zeros.clone(),
        high: zeros,
    }
}

impl Builder<'_> {
    pub fn dot(&mut self, lhs: Value, rhs: Value, dims: DotDims, out: DType) -> Built {
        self.emit(TensorOp::dot(dims, out), &[lhs, rhs])
    }

    /// As [`Self::dot`], of `u8` by `i8` in `i32`, where the products of steps `2i` and `2i + 1` are summed in `i16`.
    pub fn dot_of_pairs(&mut self, factors: [Value; 2], dims: DotDims) -> Built {
        let kind = TensorOp::Dot { dims: Box::new(dims), out: DType::I32, pair_sums: Some(DType::I16) };
        self.emit(kind, &factors)
    }

    /// `[M,K] by [K,N]`, result in the operands' type.
    pub fn dot_2d(&mut self, lhs: Value, rhs: Value) -> Built {
        let dims =
            DotDims { lhs_batch: vec![], rhs_batch: vec![], lhs_contract: vec![1], rhs_contract: vec![0] };
        self.dot(lhs, rhs, dims, self.dtype(lhs))
    }

    /// `lhs [..., K] by rhs [N, K]`: the last axes contract, result `[..., N]`.
    pub fn dot_rows(&mut self, lhs: Value, rhs: Value) -> Built {
        let (l, r) = (self.rank(lhs), self.rank(rhs));
        if l == 0 || r == 0 {
            return Err("dot_c1: scalars have no axis to contract".into());
        }
        let dims = DotDims {
            lhs_batch: vec![],
            rhs_batch: vec![],
            lhs_contract: vec![l - 1],
            rhs_contract: vec![r - 1],
        };
        self.dot(lhs, rhs, dims, self.dtype(lhs))
    }

    /// NumPy's `matmul`: lists are a row (left) or a column (right); leading axes broadcast.
    pub fn matmul(&mut self, lhs: Value, rhs: Value, out: DType) -> Built {
        let (l, r) = (self.rank(lhs), self.rank(rhs));
        if l == 0 || r == 0 {
            return Err("dot_c1: a matrix product takes no scalars".into());
        }
        if r <= 2 {
            // Nothing to broadcast: the left's leading axes are all free.
            let dims = DotDims {
                lhs_batch: vec![],
                rhs_batch: vec![],
                lhs_contract: vec![l - 1],
                rhs_contract: vec![r.saturating_sub(2)],
            };
            return self.dot(lhs, rhs, dims, out);
        }
        let row = l == 1;
        let lhs = if row { self.unsqueeze(lhs, &[0])? } else { lhs };
        let product = self.batched_matmul(lhs, rhs, out)?;
        if row { self.squeeze(product, &[self.rank(product) - 2]) } else { Ok(product) }
    }

    /// Both of rank 2 or more, one of rank 3 or more.
    fn batched_matmul(&mut self, lhs: Value, rhs: Value, out: DType) -> Built {
        let rank = self.rank(lhs).max(self.rank(rhs));
        let (lhs, rhs) = (self.pad_rank(lhs, rank)?, self.pad_rank(rhs, rank)?);
        let (a, b) = (self.shape(lhs), self.shape(rhs));
        let batch: Vec<Dim> =
            (0..rank - 2).map(|i| if a[i].is_const(1) { b[i].clone() } else { a[i].clone() }).collect();
        let full = |shape: &Shape| -> Shape { batch.iter().chain(&shape[rank - 2..]).cloned().collect() };
        let (lhs, rhs) = (self.broadcast(lhs, full(&a))?, self.broadcast(rhs, full(&b))?);
        let axes: Vec<usize> = (0..rank - 2).collect();
        let dims = DotDims {
            lhs_batch: axes.clone(),
            rhs_batch: axes,
            lhs_contract: vec![rank - 1],
            rhs_contract: vec![rank - 2],
        };
        self.dot(lhs, rhs, dims, out)
    }

    pub fn conv(&mut self, x: Value, w: Value, window: Window, groups: i64, out: DType) -> Built {
        self.emit(TensorOp::Conv { window: Box::new(window), groups, out }, &[x, w])
    }

    pub fn conv_transpose(
        &mut self,
        x: Value,
        w: Value,
        window: Window,
        groups: i64,
        output: Vec<Dim>,
    ) -> Built {
        self.emit(TensorOp::ConvTranspose { window: Box::new(window), groups, output }, &[x, w])
    }

    pub fn pool(&mut self, kind: PoolKind, x: Value, window: Window) -> Built {
        self.emit(TensorOp::Pool { kind, window: Box::new(window) }, &[x])
    }

    // --- composites ------------------------------------------------------------------------------------

    pub fn softmax(&mut self, x: Value, axis: usize, log: bool) -> Built {
        self.emit(TensorOp::Softmax { axis, log }, &[x])
    }

    pub fn layer_norm(
        &mut self,
        x: Value,
        scale: Value,
        bias: Option<Value>,
        axis: usize,
        eps: f64,
    ) -> Built {
        let operands: Vec<Value> = [x, scale].into_iter().chain(bias).collect();
        self.emit(TensorOp::LayerNorm { axis, eps: F64(eps) }, &operands)
    }

    pub fn rms_norm(&mut self, x: Value, scale: Value, axis: usize, eps: f64) -> Built {
        self.emit(TensorOp::RmsNorm { axis, eps: F64(eps) }, &[x, scale])
    }

    pub fn gelu(&mut self, x: Value, tanh: bool) -> Built {
        self.emit(TensorOp::Gelu { tanh }, &[x])
    }

    /// Operands `q, k, v` and a mask or none.
    /// `window` 0 is none, `softcap` 0 too.
    pub fn attention(
        &mut self,
        operands: &[Value],
        scale: f64,
        causal: bool,
        window: i64,
        softcap: f64,
    ) -> Built {
        let kind = TensorOp::Attention { scale: F64(scale), causal, window, softcap: F64(softcap) };
        self.emit(kind, operands)
    }

    /// Operands `x, w, r, bias, h0, c0` and peephole weights or none; results `y, h, c`.
    pub fn lstm(&mut self, operands: &[Value], direction: Direction) -> Built<Vec<Value>> {
        self.emit_all(TensorOp::Lstm { direction, rounded: false }, operands)
    }

    /// Operands `x, w, r, bias, h0`; results `y, h`.
    pub fn gru(
        &mut self,
        operands: &[Value],
        direction: Direction,
        linear_before_reset: bool,
    ) -> Built<Vec<Value>> {
        self.emit_all(TensorOp::Gru { direction, linear_before_reset }, operands)
    }

    /// Operands `x, scale` and, as the scheme says, the zero point.
    pub fn quantize(&mut self, operands: &[Value], scheme: QuantScheme) -> Built {
        self.emit(TensorOp::Quantize { scheme: Box::new(scheme) }, operands)
    }

    /// What sums of products of two quantised sides are multiplied by. 16-bit scales are multiplied as `f32`, which sums fit.
    pub fn scale_of_products(&mut self, x_scale: Value, w_scale: Value) -> Built {
        let dtype = self.dtype(x_scale);
        let wide = if dtype.bits() < 32 { DType::F32 } else { dtype };
        let scales = [self.cast(x_scale, wide)?, self.cast(w_scale, wide)?];
        self.mul(scales[0], scales[1])
    }

    /// `saturate(round_even(sums * (scale / y_scale)) + y_zero)`, `scale` that of products: one factor, as ONNX's reference has
    /// it and engines compute it.
    pub fn requantize(&mut self, sums: Value, scale: Value, y_scale: Value, y_zero: Value) -> Built {
        let dtype = self.dtype(scale);
        let (sums, y_scale) = (self.cast(sums, dtype)?, self.cast(y_scale, dtype)?);
        let factor = self.broadcasted(ScalarOp::Div, &[scale, y_scale])?;
        let scaled = self.broadcasted(ScalarOp::Mul, &[sums, factor])?;
        let one = self.splat(dtype, Shape::scalar(), 1.0)?;
        let scheme = QuantScheme { axis: None, block: None, storage: self.dtype(y_zero), zero_point: true };
        self.quantize(&[scaled, one, y_zero], scheme)
    }

    pub fn dequantize(&mut self, operands: &[Value], scheme: QuantScheme) -> Built {
        self.emit(TensorOp::Dequantize { scheme: Box::new(scheme) }, operands)
    }
}
