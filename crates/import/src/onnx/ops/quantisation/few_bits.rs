//! Weights of 2, 4 or 8 bits in blocks of ONNX Runtime's own domain: MatMulNBits and GatherBlockQuantized.
//! Packed numbers share bytes, the lowest bits first, and are unpacked by arithmetic on their bytes.

use crate::build::axis_in;
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op};
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, Shape};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::{QuantScheme, TensorOp};

pub(in crate::onnx::ops) const ROWS: &[Row] =
    &[op("MatMulNBits", matmul_n_bits), op("GatherBlockQuantized", gather_block_quantized)];

/// Operands `a: [..., K]`, weights `[N, blocks, bytes]`, scales `[N, blocks]`, zero points (packed alike, or as
/// numbers of a's type), an index of groups that is refused, bias `[N]`.
fn matmul_n_bits(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (a, b, scales) = (node.operand(0)?, node.operand(1)?, node.operand(2)?);
    // How much the left side may be rounded on the way: it is not.
    node.needs_not(&["accuracy_level"]);
    let (k, n) = (node.int("K", 0), node.int("N", 0));
    let (bits, block) = (node.int("bits", 4), node.int("block_size", 32));
    let bounded = [k, n, block].iter().all(|size| (1..1 << 31).contains(size));
    if !bounded || !matches!(bits, 2 | 4 | 8) {
        return Err(Fault::unsupported(format!("{bits}-bit weights {k} by {n} in blocks of {block}")));
    }
    if node.optional(4).is_some() {
        return Err(Fault::unsupported("an index of groups (`g_idx`) is not supported"));
    }
    if node.flag("weight_prepacked", false) {
        return Err(Fault::unsupported(
            "weights that are packed for a machine (`weight_prepacked`) are not supported",
        ));
    }
    let blocks = (k + block - 1) / block;
    let dtype = cx.dtype(a);
    let stored = unpacked(cx, b, bits, n, blocks * block)?;
    let stored = cx.reshape(stored, [n, blocks, block])?;
    let zero = match node.optional(3) {
        Some(zero) if cx.dtype(zero) == DType::U8 => {
            let zero = unpacked(cx, zero, bits, n, blocks)?;
            let zero = cx.reshape(zero, [n, blocks, 1])?;
            cx.cast(zero, dtype)?
        }
        Some(zero) => cx.reshape(zero, [n, blocks, 1])?,
        None => cx.splat(dtype, [1i64, 1, 1], (1i64 << (bits - 1)) as f64)?,
    };
    let wide = cx.cast(stored, dtype)?;
    let centred = cx.sub(wide, zero)?;
    let scales = cx.reshape(scales, [n, blocks, 1])?;
    let weights = cx.mul(centred, scales)?;
    let weights = cx.reshape(weights, [n, blocks * block])?;
    let weights = cx.slice_axis(weights, 1, Dim::from(0), Dim::from(k))?;
    let weights = cx.transpose(weights, &[1, 0])?;
    let y = cx.matmul(a, weights, dtype)?;
    Ok(vec![match node.optional(5) {
        Some(bias) => cx.add(y, bias)?,
        None => y,
    }])
}

/// `count` numbers a row from the bytes of `rows` rows, as `u8[rows, count]`.
fn unpacked(cx: &mut Cx, packed: Value, bits: i64, rows: i64, count: i64) -> Outcome {
    let total = cx.shape(packed).count();
    let rows = Dim::from(rows);
    let bytes = cx.reshape(packed, [rows.clone(), total.floor_div(&rows)])?;
    let spread = spread_bits(cx, bytes, bits)?;
    cx.slice_axis(spread, 1, Dim::from(0), Dim::from(count))
}

/// The numbers of each byte side by side along the last axis.
fn spread_bits(cx: &mut Cx, bytes: Value, bits: i64) -> Outcome {
    if bits == 8 {
        return Ok(bytes);
    }
    let rank = cx.rank(bytes);
    let mut shape = cx.shape(bytes);
    let apart = cx.add_axes(bytes, &[rank])?;
    let n = 8 / bits;
    let mut parts = vec![];
    for part in 0..n {
        let shifted = match part {
            0 => apart,
            _ => cx.with_number(ScalarOp::ShiftRight, apart, (part * bits) as f64)?,
        };
        // Nothing stands above the highest.
        parts.push(match part + 1 == n {
            true => shifted,
            false => cx.with_number(ScalarOp::And, shifted, ((1 << bits) - 1) as f64)?,
        });
    }
    let joined = cx.concat(&parts, rank)?;
    shape[rank - 1] = shape[rank - 1].clone() * Dim::from(n);
    cx.reshape(joined, shape)
}

