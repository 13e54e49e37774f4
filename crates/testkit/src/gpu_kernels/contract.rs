//! Matrix products: operands of all types, both orders of the right side, epilogues, groups, scales.

use super::{Fill, Params};
use serde::Deserialize;
use tegula_base::{DType, Dim};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::build::Built;
use tegula_tensor::{DotDims, QuantScheme};

/// `y[m,n] = epilogue(x[m,k] w)`, with `w[n,k]` where it is transposed, else `w[k,n]`.
#[derive(Clone, Debug, Deserialize)]
pub struct Gemm {
    operands: String,
    out: String,
    transposed: bool,
    epilogue: Epilogue,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Epilogue {
    None,
    Bias,
    BiasGelu,
    Silu,
    /// Adds a tensor of the result's shape.
    Residual,
    /// Multiplies by a number a column.
    Scale,
    /// `silu(x w) * (x u)` of two weights, the gate rounded as the result is.
    Swiglu,
}

impl Gemm {
    pub(super) fn is_narrow(&self) -> bool {
        self.operands.parse().is_ok_and(|dtype: DType| dtype.bits() <= 16)
    }

    pub(super) fn build(&self, p: &mut Params) -> Built<Vec<Value>> {
        let (operands, out): (DType, DType) = (self.operands.parse()?, self.out.parse()?);
        let [m, n, k] = ["m", "n", "k"].map(|name| p.dim(name));
        let x = p.input("x", operands, [m.clone(), k.clone()]);
        let weight = |p: &mut Params, name: &str| match self.transposed {
            true => p.input(name, operands, [n.clone(), k.clone()]),
            false => p.input(name, operands, [k.clone(), n.clone()]),
        };
        let dims = plain(if self.transposed { 1 } else { 0 });
        let w = weight(p, "w");
        let y = product(p, x, w, dims.clone())?;
        let y = match self.epilogue {
            Epilogue::None => y,
            Epilogue::Bias | Epilogue::BiasGelu => {
                let bias = p.input("bias", out, [n.clone()]);
                let bias = p.b.cast(bias, p.b.dtype(y))?;
                let y = p.b.add(y, bias)?;
                if self.epilogue == Epilogue::BiasGelu { p.b.gelu(y, true)? } else { y }
            }
            Epilogue::Silu => silu(p, y)?,
            Epilogue::Residual => {
                let residual = p.input("residual", out, [m, n.clone()]);
                let residual = p.b.cast(residual, p.b.dtype(y))?;
                p.b.add(y, residual)?
            }
            Epilogue::Scale => {
                let scale = p.positive("scale", DType::F32, [n.clone()]);
                let y = p.b.cast(y, DType::F32)?;
                p.b.mul(y, scale)?
            }
            Epilogue::Swiglu => {
                let u = weight(p, "u");
                let up = product(p, x, u, dims)?;
                let gate = silu(p, y)?;
                let gate = p.b.cast(gate, out)?;
                let gate = p.b.cast(gate, DType::F32)?;
                p.b.mul(gate, up)?
            }
        };
        Ok(vec![p.b.cast(y, out)?])
    }
}

/// `[..., m, k]` by a matrix whose axis `rhs` contracts.
fn plain(rhs: usize) -> DotDims {
    DotDims { lhs_batch: vec![], rhs_batch: vec![], lhs_contract: vec![1], rhs_contract: vec![rhs] }
}

/// Sums in `f32` or `i32`.
fn product(p: &mut Params, x: Value, w: Value, dims: DotDims) -> Built {
    let sums = if p.b.dtype(x).is_float() { DType::F32 } else { DType::I32 };
    p.b.dot(x, w, dims, sums)
}

pub(super) fn silu(p: &mut Params, x: Value) -> Built {
    let gate = p.b.elementwise(ScalarOp::Sigmoid, &[x])?;
    p.b.mul(x, gate)
}

/// 8-bit floats with a scale for each 128 elements of `x`'s rows and each 128 by 128 of `w`.
pub(super) fn block_scales(p: &mut Params) -> Built<Vec<Value>> {
    const BLOCK: i64 = 128;
    let [m, n, k] = ["m", "n", "k"].map(|name| p.dim(name));
    let block = Dim::from(BLOCK);
    let blocks = |dim: &Dim| dim.floor_div(&block);
    let x = p.input("x", DType::F8E4M3FN, [m.clone(), k.clone()]);
    let w = p.input("w", DType::F8E4M3FN, [n.clone(), k.clone()]);
    let x_scale = p.positive("x_scale", DType::F32, [m.clone(), blocks(&k)]);
    let w_scale = p.positive("w_scale", DType::F32, [blocks(&n), blocks(&k)]);
    let wide = p.b.cast(x, DType::F32)?;
    let wide = p.b.reshape(wide, [m.clone(), blocks(&k), block.clone()])?;
    let scale = p.b.reshape(x_scale, [m.clone(), blocks(&k), Dim::from(1)])?;
    let x = p.b.mul(wide, scale)?;
    let x = p.b.reshape(x, [m, k.clone()])?;
    let wide = p.b.cast(w, DType::F32)?;
    let wide = p.b.reshape(wide, [blocks(&n), block.clone(), blocks(&k), block.clone()])?;
    let scale = p.b.reshape(w_scale, [blocks(&n), Dim::from(1), blocks(&k), Dim::from(1)])?;
    let w = p.b.mul(wide, scale)?;
    let w = p.b.reshape(w, [n, k])?;
    let y = product(p, x, w, plain(1))?;
    Ok(vec![p.b.cast(y, DType::BF16)?])
}

/// As many rows for each of `g` weights.
pub(super) fn grouped(p: &mut Params, operands: DType, out: DType) -> Built<Vec<Value>> {
    let [g, m, n, k] = ["g", "m", "n", "k"].map(|name| p.dim(name));
    let x = p.input("x", operands, [g.clone(), m, k.clone()]);
    let w = p.input("w", operands, [g, n, k]);
    let dims =
        DotDims { lhs_batch: vec![0], rhs_batch: vec![0], lhs_contract: vec![2], rhs_contract: vec![2] };
    let y = product(p, x, w, dims)?;
    Ok(vec![p.b.cast(y, out)?])
}

/// Weights of 8 bits, or of 4 (two a byte, the first low, 8 standing for 0), with a scale for each `group` along k.
pub(super) fn weights(p: &mut Params, bits: i64, group: i64) -> Built<Vec<Value>> {
    let [m, n, k] = ["m", "n", "k"].map(|name| p.dim(name));
    let group = Dim::from(group);
    let groups = k.ceil_div(&group);
    let x = p.input("x", DType::BF16, [m, k.clone()]);
    let w = match bits {
        8 => {
            let w = p.filled("w", DType::I8, [n.clone(), k.clone()], Fill::Bytes);
            let scale = p.positive("scale", DType::BF16, [n.clone(), groups.clone()]);
            let block = group.as_const();
            let scheme = QuantScheme { axis: Some(1), block, storage: DType::I8, zero_point: false };
            p.b.dequantize(&[w, scale], scheme)?
        }
        _ => {
            let bytes = k.floor_div(&Dim::from(2));
            let w = p.filled("w", DType::U8, [n.clone(), bytes.clone()], Fill::Bytes);
            let scale = p.positive("scale", DType::BF16, [n.clone(), groups.clone()]);
            let pairs = p.b.reshape(w, [n.clone(), bytes, Dim::from(1)])?;
            let low = p.b.with_number(ScalarOp::And, pairs, 15.0)?;
            let high = p.b.with_number(ScalarOp::ShiftRight, pairs, 4.0)?;
            let both = p.b.concat(&[low, high], 2)?;
            let wide = p.b.reshape(both, [n.clone(), groups.clone(), group])?;
            let wide = p.b.cast(wide, DType::BF16)?;
            let centred = p.b.with_number(ScalarOp::Sub, wide, 8.0)?;
            let scale = p.b.reshape(scale, [n.clone(), groups, Dim::from(1)])?;
            let scaled = p.b.mul(centred, scale)?;
            p.b.reshape(scaled, [n, k])?
        }
    };
    let y = product(p, x, w, plain(1))?;
    Ok(vec![p.b.cast(y, DType::BF16)?])
}

/// One row.
pub(super) fn gemv(p: &mut Params, operands: DType) -> Built<Vec<Value>> {
    let [n, k] = ["n", "k"].map(|name| p.dim(name));
    let x = p.input("x", operands, [Dim::from(1), k.clone()]);
    let w = p.input("w", operands, [n, k]);
    let y = product(p, x, w, plain(1))?;
    Ok(vec![p.b.cast(y, operands)?])
}
