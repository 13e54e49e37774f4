//! Ops that make tensors from attributes and sizes: constants, shapes, ranges, identity matrices, windows.

use crate::build::axis_in;
use crate::build::scope::Slot;
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op, op_of_slots};
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, HostTensor, Shape};
use tegula_ir::{ConstData, ScalarOp, Value};
use tegula_tensor::TensorOp;

pub(super) const ROWS: &[Row] = &[
    op_of_slots("Constant", constant),
    op("ConstantOfShape", constant_of_shape),
    op("Shape", shape).measures(),
    op("Size", size).measures(),
    op("Range", range),
    op("EyeLike", eye_like),
    op("Trilu", trilu),
    op("OneHot", one_hot),
    op("HannWindow", |cx, node| window(cx, node, &[0.5, 0.5])),
    op("HammingWindow", |cx, node| window(cx, node, &[25.0 / 46.0, 21.0 / 46.0])),
    op("BlackmanWindow", |cx, node| window(cx, node, &[0.42, 0.5, 0.08])),
];

fn constant(cx: &mut Cx, node: &Node) -> Outcome<Vec<Slot>> {
    let data: ConstData = if let Some(tensor) = node.tensor("value") {
        return Ok(vec![cx.stored(tensor)?]);
    } else if let Some(sparse) = node.attribute("sparse_value").and_then(|a| a.sparse_tensor.as_deref()) {
        cx.weights.load_sparse(sparse).map_err(Fault::invalid)?
    } else if let Some(value) = node.optional_int("value_int") {
        HostTensor::scalar(value).into()
    } else if let Some(values) = node.ints("value_ints") {
        HostTensor::from_elements(&[values.len()], &values).into()
    } else if let Some(value) = node.attribute("value_float") {
        HostTensor::scalar(value.f()).into()
    } else if let Some(values) = node.floats("value_floats") {
        HostTensor::from_elements(&[values.len()], &values).into()
    } else if node.has("value_string") {
        return Ok(vec![Slot::Text(cx.texts(&[node.text("value_string", "").into_bytes()], &[])?)]);
    } else if let Some(texts) = node.texts("value_strings") {
        let texts: Vec<Vec<u8>> = texts.into_iter().map(String::into_bytes).collect();
        return Ok(vec![Slot::Text(cx.texts(&texts, &[texts.len()])?)]);
    } else {
        return Err(Fault::invalid("the constant has no value"));
    };
    Ok(vec![Slot::Value(cx.constant(data)?)])
}

fn constant_of_shape(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let list = node.operand(0)?;
    let value = match node.tensor("value") {
        Some(tensor) => cx.weights.load(tensor).map_err(Fault::invalid)?,
        None => HostTensor::scalar(0f32).into(),
    };
    let n = cx.element_count(list)?;
    let declared: Vec<Dim> = (0..n).map(|i| cx.declared_extent(0, i)).collect();
    let sizes = cx.sizes_or_bind(list, "size", &|i| declared[i].clone())?;
    let mut bits = [0; 8];
    let element = value.data.get(..value.dtype.size()).ok_or_else(|| Fault::invalid("the value is empty"))?;
    bits[..element.len()].copy_from_slice(element);
    let (dtype, bits) = (value.dtype, i64::from_le_bytes(bits));
    Ok(vec![cx.emit(TensorOp::Splat { dtype, shape: sizes.into(), bits }, &[])?])
}

fn shape(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let dims = cx.shape(node.operand(0)?);
    let rank = dims.rank() as i64;
    let place = |n: i64| (if n < 0 { n.saturating_add(rank) } else { n }).clamp(0, rank) as usize;
    let (start, end) = (place(node.int("start", 0)), place(node.int("end", rank)));
    let picked = dims.get(start..end).unwrap_or_default().to_vec();
    Ok(vec![cx.sizes_tensor(picked)?])
}

fn size(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let count = cx.shape(node.operand(0)?).count();
    let list = cx.sizes_tensor(vec![count])?;
    Ok(vec![cx.reshape(list, Shape::scalar())?])
}

/// `ceil((limit - start) / delta)` elements from `start` on.
fn range(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let operands = [node.operand(0)?, node.operand(1)?, node.operand(2)?];
    let dtype = cx.dtype(operands[0]);
    let [start, limit, delta] = [0, 1, 2].map(|i| cx.reshape(operands[i], [1i64]));
    let (start, limit, delta) = (start?, limit?, delta?);
    cx.expect_not_zero(delta, "the step of a range is 0")?;
    let size = match range_size(cx, start, limit, delta) {
        Some(size) => size,
        None => {
            let span = cx.sub(limit, start)?;
            let count = if dtype.is_float() {
                let count = cx.div(span, delta)?;
                let count = cx.unary(ScalarOp::Ceil, count)?;
                cx.cast(count, DType::I64)?
            } else {
                // ceil for integers of either sign: the remainder counts when it points the way of delta.
                let (span, delta) = (cx.cast(span, DType::I64)?, cx.cast(delta, DType::I64)?);
                let span = cx.add(span, delta)?;
                let sign = cx.unary(ScalarOp::Sign, delta)?;
                let span = cx.sub(span, sign)?;
                cx.div(span, delta)?
            };
            let count = cx.with_number(ScalarOp::Max, count, 0.0)?;
            let upper = cx.declared_extent(0, 0);
            cx.size_or_bind(count, "range", upper)?
        }
    };
    let places = cx.iota(dtype, [size], 0)?;
    let steps = cx.mul(places, delta)?;
    Ok(vec![cx.add(steps, start)?])
}

