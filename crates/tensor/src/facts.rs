//! Facts of an op that passes, recipes and costs share.

use crate::{KernelClass, TensorFunc, TensorOp};
use tegula_base::DType;
use tegula_ir::{Def, OpId, ScalarOp, Value};

/// Roughly how many vector instructions an element costs; up to [`CHEAP`] an op may be computed again elsewhere.
pub fn weight(op: &TensorOp) -> u32 {
    use ScalarOp::*;
    match op {
        TensorOp::Elementwise { f } => match f {
            Div | Rem | Mod | Sqrt | Rsqrt | Reciprocal => 4,
            Exp | Log | Log1p | Expm1 | Sin | Cos | Tan | Asin | Acos | Atan | Sinh | Cosh | Tanh | Asinh
            | Acosh | Atanh | Erf | Sigmoid | Pow | Atan2 => 16,
            _ => 1,
        },
        TensorOp::Gather { .. } | TensorOp::GatherElements { .. } | TensorOp::GatherNd { .. } => 4,
        _ => 0,
    }
}

/// See [`weight`].
pub const CHEAP: u32 = 2;

/// An element that takes so many vector instructions is stored and loaded, in two, sooner than it is computed again. By
/// judgement: four times the two, for bytes that come from a cache farther away; between it and a function's 16 no op lies.
pub const COSTLY: u32 = 8;

/// The type that contractions of a type that no machine multiplies are computed in: integers keep their value modulo
/// 2^width, all 8-bit floats are numbers of `f32`. `None`: they are computed on the type itself.
pub fn wider_product(dtype: DType) -> Option<DType> {
    match dtype {
        DType::I2 | DType::U2 | DType::I4 | DType::U4 | DType::I16 | DType::U16 | DType::U32 => {
            Some(DType::I32)
        }
        DType::U64 => Some(DType::I64),
        narrow if narrow.small_float().is_some() => Some(DType::F32),
        _ => None,
    }
}

/// Whether an op sums products of its operands' elements: dots, convolutions, attention, recurrent layers.
pub fn is_contraction(kind: &TensorOp) -> bool {
    use TensorOp::*;
    matches!(
        kind,
        Dot { .. }
            | QDot { .. }
            | Conv { .. }
            | WinogradConv { .. }
            | QConv { .. }
            | ConvTranspose { .. }
            | Attention { .. }
            | Lstm { .. }
            | Gru { .. }
    )
}

/// Whether an op's results cost nothing to make: whoever reads them makes its own.
pub fn is_source(kind: &TensorOp) -> bool {
    matches!(
        kind,
        TensorOp::Constant { .. } | TensorOp::Splat { .. } | TensorOp::Iota { .. } | TensorOp::Sizes { .. }
    )
}

/// Of a contraction without batches of 16-bit integers, which are floats perhaps of another shape, and signed bytes: the
/// integers. Its sums of products are exact integers, however factors of floats are rounded.
pub fn integer_factor(func: &TensorFunc, op: OpId) -> Option<Value> {
    let TensorOp::Dot { dims, out: DType::F32, .. } = func.kind(op) else { return None };
    let is_of_bytes = dims.lhs_batch.is_empty() && func.ty(func.operand(op, 1)).dtype == DType::I8;
    let mut value = is_of_bytes.then(|| func.operand(op, 0))?;
    loop {
        let op = func.def_op(value)?;
        let source = func.operands(op).first().copied();
        match func.kind(op) {
            TensorOp::Reshape { .. } => value = source?,
            TensorOp::Elementwise { f: ScalarOp::Cast { to: DType::F32, .. } } => {
                return source.filter(|source| func.ty(*source).dtype == DType::I16);
            }
            _ => return None,
        }
    }
}

/// The one number that all elements of a value are copies of.
pub fn one_place(func: &TensorFunc, mut value: Value) -> Option<Value> {
    let is_one = |value: Value| func.ty(value).shape.iter().all(|dim| dim.is_const(1));
    while !is_one(value) {
        let op = func.def_op(value)?;
        match func.kind(op) {
            TensorOp::Broadcast { .. } | TensorOp::Reshape { .. } => value = func.operand(op, 0),
            _ => return None,
        }
    }
    Some(value)
}

/// Whether an op gives for each of its indices an element of a table that is there before the kernel.
pub fn is_lookup(func: &TensorFunc, op: OpId) -> bool {
    let TensorOp::Gather { .. } = func.kind(op) else { return false };
    let table = func.operand(op, 0);
    let is_given = match func.def(table) {
        Def::Arg(..) => true,
        Def::Result(op, _) => matches!(func.kind(op), TensorOp::Constant { .. }),
    };
    is_given && func.ty(table).rank() == 1
}

/// Whether an op runs in each iteration of a loop.
pub fn is_in_loop(func: &TensorFunc, op: OpId) -> bool {
    let owner = |op: &OpId| func.parent(*op).and_then(|region| func.owner(region));
    std::iter::successors(owner(&op), owner).any(|op| matches!(func.kind(op), TensorOp::Loop { .. }))
}

/// The operand of an updating kernel that its result takes the place of.
pub fn data_of_update(func: &TensorFunc, kernel: OpId) -> Option<usize> {
    let TensorOp::Kernel { class: KernelClass::Update } = func.kind(kernel) else { return None };
    data_of_scatter(func, kernel)
}

/// The operand that a scatter kernel scatters into.
pub fn data_of_scatter(func: &TensorFunc, kernel: OpId) -> Option<usize> {
    let region = func.regions_of(kernel)[0];
    let is_scatter =
        |op: &OpId| matches!(func.kind(*op), TensorOp::ScatterElements { .. } | TensorOp::ScatterNd { .. });
    let root = func.ops_in(region).iter().copied().find(is_scatter)?;
    match func.def(func.operand(root, 0)) {
        Def::Arg(of, number) if of == region => Some(number as usize),
        _ => None,
    }
}

/// Whether the value is a constant's, perhaps under another shape, whose sizes are known: it can be packed at compile time.
pub fn is_known_constant(func: &TensorFunc, mut value: Value) -> bool {
    if func.ty(value).shape.as_static().is_none() {
        return false;
    }
    loop {
        let Def::Result(op, _) = func.def(value) else { return false };
        match func.kind(op) {
            TensorOp::Constant { .. } => return true,
            TensorOp::Reshape { .. } => value = func.operand(op, 0),
            _ => return false,
        }
    }
}

/// Whether a `broadcast` repeats along an axis in some runs alone: where its operand's extent, which is open, is 1.
pub fn may_repeat(func: &TensorFunc, broadcast: OpId, axis: usize) -> bool {
    let [from, to] =
        [func.operand(broadcast, 0), func.result(broadcast)].map(|value| &func.ty(value).shape[axis]);
    from != to && !from.is_const(1)
}

/// Which operand of the launch an operand of an inner op is.
pub fn outer_operand(func: &TensorFunc, kernel: OpId, inner: OpId, i: usize) -> Option<usize> {
    match func.def(func.operand(inner, i)) {
        Def::Arg(region, index) if func.owner(region) == Some(kernel) => Some(index as usize),
        _ => None,
    }
}
