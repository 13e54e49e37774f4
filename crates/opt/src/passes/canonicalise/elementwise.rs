//! Rules of elementwise ops.

use super::{Applied, Rule, Site, Source, all_ones};
use tegula_base::{DType, Dim, Shape};
use tegula_ir::scalar::eval::eval;
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::TensorOp;
use tegula_tensor::facts::may_repeat;

const OF_SPLATS: Rule = Rule { name: "f(splat, ...) => splat", apply: of_splats };
const NEUTRAL_OPERAND: Rule = Rule {
    name: "x + 0, x - 0, x * 1, x / 1, x & true, x | false, max(x, -inf), min(x, inf) => x",
    apply: neutral_operand,
};
const BROADCAST_OPERAND: Rule =
    Rule { name: "f(broadcast(x), y) => f(x, y) where y has the shape", apply: broadcast_operand };
const NARROW_SPLAT: Rule =
    Rule { name: "f(splat of many, y) => f(splat of one, y) where y has the shape", apply: narrow_splat };
const SINK_TRANSPOSE: Rule =
    Rule { name: "f(transpose(x), transpose(y)) => transpose(f(x, y))", apply: super::transpose::sink };
const SINK_RESHAPE: Rule =
    Rule { name: "f(reshape(x), y) => reshape(f(x, y'))", apply: super::reshape::sink };

const UNARY: &[Rule] = &[OF_SPLATS, BROADCAST_OPERAND, NARROW_SPLAT, SINK_TRANSPOSE, SINK_RESHAPE];
const NEGATIONS: &[Rule] = &[
    OF_SPLATS,
    Rule { name: "neg(neg(x)), not(not(x)) => x", apply: twice },
    BROADCAST_OPERAND,
    NARROW_SPLAT,
    SINK_TRANSPOSE,
    SINK_RESHAPE,
];
const CASTS: &[Rule] = &[
    OF_SPLATS,
    Rule { name: "cast to the same type => x", apply: cast_same },
    Rule { name: "cast(exact cast(x)) => cast(x)", apply: cast_cast },
    Rule { name: "cast(cast(byte) - number) to float => cast(byte) - number", apply: subtract_in_float },
    BROADCAST_OPERAND,
    NARROW_SPLAT,
    SINK_TRANSPOSE,
    SINK_RESHAPE,
];
const BINARY: &[Rule] =
    &[OF_SPLATS, NEUTRAL_OPERAND, BROADCAST_OPERAND, NARROW_SPLAT, SINK_TRANSPOSE, SINK_RESHAPE];
const PRODUCTS: &[Rule] = &[
    OF_SPLATS,
    NEUTRAL_OPERAND,
    Rule {
        name: "cast(constant bytes) * scale => dequantize(constant bytes) where a dot reads it",
        apply: super::dequantised::scaled_bytes,
    },
    BROADCAST_OPERAND,
    NARROW_SPLAT,
    SINK_TRANSPOSE,
    SINK_RESHAPE,
];
const QUOTIENTS: &[Rule] = &[
    OF_SPLATS,
    NEUTRAL_OPERAND,
    BROADCAST_OPERAND,
    NARROW_SPLAT,
    Rule { name: "x / 2^n => x * 2^-n", apply: divide_by_power },
    SINK_TRANSPOSE,
    SINK_RESHAPE,
];
const POWERS: &[Rule] = &[
    OF_SPLATS,
    NEUTRAL_OPERAND,
    BROADCAST_OPERAND,
    NARROW_SPLAT,
    Rule { name: "pow(x, 2), pow(x, 3), pow(x, -1) => x * x, x * x * x, 1 / x", apply: small_power },
    SINK_TRANSPOSE,
    SINK_RESHAPE,
];
const SELECTS: &[Rule] = &[
    OF_SPLATS,
    Rule { name: "select(splat, a, b) => a or b", apply: select_known },
    BROADCAST_OPERAND,
    NARROW_SPLAT,
    SINK_TRANSPOSE,
    SINK_RESHAPE,
];

