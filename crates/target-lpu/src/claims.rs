//! Which ops a chip computes.
//!
//! All sizes are known, no tensor is empty, and elements are numbers of at most 32 bits.

mod repeats;

use crate::lower;
use crate::target::{CAPACITY, FloatFactors};
use tegula_backend::{Claim, Resource, Short};
use tegula_base::{DType, EntityId};
use tegula_ir::{OpId, Value};
use tegula_machine::Lpu;
use tegula_tensor::facts::integer_factor;
use tegula_tensor::{PadMode, PoolKind, TensorFunc, TensorOp, Window};

/// Elements of a tensor beyond which movements are the host's: each element is looked at when a movement is compiled.
const MOST_ELEMENTS: usize = 1 << 22;

fn no(reason: impl Into<std::borrow::Cow<'static, str>>) -> Claim {
    Claim::No(reason.into())
}

pub(crate) fn claims(func: &TensorFunc, op: OpId, lpu: &Lpu, factors: FloatFactors) -> Claim {
    let kind = func.kind(op);
    if let TensorOp::Loop { .. } = kind {
        return repeats::claims(func, op, lpu, &|inner| claims(func, inner, lpu, factors));
    }
    let values = || func.operands(op).iter().chain(func.results(op)).copied();
    if let Some(problem) = values().find_map(|value| unfit(func, value, lpu)) {
        return problem;
    }
    // The channels of what they read and write lie last.
    if let TensorOp::Conv { .. } | TensorOp::Pool { .. } = kind {
        let ends = [func.operand(op, 0), func.results(op)[0]];
        let shapes = ends.iter().filter_map(|value| func.ty(*value).shape.as_static());
        if let Some(problem) = shapes.into_iter().find_map(|shape| unfit_image(&shape, 1, lpu)) {
            return problem;
        }
    }
    let dtype = |value: Value| func.ty(value).dtype;
    match kind {
        TensorOp::Elementwise { f } => {
            // The first operand of `select` is a truth value.
            let operand = func.operands(op).last().map_or(DType::F64, |value| dtype(*value));
            lower::elementwise_claims(*f, operand, dtype(func.results(op)[0]))
        }
        TensorOp::Reduce { f, .. } => lower::reduce_claims(*f, dtype(func.operand(op, 0))),
        TensorOp::Dot { .. } => dot(func, op, lpu, factors),
        TensorOp::Conv { window, .. } => {
            let is_known = is_padded(window);
            let claim = match lower::is_of_bytes(func, op) {
                true => full_loads(lpu),
                false => float_factors(func, op, lpu, factors),
            };
            match claim {
                Claim::Yes if !is_known => no("its padding is open or negative"),
                Claim::Yes if !lower::is_known(func, func.operand(op, 1), lower::DEEPEST) => {
                    no("its weights are computed")
                }
                claim => claim,
            }
        }
        TensorOp::Pool { window, .. } if !is_padded(window) => no("its padding is open or negative"),
        TensorOp::Pool { kind, .. } => match (kind, dtype(func.operand(op, 0))) {
            (PoolKind::Max, DType::F32 | DType::I8 | DType::U8) | (_, DType::F32) => Claim::Yes,
            (PoolKind::Max, other) => no(format!("the ALUs take no maxima of {other}")),
            (_, other) => no(format!("the ALUs take no averages of {other}")),
        },
        TensorOp::Softmax { .. }
        | TensorOp::LayerNorm { .. }
        | TensorOp::RmsNorm { .. }
        | TensorOp::Gelu { .. } => match dtype(func.operand(op, 0)) {
            DType::F32 => Claim::Yes,
            other => no(format!("the ALUs compute no {other}")),
        },
        TensorOp::Attention { .. } => attention(func, op, lpu, factors),
        TensorOp::Quantize { scheme } | TensorOp::Dequantize { scheme } => {
            let is_byte = matches!(scheme.storage, DType::I8 | DType::U8);
            let float = dtype(if matches!(kind, TensorOp::Quantize { .. }) {
                func.operand(op, 0)
            } else {
                func.results(op)[0]
            });
            if is_byte && float == DType::F32 && scheme.block.is_none() {
                Claim::Yes
            } else {
                no("the chip quantises f32 to bytes, by a scale for all elements or one a channel")
            }
        }
        TensorOp::Pad { mode: PadMode::Constant, .. } if !is_constant(func, func.operand(op, 1)) => {
            no("its padding is computed")
        }
        TensorOp::ScatterElements { .. } => match lower::row_axis(func, op) {
            None => no("it writes no whole rows to one place of 32 bits"),
            Some(_) => repeats::long(func, func.operand(op, 0), lpu).unwrap_or(Claim::Yes),
        },
        other => lower::movement_claims(other),
    }
}

/// What keeps a tensor from lying on the chip.
fn unfit(func: &TensorFunc, value: Value, lpu: &Lpu) -> Option<Claim> {
    let ty = func.ty(value);
    if lower::stored(ty.dtype).is_none() {
        return Some(no(format!("elements of {} have no place on the chip", ty.dtype)));
    }
    let Some(shape) = ty.shape.as_static() else {
        return Some(no("its sizes are open: fix them with `--dim`"));
    };
    // Constants, and what is computed from them alone, lie where there is room.
    if lower::is_known(func, value, lower::DEEPEST) {
        return shape.contains(&0).then(|| no("a tensor is empty"));
    }
    match unfit_shape(&shape, lpu) {
        // Rows of an image are filled with pixels.
        Some(refused) => match lower::channel_axes(func)[value.index()] {
            Some(axis) if matches!(&refused, Claim::Short(short) if short.resource == Resource::Tensor) => {
                unfit_image(&shape, axis, lpu)
            }
            _ => Some(refused),
        },
        None => None,
    }
}

