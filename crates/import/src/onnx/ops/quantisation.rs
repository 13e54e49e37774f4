//! Quantised ops: QDQ pairs keep their schemes, fused integer ops become `q_dot` and `q_conv`, and plain integer
//! products an `i32` contraction with its zero points taken out.

mod few_bits;
mod microsoft;
mod q_linear;

pub(super) use few_bits::ROWS as FEW_BITS;
pub(super) use microsoft::MICROSOFT;
pub(super) use q_linear::ROWS as Q_LINEAR;

use super::convolution::with_channels;
use super::window::{kernel_of, window_of};
use crate::build::axis_in;
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op};
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, Shape};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::{PadMode, QuantScheme, TensorOp, Window};

pub(super) const ROWS: &[Row] = &[
    op("QuantizeLinear", quantize_linear),
    op("DequantizeLinear", dequantize_linear),
    op("DynamicQuantizeLinear", dynamic_quantize_linear),
    op("MatMulInteger", matmul_integer),
    op("ConvInteger", conv_integer),
    op("QLinearMatMul", q_linear_matmul),
    op("QLinearConv", q_linear_conv),
];

/// The scheme of a scale over `x`, and scale and zero point in the shape that the scheme asks for.
fn scheme_of(
    cx: &mut Cx,
    node: &Node,
    x: Value,
    storage: DType,
    scale: Value,
    zero: Option<Value>,
) -> Outcome<(QuantScheme, Value, Option<Value>)> {
    let block = node.int("block_size", 0);
    // One scale for all has no axis; integers always saturate.
    node.needs_not(&["axis", "saturate"]);
    if block < 0 {
        return Err(Fault::invalid(format!("block_size is {block}, but must not be negative")));
    }
    let one = cx.shape(scale).count().is_const(1) && (block == 0 || cx.rank(scale) == 0);
    let (axis, block, shape) = if one {
        (None, None, Shape::scalar())
    } else {
        let axis = axis_in(node.int("axis", 1), cx.rank(x))?;
        if block == 0 {
            let extent = cx.dim(x, axis);
            if cx.rank(scale) != 1 {
                return Err(Fault::from(format!("a scale of shape {} without blocks", cx.shape(scale))));
            }
            let own = cx.dim(scale, 0);
            cx.assert_equal(&own, &extent, "there must be a scale for each element of the axis")?;
            (Some(axis), None, Shape::from([extent]))
        } else {
            (Some(axis), Some(block), cx.shape(scale))
        }
    };
    let scale = cx.reshape(scale, shape.clone())?;
    let zero = match zero {
        Some(zero) => Some(cx.reshape(zero, shape)?),
        None => None,
    };
    Ok((QuantScheme { axis, block, storage, zero_point: zero.is_some() }, scale, zero))
}

fn quantize_linear(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, scale, zero) = (node.operand(0)?, node.operand(1)?, node.optional(2));
    let stated = node.element_type("output_dtype")?;
    let storage = match zero {
        Some(zero) => cx.dtype(zero),
        None => stated.unwrap_or(DType::U8),
    };
    if stated.is_some_and(|stated| stated != storage) {
        return Err(Fault::invalid(format!("output_dtype differs from the zero point's {storage}")));
    }
    let arithmetic = match node.element_type("precision")? {
        Some(stated) => stated,
        None => quotient_type(cx.dtype(x), cx.dtype(scale)),
    };
    let (x, scale) = (cx.cast(x, arithmetic)?, cx.cast(scale, arithmetic)?);
    let (scheme, scale, zero) = scheme_of(cx, node, x, storage, scale, zero)?;
    // Narrower floats have nothing to overflow to.
    if storage.is_float() && storage.bits() == 8 && !node.flag("saturate", true) {
        return Ok(vec![quantize_and_overflow(cx, x, scale, zero, &scheme)?]);
    }
    let operands: Vec<Value> = [x, scale].into_iter().chain(zero).collect();
    Ok(vec![cx.emit(TensorOp::Quantize { scheme: Box::new(scheme) }, &operands)?])
}