/// Every table, for the rule book.
#[cfg(test)]
pub(super) const TABLES: [&[Rule]; 8] =
    [UNARY, NEGATIONS, CASTS, BINARY, PRODUCTS, QUOTIENTS, POWERS, SELECTS];

/// The rules that an elementwise op of this function may match: ops are many, and most rules are about one function.
pub(super) fn rules(f: ScalarOp) -> &'static [Rule] {
    match f {
        ScalarOp::Neg | ScalarOp::Not => NEGATIONS,
        ScalarOp::Cast { .. } | ScalarOp::Bitcast { .. } => CASTS,
        ScalarOp::Mul => PRODUCTS,
        ScalarOp::Div => QUOTIENTS,
        ScalarOp::Pow => POWERS,
        ScalarOp::Select => SELECTS,
        f if f.arity() == 2 => BINARY,
        _ => UNARY,
    }
}

fn function(site: &Site) -> Option<ScalarOp> {
    match site.kind() {
        TensorOp::Elementwise { f } => Some(*f),
        _ => None,
    }
}

fn of_splats(site: &mut Site) -> Applied {
    let Some(f) = function(site).filter(|_| site.reads(Source::Splat)) else { return Ok(None) };
    if site.operands().iter().any(|value| site.splat(*value).is_none()) {
        return Ok(None);
    }
    let bits = site.operands().iter().filter_map(|value| site.splat(*value));
    let dtypes: Vec<DType> = site.operands().iter().map(|value| site.b.dtype(*value)).collect();
    let bits: Vec<u64> = bits.map(|bits| bits as u64).collect();
    let ty = site.result_type().clone();
    let result = eval(f, &dtypes, &bits) as i64;
    site.b.emit(TensorOp::Splat { dtype: ty.dtype, shape: ty.shape, bits: result }, &[]).map(Some)
}

fn neutral_operand(site: &mut Site) -> Applied {
    use ScalarOp::*;
    if !site.reads(Source::Splat) {
        return Ok(None);
    }
    let Some(f) = function(site).filter(|f| f.arity() == 2) else { return Ok(None) };
    let (a, b) = (site.operand(0), site.operand(1));
    let dtype = site.b.dtype(a);
    let is = |value: Value, number: f64| site.splat(value).is_some_and(|bits| bits == bits_of(dtype, number));
    // -0 + 0 is 0, so only -0 is neutral in float addition.
    let zero = if dtype.is_float() { -0.0 } else { 0.0 };
    let kept = match f {
        Add if is(b, zero) => a,
        Add if is(a, zero) => b,
        Sub if is(b, 0.0) => a,
        Mul if is(b, 1.0) => a,
        Mul if is(a, 1.0) => b,
        Div | Pow if is(b, 1.0) => a,
        And if dtype == DType::Bool && is(b, 1.0) => a,
        And if dtype == DType::Bool && is(a, 1.0) => b,
        Or if is(b, 0.0) => a,
        Or if is(a, 0.0) => b,
        // Small floats may lack infinities.
        Max if dtype.bits() >= 16 && is(b, f64::NEG_INFINITY) => a,
        Max if dtype.bits() >= 16 && is(a, f64::NEG_INFINITY) => b,
        Min if dtype.bits() >= 16 && is(b, f64::INFINITY) => a,
        Min if dtype.bits() >= 16 && is(a, f64::INFINITY) => b,
        _ => return Ok(None),
    };
    Ok((site.shape(kept) == &site.result_type().shape).then_some(kept))
}

fn bits_of(dtype: DType, number: f64) -> i64 {
    eval(ScalarOp::Cast { to: dtype, saturate: true }, &[DType::F64], &[number.to_bits()]) as i64
}

fn cast_same(site: &mut Site) -> Applied {
    let Some(ScalarOp::Cast { to, .. } | ScalarOp::Bitcast { to }) = function(site) else { return Ok(None) };
    let x = site.operand(0);
    Ok((site.b.dtype(x) == to).then_some(x))
}

