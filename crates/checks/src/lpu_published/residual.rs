//! A residual network of convolutions, of bytes: K. He et al., "Deep Residual Learning for Image Recognition", 2015, table 1.
//!
//! A convolution's sums are scaled, get a bias, and become bytes behind the rectifier; a block's result is added to its operand,
//! or to a convolution of it, as floats. The image comes with its channels last.

use tegula_base::{DType, Dim};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::build::Built;
use tegula_tensor::{PoolKind, TensorProgram, Window};

use super::programs::{Net, SCALE, build};

/// Blocks of each stage, and the channels within them; a block gives four times as many.
const STAGES: [(usize, u64); 4] = [(3, 64), (4, 128), (6, 256), (3, 512)];
const WIDER: u64 = 4;

const CLASSES: u64 = 1000;

/// `i8[1, 224, 224, 3]` to `f32[1, 1000]`.
pub fn resnet50() -> Built<TensorProgram> {
    build(|net| {
        let x = net.b.arg(DType::I8, [1, 224, 224, 3]);
        let x = net.b.transpose(x, &[0, 3, 1, 2])?;
        let x = convolved(net, x, [3, 64], [7, 2, 3])?;
        let x = net.b.with_number(ScalarOp::Max, x, 0.0)?;
        let x = net.bytes(x)?;
        let mut x = net.b.pool(PoolKind::Max, x, window(3, 2, 1))?;
        let mut channels = 64;
        for (stage, (blocks, width)) in STAGES.into_iter().enumerate() {
            for block in 0..blocks {
                let stride = if stage > 0 && block == 0 { 2 } else { 1 };
                x = self::block(net, x, [channels, width], (block == 0).then_some(stride))?;
                channels = width * WIDER;
            }
        }
        let x = floats(net, x)?;
        let sums = net.b.reduce(ScalarOp::Add, x, &[2, 3], false)?;
        let mean = net.b.with_number(ScalarOp::Mul, sums, 1.0 / 49.0)?;
        let mean = net.bytes(mean)?;
        Ok(vec![net.linear(mean, channels, CLASSES)?])
    })
}

/// `stride`: of the first block of a stage, whose operand has other channels than its result.
fn block(net: &mut Net, x: Value, [channels, width]: [u64; 2], stride: Option<i64>) -> Built {
    let narrow = convolved(net, x, [channels, width], [1, 1, 0])?;
    let narrow = net.b.with_number(ScalarOp::Max, narrow, 0.0)?;
    let narrow = net.bytes(narrow)?;
    let inner = convolved(net, narrow, [width, width], [3, stride.unwrap_or(1), 1])?;
    let inner = net.b.with_number(ScalarOp::Max, inner, 0.0)?;
    let inner = net.bytes(inner)?;
    let wide = convolved(net, inner, [width, width * WIDER], [1, 1, 0])?;
    let beside = match stride {
        Some(stride) => convolved(net, x, [channels, width * WIDER], [1, stride, 0])?,
        None => floats(net, x)?,
    };
    let sum = net.b.add(wide, beside)?;
    let sum = net.b.with_number(ScalarOp::Max, sum, 0.0)?;
    net.bytes(sum)
}

fn floats(net: &mut Net, x: Value) -> Built {
    let x = net.b.cast(x, DType::F32)?;
    net.b.with_number(ScalarOp::Mul, x, SCALE)
}

/// A convolution of bytes as floats, with a bias; its size, stride and padding.
fn convolved(net: &mut Net, x: Value, [from, to]: [u64; 2], [size, stride, pad]: [i64; 3]) -> Built {
    let w = net.weight(DType::I8, &[to, from, size as u64, size as u64])?;
    let sums = net.b.conv(x, w, window(size, stride, pad), 1, DType::I32)?;
    let scaled = net.scaled(sums)?;
    let bias = net.weight(DType::F32, &[1, to, 1, 1])?;
    net.b.add(scaled, bias)
}

fn window(size: i64, stride: i64, pad: i64) -> Window {
    let pads = vec![Dim::from(pad); 2];
    Window {
        size: vec![size; 2],
        strides: vec![stride; 2],
        dilations: vec![1; 2],
        low: pads.clone(),
        high: pads,
    }
}