fn range_size(cx: &mut Cx, start: Value, limit: Value, delta: Value) -> Option<Dim> {
    let one = |cx: &mut Cx, value: Value| {
        let ratios = cx.known_ratios(value)?;
        ratios.into_iter().next()
    };
    let (start, limit) = (one(cx, start)?, one(cx, limit)?);
    let (delta, by) = one(cx, delta)?;
    let delta = delta.as_const().filter(|delta| !matches!(*delta, 0 | i64::MIN))?;
    // (limit - start) / (delta / by), all over one denominator.
    let span = limit.0 * Dim::from(start.1) - start.0 * Dim::from(limit.1);
    let (span, delta) = if delta < 0 { (-span, -delta) } else { (span, delta) };
    let below = delta.checked_mul(start.1)?.checked_mul(limit.1)?;
    let size = (span * Dim::from(by)).ceil_div(&Dim::from(below));
    if cx.symbols.bounds(&size).0 >= 0 { Some(size) } else { Some(size.maximum(&Dim::from(0))) }
}

fn eye_like(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let dtype = node.element_type("dtype")?.unwrap_or(cx.dtype(x));
    let offset = diagonal_offset(cx, x)?;
    let hit = cx.with_number(ScalarOp::Eq, offset, node.int("k", 0) as f64)?;
    Ok(vec![cx.cast(hit, dtype)?])
}

/// `column - row` over the last two axes.
fn diagonal_offset(cx: &mut Cx, x: Value) -> Outcome {
    let rank = cx.rank(x);
    if rank < 2 {
        return Err(Fault::from(format!("matrices are expected, got {}", cx.ty(x))));
    }
    let (rows, columns) = (cx.places_along(x, rank - 2)?, cx.places_along(x, rank - 1)?);
    cx.sub(columns, rows)
}

fn trilu(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let offset = diagonal_offset(cx, x)?;
    let f = if node.flag("upper", true) { ScalarOp::Ge } else { ScalarOp::Le };
    let kept = match node.optional(1) {
        Some(k) => {
            let k = cx.reshape(k, Shape::scalar())?;
            cx.binary(f, offset, k)?
        }
        None => cx.with_number(f, offset, 0.0)?,
    };
    let zero = cx.number_like(x, 0.0)?;
    Ok(vec![cx.select(kept, x, zero)?])
}

fn one_hot(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (indices, depth, values) = (node.operand(0)?, node.operand(1)?, node.operand(2)?);
    let rank = cx.rank(indices) + 1;
    let axis = axis_in(node.int("axis", -1), rank)?;
    let upper = cx.declared_extent(0, axis);
    let depth = cx.cast(depth, DType::I64)?;
    let depth = cx.size_or_bind(depth, "depth", upper)?;
    let indices = cx.wrap_indices(indices, depth.clone())?;
    let indices = cx.add_axes(indices, &[axis])?;
    let places = cx.iota(DType::I64, crate::build::along(rank, axis, depth), axis)?;
    let hit = cx.binary(ScalarOp::Eq, indices, places)?;
    let off = cx.slice_axis(values, 0, Dim::from(0), Dim::from(1))?;
    let on = cx.slice_axis(values, 0, Dim::from(1), Dim::from(1))?;
    Ok(vec![cx.select(hit, on, off)?])
}

/// `a0 - a1 cos(2 pi i / N) + a2 cos(4 pi i / N)`; N is the size, or one less when symmetric.
fn window(cx: &mut Cx, node: &Node, terms: &[f64]) -> Outcome<Vec<Value>> {
    let size = node.operand(0)?;
    let dtype = node.element_type("output_datatype")?.unwrap_or(DType::F32);
    let upper = cx.declared_extent(0, 0);
    let size = cx.size_or_bind(size, "window", upper)?;
    let period = if node.flag("periodic", true) { size.clone() } else { size.clone() - Dim::from(1) };
    let places = cx.iota(DType::F64, [size], 0)?;
    let period = cx.size_as(period, DType::F64, 1)?;
    let turn = cx.with_number(ScalarOp::Mul, places, std::f64::consts::TAU)?;
    let turn = cx.div(turn, period)?;
    let mut sum = cx.number_like(turn, terms[0])?;
    for (i, term) in terms.iter().enumerate().skip(1) {
        let angle = cx.with_number(ScalarOp::Mul, turn, i as f64)?;
        let wave = cx.unary(ScalarOp::Cos, angle)?;
        let signed = if i % 2 == 1 { -term } else { *term };
        let wave = cx.with_number(ScalarOp::Mul, wave, signed)?;
        sum = cx.add(sum, wave)?;
    }
    Ok(vec![cx.cast(sum, dtype)?])
}