/// Exact as long as the reciprocal is a normal number.
fn divide_by_power(site: &mut Site) -> Applied {
    if function(site) != Some(ScalarOp::Div) {
        return Ok(None);
    }
    let (x, divisor) = (site.operand(0), site.operand(1));
    let Some(bits) = site.splat(divisor) else { return Ok(None) };
    let (dtype, shape) = (site.b.dtype(x), site.shape(divisor).clone());
    let number = match dtype {
        DType::F32 => f64::from(f32::from_bits(bits as u32)),
        DType::F64 => f64::from_bits(bits as u64),
        _ => return Ok(None),
    };
    let power = number.is_normal() && number.to_bits() & ((1 << 52) - 1) == 0;
    if !power || number.abs() > 2f64.powi(100) || number.abs() < 2f64.powi(-100) || number == 1.0 {
        return Ok(None);
    }
    let reciprocal = site.b.splat(dtype, shape, number.recip())?;
    site.b.elementwise(ScalarOp::Mul, &[x, reciprocal]).map(Some)
}

/// Within the bound of `pow`: one rounding, or two of `f64`. The cubes of narrower floats are left to
/// `decompose_composites`.
fn small_power(site: &mut Site) -> Applied {
    if function(site) != Some(ScalarOp::Pow) {
        return Ok(None);
    }
    let (x, exponent) = (site.operand(0), site.operand(1));
    let dtype = site.b.dtype(x);
    if site.b.dtype(exponent) != dtype || site.shape(x) != &site.result_type().shape {
        return Ok(None);
    }
    // The narrowest integers hold no 2 and 3.
    let is = |number: f64| {
        let holds = dtype.is_float() || dtype.bits() > 2;
        holds && site.splat(exponent).is_some_and(|bits| bits == bits_of(dtype, number))
    };
    if dtype.is_float() && is(-1.0) {
        return site.b.elementwise(ScalarOp::Reciprocal, &[x]).map(Some);
    }
    let cube = is(3.0) && (dtype.is_int() || dtype == DType::F64);
    if !is(2.0) && !cube {
        return Ok(None);
    }
    let square = site.b.elementwise(ScalarOp::Mul, &[x, x])?;
    if cube { site.b.elementwise(ScalarOp::Mul, &[square, x]).map(Some) } else { Ok(Some(square)) }
}

/// The inner cast loses nothing, so the outer one may read its operand.
fn cast_cast(site: &mut Site) -> Applied {
    let Some(outer @ ScalarOp::Cast { to, .. }) = function(site) else { return Ok(None) };
    let Some((inner, TensorOp::Elementwise { f: ScalarOp::Cast { to: middle, .. } })) =
        site.def(site.operand(0))
    else {
        return Ok(None);
    };
    let (middle, x) = (*middle, site.b.func.operand(inner, 0));
    let from = site.b.dtype(x);
    // A float that does not fit an integer saturates, where an integer wraps.
    let alike = !middle.is_float() || from.is_float() || !to.is_int() || is_exact(from, to);
    let exact = is_exact(from, middle)
        && alike
        && (middle.is_float() || !to.is_float() || from.is_int() || from == DType::Bool);
    match exact {
        true if from == to => Ok(Some(x)),
        true => site.b.elementwise(outer, &[x]).map(Some),
        false => Ok(None),
    }
}

/// Bytes and small numbers are exact in `f32`, and so is their difference.
fn subtract_in_float(site: &mut Site) -> Applied {
    let Some(to @ ScalarOp::Cast { to: DType::F32, .. }) = function(site) else { return Ok(None) };
    let Some((sub, TensorOp::Elementwise { f: ScalarOp::Sub })) = site.def(site.operand(0)) else {
        return Ok(None);
    };
    let (a, b) = (site.b.func.operand(sub, 0), site.b.func.operand(sub, 1));
    if site.b.dtype(a) != DType::I32
        || site.splat(b).is_none_or(|bits| (bits as i32).unsigned_abs() > 1 << 16)
    {
        return Ok(None);
    }
    let Some((cast, TensorOp::Elementwise { f: ScalarOp::Cast { .. } })) = site.def(a) else {
        return Ok(None);
    };
    let byte = site.b.func.operand(cast, 0);
    if !matches!(site.b.dtype(byte), DType::I8 | DType::U8) {
        return Ok(None);
    }
    let byte = site.b.elementwise(to, &[byte])?;
    let number = site.b.elementwise(to, &[b])?;
    site.b.sub(byte, number).map(Some)
}