/// Operands `data, indices, scales, zero_points?`: rows of a table whose blocks have a scale each, as floats.
/// Indices that the table has not give zeros.
fn gather_block_quantized(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let (data, indices, scales) = (node.operand(0)?, node.operand(1)?, node.operand(2)?);
    let (bits, block) = (node.int("bits", 4), node.int("block_size", 128));
    let rank = cx.rank(data);
    if rank == 0 || cx.rank(scales) != rank {
        return Err(Fault::from(format!(
            "a table and scales of its rank are expected, got {} and {}",
            cx.ty(data),
            cx.ty(scales)
        )));
    }
    let gather_axis = axis_in(node.int("gather_axis", 0), rank)?;
    let block_axis = axis_in(node.int("quantize_axis", 1), rank)?;
    let storage = cx.dtype(data);
    let packed = storage == DType::U8 && bits < 8;
    if !matches!(bits, 2 | 4 | 8) || !(1..1 << 31).contains(&block) {
        return Err(Fault::unsupported(format!("{bits}-bit tables in blocks of {block}")));
    }
    if !matches!(storage, DType::U8 | DType::I4 | DType::U4 | DType::I2 | DType::U2 | DType::I8) {
        return Err(Fault::unsupported(format!("a table of {storage} is not supported")));
    }
    if packed && block_axis + 1 != rank {
        return Err(Fault::unsupported(
            "packed numbers in blocks of another axis than the last are not supported",
        ));
    }
    if gather_axis == block_axis {
        return Err(Fault::unsupported("gathering along the axis that has blocks is not supported"));
    }
    let extent = cx.dim(data, gather_axis);
    let picked = |cx: &mut Cx, table: Value| cx.gather(table, indices, gather_axis);
    let mut stored = picked(cx, data)?;
    let scale = picked(cx, scales)?;
    let mut zero = node.optional(3).map(|zero| picked(cx, zero)).transpose()?;
    let added = cx.rank(indices);
    let axis = if block_axis > gather_axis { block_axis + added - 1 } else { block_axis };
    if packed {
        stored = spread_bits(cx, stored, bits)?;
        if let Some(packed) = zero {
            let spread = spread_bits(cx, packed, bits)?;
            let blocks = cx.dim(scale, axis);
            zero = Some(cx.slice_axis(spread, axis, Dim::from(0), blocks)?);
        }
    }
    if storage == DType::U8 && zero.is_none() {
        let middle = (1i64 << (bits - 1)) as f64;
        let shape = cx.shape(scale);
        zero = Some(cx.splat(DType::U8, shape, middle)?);
    }
    let storage = cx.dtype(stored);
    let scheme = QuantScheme { axis: Some(axis), block: Some(block), storage, zero_point: zero.is_some() };
    let operands: Vec<Value> = [stored, scale].into_iter().chain(zero).collect();
    let y = cx.emit(TensorOp::Dequantize { scheme: Box::new(scheme) }, &operands)?;
    // Whether each index is one of the table's.
    let index = cx.cast(indices, DType::I64)?;
    let index_rank = cx.rank(index);
    let n = cx.size_as(extent, DType::I64, index_rank)?;
    let below = cx.binary(ScalarOp::Lt, index, n)?;
    let lowest = cx.unary(ScalarOp::Neg, n)?;
    let above = cx.binary(ScalarOp::Ge, index, lowest)?;
    let known = cx.binary(ScalarOp::And, below, above)?;
    let mut aligned: Vec<Dim> = vec![Dim::from(1); gather_axis];
    aligned.extend(cx.shape(known).iter().cloned());
    aligned.resize(cx.rank(y), Dim::from(1));
    let known = cx.reshape(known, Shape::from(aligned))?;
    let nothing = cx.number_like(y, 0.0)?;
    Ok(vec![cx.select(known, y, nothing)?])
}