/// To an 8-bit float, with infinity or NaN beyond its range, where the op `quantize` saturates.
fn quantize_and_overflow(
    cx: &mut Cx,
    x: Value,
    scale: Value,
    zero: Option<Value>,
    scheme: &QuantScheme,
) -> Outcome {
    if scheme.block.is_some() {
        return Err(Fault::unsupported("blocks of 8-bit floats that do not saturate are not supported"));
    }
    let rank = cx.rank(x);
    let spread = |cx: &mut Cx, value: Value| match scheme.axis {
        Some(axis) => cx.lay_along(value, axis, rank),
        None => Ok(value),
    };
    let scale = spread(cx, scale)?;
    let mut quotient = cx.div(x, scale)?;
    if let Some(zero) = zero {
        let zero = cx.cast_like(zero, quotient)?;
        let zero = spread(cx, zero)?;
        quotient = cx.add(quotient, zero)?;
    }
    cx.unary(ScalarOp::Cast { to: scheme.storage, saturate: false }, quotient)
}

/// What `x / scale` is computed in: the type of both, the wider of two, the scale's where x is an integer.
fn quotient_type(x: DType, scale: DType) -> DType {
    let is_real = |dtype: DType| dtype.is_float() && !dtype.is_stored_only();
    match (is_real(x), is_real(scale)) {
        (true, true) if x == scale => x,
        (false, true) => scale,
        _ => DType::F32,
    }
}

fn dequantize_linear(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, scale, zero) = (node.operand(0)?, node.operand(1)?, node.optional(2));
    let storage = cx.dtype(x);
    let scale = if cx.dtype(scale).is_stored_only() { cx.cast(scale, DType::F32)? } else { scale };
    let (scheme, scale, zero) = scheme_of(cx, node, x, storage, scale, zero)?;
    let operands: Vec<Value> = [x, scale].into_iter().chain(zero).collect();
    let y = cx.emit(TensorOp::Dequantize { scheme: Box::new(scheme) }, &operands)?;
    Ok(vec![match node.element_type("output_dtype")? {
        None => y,
        Some(to) => cx.cast(y, to)?,
    }])
}

/// Scale and zero point from the range of x (0 included), then x in 8 bits.
fn dynamic_quantize_linear(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let x = node.operand(0)?;
    let (y, scale, zero) = dynamically_quantized(cx, x)?;
    Ok(vec![y, scale, zero])
}

fn dynamically_quantized(cx: &mut Cx, x: Value) -> Outcome<(Value, Value, Value)> {
    let axes: Vec<usize> = (0..cx.rank(x)).collect();
    let most = cx.reduce(ScalarOp::Max, x, &axes, false)?;
    let most = cx.with_number(ScalarOp::Max, most, 0.0)?;
    let least = cx.reduce(ScalarOp::Min, x, &axes, false)?;
    let least = cx.with_number(ScalarOp::Min, least, 0.0)?;
    let range = cx.sub(most, least)?;
    let scale = cx.with_number(ScalarOp::Div, range, 255.0)?;
    // A tensor of zeros has no range; any scale serves it.
    let empty = cx.with_number(ScalarOp::Eq, scale, 0.0)?;
    let one = cx.number_like(scale, 1.0)?;
    let scale = cx.select(empty, one, scale)?;
    let least = cx.unary(ScalarOp::Neg, least)?;
    let zero = cx.div(least, scale)?;
    let zero = cx.unary(ScalarOp::Round, zero)?;
    let zero = cx.cast(zero, DType::U8)?;
    let scheme = QuantScheme { axis: None, block: None, storage: DType::U8, zero_point: true };
    let y = cx.emit(TensorOp::Quantize { scheme: Box::new(scheme) }, &[x, scale, zero])?;
    Ok((y, scale, zero))
}

/// Whether a zero point is absent or known to be 0.
fn is_zero(cx: &mut Cx, zero: Option<Value>) -> bool {
    match zero {
        None => true,
        Some(zero) => match cx.known_ints(zero) {
            Some(values) => values.iter().all(|value| *value == 0),
            None => false,
        },
    }
}