/// Whether every value of `from` is one of `to`.
fn is_exact(from: DType, to: DType) -> bool {
    if from == DType::Bool {
        // It has no zero.
        return to != DType::F8E8M0;
    }
    match (from.is_float(), to.is_float()) {
        (true, true) => {
            from == to || to == DType::F64 || (to == DType::F32 && matches!(from, DType::F16 | DType::BF16))
        }
        (false, false) if to != DType::Bool => {
            let grows = to.bits() > from.bits();
            (from.is_signed() == to.is_signed() && to.bits() >= from.bits())
                || (!from.is_signed() && to.is_signed() && grows)
        }
        (false, true) => {
            let mantissa = match to {
                DType::F64 => 53,
                DType::F32 => 24,
                DType::F16 => 11,
                _ => 0,
            };
            from.bits() <= mantissa
        }
        _ => false,
    }
}

fn twice(site: &mut Site) -> Applied {
    let Some(f @ (ScalarOp::Neg | ScalarOp::Not)) = function(site) else { return Ok(None) };
    match site.def(site.operand(0)) {
        Some((inner, TensorOp::Elementwise { f: g })) if *g == f => Ok(Some(site.b.func.operand(inner, 0))),
        _ => Ok(None),
    }
}

fn select_known(site: &mut Site) -> Applied {
    if function(site) != Some(ScalarOp::Select) {
        return Ok(None);
    }
    let Some(bits) = site.splat(site.operand(0)) else { return Ok(None) };
    let chosen = site.operand(if bits == 0 { 2 } else { 1 });
    let shape = site.result_type().shape.clone();
    site.b.broadcast(chosen, shape).map(Some)
}

/// The shape that the operands but `skipped` give.
fn shape_without(site: &Site, skipped: usize, instead: Option<&Shape>) -> Option<Shape> {
    let others = site.operands().iter().enumerate().filter(|(i, _)| *i != skipped);
    let shapes = others.map(|(_, value)| site.shape(*value)).chain(instead);
    let mut joined: Option<Shape> = None;
    for shape in shapes {
        match &mut joined {
            None => joined = Some(shape.clone()),
            Some(joined) => {
                for (dim, other) in joined.iter_mut().zip(shape.iter()) {
                    if dim.is_const(1) {
                        *dim = other.clone();
                    }
                }
            }
        }
    }
    joined
}

fn broadcast_operand(site: &mut Site) -> Applied {
    let Some(f) = function(site).filter(|_| site.reads(Source::Broadcast)) else { return Ok(None) };
    for i in 0..site.operands().len() {
        let value = site.operand(i);
        let Some((broadcast, TensorOp::Broadcast { .. })) = site.def(value) else { continue };
        let x = site.b.func.operand(broadcast, 0);
        if (0..site.b.rank(x)).any(|axis| may_repeat(site.b.func, broadcast, axis)) {
            continue;
        }
        if shape_without(site, i, Some(site.shape(x))).as_ref() == Some(&site.result_type().shape) {
            let mut operands = site.operands().to_vec();
            operands[i] = x;
            return site.b.elementwise(f, &operands).map(Some);
        }
    }
    Ok(None)
}

fn narrow_splat(site: &mut Site) -> Applied {
    let Some(f) = function(site).filter(|_| site.reads(Source::Splat)) else { return Ok(None) };
    for i in 0..site.operands().len() {
        let value = site.operand(i);
        let Some(bits) = site.splat(value).filter(|_| !all_ones(site.shape(value))) else { continue };
        if shape_without(site, i, None).as_ref() != Some(&site.result_type().shape) {
            continue;
        }
        let shape: Shape = std::iter::repeat_n(Dim::from(1), site.b.rank(value)).collect();
        let dtype = site.b.dtype(value);
        let mut operands = site.operands().to_vec();
        operands[i] = site.b.emit(TensorOp::Splat { dtype, shape, bits }, &[])?;
        return site.b.elementwise(f, &operands).map(Some);
    }
    Ok(None)
}