/// The share of a half's SRAM that a computed tensor may take: an operation reads and writes others beside it.
const MOST_OF_HALF: u32 = 3;

/// Slices of a vector whose elements have 4 bytes.
const SLICES: u32 = 4;

/// What keeps a computed tensor that is no image from lying on the chip. It lies in one half, so that it comes on one set of
/// streams.
fn unfit_shape(shape: &[usize], lpu: &Lpu) -> Option<Claim> {
    let count = shape.iter().fold(1usize, |count, extent| count.saturating_mul(*extent));
    match count {
        0 => return Some(no("a tensor is empty")),
        1..=MOST_ELEMENTS => {}
        _ => return Some(short(Resource::Elements, count as u64, MOST_ELEMENTS as u64)),
    }
    unfit_rows(lower::vectors(lower::squeezed(shape), lanes(lpu)), lpu)
}

/// What keeps an image whose channels are an axis from lying on the chip.
fn unfit_image(shape: &[usize], axis: usize, lpu: &Lpu) -> Option<Claim> {
    let layout = lower::grouped(&lower::ordered(shape, axis), lanes(lpu));
    unfit_rows(lower::vectors(&layout, lanes(lpu)), lpu)
}

/// Lanes of a vector that hold elements, at the least.
fn lanes(lpu: &Lpu) -> usize {
    lpu.mxm.f16_k.min(lpu.vector()) as usize
}

fn unfit_rows(rows: u32, lpu: &Lpu) -> Option<Claim> {
    let half = lpu.mem.slices / SLICES * lpu.mem.banks * lpu.mem.words;
    let most = half / MOST_OF_HALF;
    (rows > most).then(|| short(Resource::Tensor, rows.into(), most.into()))
}

fn short(resource: Resource, need: u64, have: u64) -> Claim {
    Claim::Short(Short { code: CAPACITY, resource, need, have })
}

/// Whether all padding of a window is known.
fn is_padded(window: &Window) -> bool {
    window.low.iter().chain(&window.high).all(|dim| dim.as_const().is_some_and(|size| size >= 0))
}

fn is_constant(func: &TensorFunc, value: Value) -> bool {
    func.def_op(value)
        .is_some_and(|op| matches!(func.kind(op), TensorOp::Constant { .. } | TensorOp::Splat { .. }))
}

fn full_loads(lpu: &Lpu) -> Claim {
    match lpu.mxm.k.is_multiple_of(lpu.mxm.load_streams) {
        true => Claim::Yes,
        false => no("rows of weights are loaded in groups that do not fill a plane"),
    }
}

fn dot(func: &TensorFunc, op: OpId, lpu: &Lpu, factors: FloatFactors) -> Claim {
    let loads = full_loads(lpu);
    if !loads.is_yes() {
        return loads;
    }
    if integer_factor(func, op).is_some() {
        return Claim::Yes;
    }
    let Some(conversions) = lower::conversions(func, op) else {
        return float_factors(func, op, lpu, factors);
    };
    // Of what the host dequantises the chip sees floats.
    let own = conversions.into_iter().map(|op| claims(func, op, lpu, factors)).find(|claim| !claim.is_yes());
    match (own, float_factors(func, op, lpu, factors)) {
        (None, _) | (Some(_), Claim::Yes) => Claim::Yes,
        (Some(Claim::No(reason)), _) => no(format!("the host dequantises its factors: {reason}")),
        (Some(claim), _) => claim,
    }
}

/// Attention of `f32`, with any heads, scale, softcap, mask, causality and window, whose scores and transposed keys fit as
/// tensors do.
fn attention(func: &TensorFunc, op: OpId, lpu: &Lpu, factors: FloatFactors) -> Claim {
    let claim = float_factors(func, op, lpu, factors);
    if !claim.is_yes() {
        return claim;
    }
    let shapes = [0, 1].map(|i| func.ty(func.operand(op, i)).shape.as_static());
    let [Some(q), Some(k)] = shapes else { return no("its sizes are open: fix them with `--dim`") };
    let (scores, keys) = ([q[0], q[1], q[2], k[2]], [k[0], k[1], k[3], k[2]]);
    unfit_shape(&scores, lpu).or_else(|| unfit_shape(&keys, lpu)).unwrap_or(Claim::Yes)
}

/// Factors that planes multiply as `f16`: `f32` by `f32`, or by bytes, which `f16` holds exactly.
fn float_factors(func: &TensorFunc, op: OpId, lpu: &Lpu, factors: FloatFactors) -> Claim {
    let dtypes = [0, 1].map(|side| func.ty(func.operand(op, side)).dtype);
    let is_factor = |dtype: &DType| matches!(dtype, DType::F32 | DType::I8 | DType::U8);
    match (dtypes, factors) {
        ([a, b], _) if !dtypes.contains(&DType::F32) || !dtypes.iter().all(is_factor) => {
            no(format!("planes have no form of {a} by {b}"))
        }
        (_, FloatFactors::Refuse) => no("planes multiply no f32"),
        _ if !lpu.mxm.f16_k.is_multiple_of(lpu.mxm.load_streams) => {
            no("rows of weights are loaded in groups that do not fill a plane")
        }
        _ if lpu.mxm.planes < 2 => no("a half of the chip has one plane, and f16 takes two"),
        (_, FloatFactors::F16 | FloatFactors::F16x2) => Claim::Yes,
    }
}