/// `sum (a - a0)(b - b0)` in `i32`: one contraction of the stored integers, less what the zero points add.
pub(super) fn integer_product(
    cx: &mut Cx,
    a: Value,
    b: Value,
    a_zero: Option<Value>,
    b_zero: Option<Value>,
) -> Outcome {
    let (rank_a, rank_b) = (cx.rank(a), cx.rank(b));
    let simple = rank_a >= 2 && rank_b >= 2;
    let (no_a, no_b) = (is_zero(cx, a_zero), is_zero(cx, b_zero));
    if !simple {
        let a = centred(cx, a, a_zero, false)?;
        let b = centred(cx, b, b_zero, true)?;
        return cx.matmul(a, b, DType::I32);
    }
    let inner = cx.dim(a, rank_a - 1);
    let mut product = cx.matmul(a, b, DType::I32)?;
    let a_zero = if no_a { None } else { a_zero };
    let b_zero = if no_b { None } else { b_zero };
    let a_zero = a_zero.map(|zero| row_zero(cx, zero)).transpose()?;
    let b_zero = b_zero.map(|zero| cx.cast(zero, DType::I32)).transpose()?;
    if let Some(zero) = a_zero {
        let b = cx.cast(b, DType::I32)?;
        let sums = cx.reduce(ScalarOp::Add, b, &[rank_b - 2], true)?;
        let added = cx.mul(sums, zero)?;
        product = cx.sub(product, added)?;
    }
    if let Some(zero) = b_zero {
        let a = cx.cast(a, DType::I32)?;
        let sums = cx.reduce(ScalarOp::Add, a, &[rank_a - 1], true)?;
        let added = cx.mul(sums, zero)?;
        product = cx.sub(product, added)?;
    }
    if let (Some(a), Some(b)) = (a_zero, b_zero) {
        let both = cx.mul(a, b)?;
        let count = cx.size_as(inner, DType::I32, 0)?;
        let both = cx.mul(both, count)?;
        product = cx.add(product, both)?;
    }
    Ok(product)
}

/// A zero point of the left operand in `i32`: a scalar, or one a row.
fn row_zero(cx: &mut Cx, zero: Value) -> Outcome {
    let zero = cx.cast(zero, DType::I32)?;
    match cx.rank(zero) {
        1 if !cx.dim(zero, 0).is_const(1) => cx.add_axes(zero, &[1]),
        _ => Ok(zero),
    }
}

/// `x - zero` in `i32`.
fn centred(cx: &mut Cx, x: Value, zero: Option<Value>, column: bool) -> Outcome {
    let x = cx.cast(x, DType::I32)?;
    match zero {
        Some(zero) => {
            let zero = if column { cx.cast(zero, DType::I32)? } else { row_zero(cx, zero)? };
            cx.sub(x, zero)
        }
        None => Ok(x),
    }
}

fn matmul_integer(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (a, b) = (node.operand(0)?, node.operand(1)?);
    Ok(vec![integer_product(cx, a, b, node.optional(2), node.optional(3))?])
}

fn conv_integer(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (x, w) = (node.operand(0)?, node.operand(1)?);
    let (x_zero, w_zero) = (node.optional(2), node.optional(3));
    let window = window_of(node, &cx.shape(x), Some(kernel_of(cx, w)?))?;
    let groups = node.int("group", 1);
    let channels = cx.dim(w, 1) * Dim::from(groups);
    let x = with_channels(cx, x, channels)?;
    let rank = cx.rank(x);
    if !is_zero(cx, w_zero) && groups != 1 {
        // The weights' zero point would need sums over each window of a group: centre both sides instead.
        let x = centred(cx, x, x_zero, true)?;
        let w_zero = match w_zero {
            Some(zero) if cx.rank(zero) == 1 => Some(cx.lay_along(zero, 0, rank)?),
            zero => zero,
        };
        let w = centred(cx, w, w_zero, true)?;
        let kind = TensorOp::Conv { window: Box::new(window), groups, out: DType::I32 };
        return Ok(vec![cx.emit(kind, &[x, w])?]);
    }
    // Padding stands for 0, which is the zero point.
    let (x, window) = match x_zero {
        Some(zero) if !is_zero(cx, x_zero) => padded_by(cx, x, zero, window)?,
        _ => (x, window),
    };
    let kind = TensorOp::Conv { window: Box::new(window.clone()), groups, out: DType::I32 };
    let mut y = cx.emit(kind, &[x, w])?;
    if let Some(zero) = w_zero.filter(|_| !is_zero(cx, w_zero)) {
        // sum (x - zx) (w - zw) = sum x w - zw sum x - zx sum (w - zw)
        let sums = window_sums(cx, x, window)?;
        let zero = if cx.rank(zero) == 1 { cx.lay_along(zero, 1, rank)? } else { zero };
        let zero = cx.cast(zero, DType::I32)?;
        let taken = cx.mul(sums, zero)?;
        y = cx.sub(y, taken)?;
    }
    if let Some(zero) = x_zero {
        let axes: Vec<usize> = (1..rank).collect();
        let wide = match w_zero {
            Some(zero) if cx.rank(zero) == 1 => {
                let zero = cx.lay_along(zero, 0, rank)?;
                centred(cx, w, Some(zero), true)?
            }
            zero => centred(cx, w, zero, true)?,
        };
        let sums = cx.reduce(ScalarOp::Add, wide, &axes, false)?;
        // Laid along the channels before the zero point, which may be computed, is there: what is constant stays so.
        let sums = cx.lay_along(sums, 1, rank)?;
        let zero = cx.cast(zero, DType::I32)?;
        let taken = cx.mul(sums, zero)?;
        y = cx.sub(y, taken)?;
    }
    Ok(vec![y])
}

