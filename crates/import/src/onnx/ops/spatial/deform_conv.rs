//! DeformConv (Dai et al. 2017; with a mask: Zhu et al. 2018): a convolution whose kernel samples between pixels, each
//! of its elements moved by an offset of its own.
//!
//! Everything that the kernel sees is gathered into columns `[N, groups, C/groups * K, places]`, which the weights
//! contract. The columns hold K times the elements of the input.

use super::super::convolution::add_bias;
use super::super::window::{explicit_pads, kernel_of, spatial_rank, steps_of};
use super::{Mode, Outside, Sampler, sum_of_taps, weighted_taps};
use crate::build::along;
use crate::build::window::is_extent;
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, Shape};
use tegula_ir::{ScalarOp, Value};

/// Where the kernel's elements stand before they are moved.
struct Kernel {
    size: Vec<i64>,
    strides: Vec<i64>,
    dilations: Vec<i64>,
    low: Vec<Dim>,
    output: Vec<Dim>,
}

/// `(x: [N,C,s...], w: [O,C/group,k...], offset: [N,offset_group*K*n,o...], bias?: [O], mask?: [N,offset_group*K,o...])`.
pub(super) fn deform_conv(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, w, offset) = (node.operand(0)?, node.operand(1)?, node.operand(2)?);
    let (shape, n) = (cx.shape(x), spatial_rank(&cx.shape(x))?);
    let kernel = kernel(cx, node, &shape, w)?;
    let count: i64 = kernel.size.iter().product();
    let (groups, offset_groups) = (divisor(node, "group")?, divisor(node, "offset_group")?);
    let by = |dim: &Dim, groups: i64| {
        dim.div_exact(&Dim::from(groups))
            .ok_or_else(|| Fault::from(format!("{groups} groups do not divide {dim} channels")))
    };
    let (own, moved) = (by(&shape[1], groups)?, by(&shape[1], offset_groups)?);
    let results = by(&cx.dim(w, 0), groups)?;
    let extent = cx.dim(w, 1);
    cx.assert_equal(&own, &extent, "the input must have the channels that the weights take")?;
    let places = kernel.output.iter().fold(Dim::from(1), |count, dim| count * dim.clone());
    let batch = shape[0].clone() * Dim::from(offset_groups);
    let sampled = Dim::from(count) * places.clone();
    let mut taps = Vec::with_capacity(n);
    for at in moved_places(cx, offset, &kernel, &shape[0], offset_groups)? {
        let at = cx.reshape(at, [batch.clone(), sampled.clone()])?;
        taps.push(weighted_taps(cx, Mode::Linear, at)?);
    }
    let sampler = Sampler { mode: Mode::Linear, outside: Outside::Zeros, align_corners: true };
    let pixels = Shape::from(&shape[2..]).count();
    let data = cx.reshape(x, [batch.clone(), moved, pixels])?;
    let mut columns = sum_of_taps(cx, &sampler, data, &taps, &shape[2..], sampled.clone())?;
    if let Some(mask) = node.optional(4) {
        let mask = cx.reshape(mask, [batch, Dim::from(1), sampled])?;
        columns = cx.mul(columns, mask)?;
    }
    let inner = own * Dim::from(count);
    let groups = Dim::from(groups);
    let columns = cx.reshape(columns, [shape[0].clone(), groups.clone(), inner.clone(), places])?;
    let weights = cx.reshape(w, [Dim::from(1), groups, results, inner])?;
    let dtype = cx.dtype(x);
    let y = cx.matmul(weights, columns, dtype)?;
    let result: Shape = [shape[0].clone(), cx.dim(w, 0)].into_iter().chain(kernel.output).collect();
    let y = cx.reshape(y, result)?;
    Ok(vec![add_bias(cx, y, node.optional(3))?])
}

fn divisor(node: &Node, name: &str) -> Outcome<i64> {
    let n = node.int(name, 1);
    if is_extent(&n) { Ok(n) } else { Err(Fault::invalid(format!("{name} is {n}, but must be positive"))) }
}

fn kernel(cx: &Cx, node: &Node, x: &Shape, w: Value) -> Outcome<Kernel> {
    let (size, n) = (kernel_of(cx, w)?, spatial_rank(x)?);
    if size.len() != n || !size.iter().all(is_extent) {
        return Err(Fault::invalid(format!("a kernel of {size:?} must be {n} positive sizes")));
    }
    if node.ints("kernel_shape").is_some_and(|given| given != size) {
        return Err(Fault::from(format!("kernel_shape does not fit weights of {size:?}")));
    }
    let (strides, dilations) = (steps_of(node, "strides", n)?, steps_of(node, "dilations", n)?);
    let (low, high) = explicit_pads(node, n)?;
    let output = (0..n)
        .map(|i| {
            let reach = Dim::from(dilations[i]) * Dim::from(size[i] - 1) + Dim::from(1);
            let span = x[i + 2].clone() + low[i].clone() + high[i].clone() - reach;
            span.floor_div(&Dim::from(strides[i])) + Dim::from(1)
        })
        .collect();
    Ok(Kernel { size, strides, dilations, low, output })
}

/// For each spatial axis the places that are sampled: `[N*offset_groups, k..., o...]`, in the offsets' precision but
/// no less than `f32`.
fn moved_places(
    cx: &mut Cx,
    offset: Value,
    kernel: &Kernel,
    batch: &Dim,
    offset_groups: i64,
) -> Outcome<Vec<Value>> {
    let n = kernel.size.len();
    let wide = if cx.dtype(offset) == DType::F64 { DType::F64 } else { DType::F32 };
    let offset = cx.cast(offset, wide)?;
    let head = [batch.clone() * Dim::from(offset_groups)];
    let split: Shape = head
        .into_iter()
        .chain(kernel.size.iter().map(|n| Dim::from(*n)))
        .chain([Dim::from(n)])
        .chain(kernel.output.iter().cloned())
        .collect();
    let offset = cx.reshape(offset, split)?;
    (0..n)
        .map(|axis| {
            let own = cx.slice_axis(offset, 1 + n, Dim::from(axis), Dim::from(1))?;
            let own = cx.drop_axes(own, &[1 + n])?;
            let rank = 1 + 2 * n;
            let step = cx.iota(wide, along(rank, 1 + n + axis, kernel.output[axis].clone()), 1 + n + axis)?;
            let step = cx.with_number(ScalarOp::Mul, step, kernel.strides[axis] as f64)?;
            let tap = cx.iota(wide, along(rank, 1 + axis, Dim::from(kernel.size[axis])), 1 + axis)?;
            let tap = cx.with_number(ScalarOp::Mul, tap, kernel.dilations[axis] as f64)?;
            let place = cx.add(step, tap)?;
            let low = cx.size_as(kernel.low[axis].clone(), wide, rank)?;
            let place = cx.sub(place, low)?;
            cx.add(own, place)
        })
        .collect()
}
