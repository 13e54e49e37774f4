//! The sizes inside an op's attributes: for specialising, for finding the symbols an op needs, for running it.

use crate::{TensorOp, TensorType, Window};
use tegula_base::{Dim, Shape};

impl TensorOp {
    /// The op with every size in its attributes replaced. Stops at the first error of `f`.
    pub fn map_dims<E>(&self, f: &mut dyn FnMut(&Dim) -> Result<Dim, E>) -> Result<TensorOp, E> {
        use TensorOp::*;
        let mut op = self.clone();
        match &mut op {
            Constant { shape, .. }
            | Splat { shape, .. }
            | Iota { shape, .. }
            | Broadcast { shape }
            | Reshape { shape } => each(shape, f)?,
            Sizes { dims } => each(dims, f)?,
            Slice { starts, sizes, .. } => {
                each(starts, f)?;
                each(sizes, f)?;
            }
            Pad { low, high, .. } => {
                each(low, f)?;
                each(high, f)?;
            }
            Conv { window, .. }
            | WinogradConv { window }
            | Pool { window, .. }
            | MaxPoolIndices { window, .. }
            | QConv { window, .. } => each_of_window(window, f)?,
            ConvTranspose { window, output, .. } => {
                each_of_window(window, f)?;
                each(output, f)?;
            }
            TopK { k, .. } => *k = f(k)?,
            NonMaxSuppression { limit, .. } => *limit = f(limit)?,
            AssertSize { left, right, .. } => {
                *left = f(left)?;
                *right = f(right)?;
            }
            Loop { trip, .. } => *trip = f(trip)?,
            Elementwise { .. }
            | Transpose { .. }
            | Concat { .. }
            | Gather { .. }
            | GatherElements { .. }
            | GatherNd { .. }
            | ScatterElements { .. }
            | ScatterNd { .. }
            | Reduce { .. }
            | ArgReduce { .. }
            | Scan { .. }
            | Dot { .. }
            | Softmax { .. }
            | LayerNorm { .. }
            | RmsNorm { .. }
            | Gelu { .. }
            | Attention { .. }
            | Lstm { .. }
            | Gru { .. }
            | Quantize { .. }
            | Dequantize { .. }
            | QDot { .. }
            | NonZero {}
            | Unique { .. }
            | Bind { .. }
            | If {}
            | Yield {}
            | Return {}
            | Relayout { .. }
            | Kernel { .. } => {}
        }
        Ok(op)
    }

    /// Calls `f` with every size in the op's attributes.
    pub fn for_each_dim(&self, f: &mut dyn FnMut(&Dim)) {
        let visited: Result<TensorOp, std::convert::Infallible> = self.map_dims(&mut |dim| {
            f(dim);
            Ok(dim.clone())
        });
        match visited {
            Ok(_) => {}
        }
    }
}

impl TensorType {
    /// The type with every size replaced.
    pub fn map_dims<E>(&self, f: &mut dyn FnMut(&Dim) -> Result<Dim, E>) -> Result<TensorType, E> {
        let mut ty = self.clone();
        each(&mut ty.shape, f)?;
        Ok(ty)
    }

    /// The type of a tensor with constant extents.
    pub fn of(tensor: &tegula_base::HostTensor) -> TensorType {
        TensorType::new(tensor.dtype, tensor.shape.iter().copied().collect::<Shape>())
    }
}

fn each<E>(dims: &mut [Dim], f: &mut dyn FnMut(&Dim) -> Result<Dim, E>) -> Result<(), E> {
    for dim in dims {
        *dim = f(dim)?;
    }
    Ok(())
}

fn each_of_window<E>(window: &mut Window, f: &mut dyn FnMut(&Dim) -> Result<Dim, E>) -> Result<(), E> {
    each(&mut window.low, f)?;
    each(&mut window.high, f)
}