/// The sum of bytes over each window and all channels: `[N,1,spatial...]` in `i32`.
fn window_sums(cx: &mut Cx, x: Value, window: Window) -> Outcome {
    let wide = cx.cast(x, DType::I32)?;
    let channels = cx.reduce(ScalarOp::Add, wide, &[1], true)?;
    let ones: Shape = [1, 1].iter().chain(&window.size).map(|n| Dim::from(*n)).collect();
    let ones = cx.splat(DType::I32, ones, 1.0)?;
    cx.emit(TensorOp::Conv { window: Box::new(window), groups: 1, out: DType::I32 }, &[channels, ones])
}

fn padded_by(cx: &mut Cx, x: Value, value: Value, window: Window) -> Outcome<(Value, Window)> {
    let none = vec![Dim::from(0); 2];
    let (low, high) = ([none.clone(), window.low.clone()].concat(), [none, window.high.clone()].concat());
    let value = cx.reshape(value, Shape::scalar())?;
    let x = if low.iter().chain(&high).all(|dim| dim.is_const(0)) {
        x
    } else {
        cx.emit(TensorOp::Pad { low, high, mode: PadMode::Constant }, &[x, value])?
    };
    let n = window.size.len();
    Ok((x, Window { low: vec![Dim::from(0); n], high: vec![Dim::from(0); n], ..window }))
}

/// A scale or zero point as a scalar, where it has one element.
fn scalar_if_one(cx: &mut Cx, value: Value) -> Outcome {
    if cx.shape(value).count().is_const(1) { cx.reshape(value, Shape::scalar()) } else { Ok(value) }
}

fn q_linear_matmul(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let operands = node.all_operands()?;
    let [a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero] = operands[..] else {
        return Err(Fault::invalid(format!("takes 8 operands, got {}", operands.len())));
    };
    let [a_scale, a_zero, b_scale, b_zero, y_scale, y_zero] =
        [a_scale, a_zero, b_scale, b_zero, y_scale, y_zero].map(|value| scalar_if_one(cx, value));
    let (a_scale, a_zero, b_scale, b_zero) = (a_scale?, a_zero?, b_scale?, b_zero?);
    let (y_scale, y_zero) = (y_scale?, y_zero?);
    if cx.rank(a_scale) > 0 || cx.rank(y_scale) > 0 || cx.rank(b_scale) > 1 {
        return Err(Fault::unsupported(
            "scales of each row of the left operand or of the result are not supported",
        ));
    }
    let y = cx.matmul_with(a, b, |cx, a, b, dims| {
        let operands = [a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero];
        cx.emit(TensorOp::QDot { dims: Box::new(dims) }, &operands)
    })?;
    Ok(vec![y])
}

fn q_linear_conv(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    Ok(vec![q_convolved(cx, node, node.operand(0)?)?])
}

/// The node's convolution of `x: [N,C,...]`, its first operand.
fn q_convolved(cx: &mut Cx, node: &Node, x: Value) -> Outcome {
    let w = node.operand(3)?;
    let window = window_of(node, &cx.shape(x), Some(kernel_of(cx, w)?))?;
    let groups = node.int("group", 1);
    let channels = cx.dim(w, 1) * Dim::from(groups);
    let x = with_channels(cx, x, channels)?;
    let mut operands = vec![];
    for i in 0..8 {
        let value = if i == 0 { x } else { node.operand(i)? };
        operands.push(if i == 0 || i == 3 { value } else { scalar_if_one(cx, value)? });
    }
    // Scale and zero point of the weights both vary, or neither does.
    let channels = cx.dim(w, 0);
    if cx.rank(operands[4]) != cx.rank(operands[5]) {
        for i in [4, 5] {
            if cx.rank(operands[i]) == 0 {
                operands[i] = cx.reshape(operands[i], [1])?;
            }
            operands[i] = cx.broadcast_to(operands[i], &Shape::from([channels.clone()]))?;
        }
    }
    operands.extend(node.optional(8));
    cx.emit(TensorOp::QConv { window: Box::new(window), groups }, &operands)
}
