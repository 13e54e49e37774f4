//! Factors of contractions in `bf16`, where the caller allows it (`--precision bf16`).
//!
//! Before: contractions in normal form, weights folded.  After, at [`Precision::Bf16`]: both factors of each contraction of
//! `f32` that is long enough are rounded to `bf16`, and its sums stay `f32`. A value that becomes a factor is rounded where
//! it is computed, in its kernel's epilogue, and what moves it moves `bf16`. Who computes with the value instead (a
//! residual, a norm) reads it as it was, in `f32`: rounding that too costs more accuracy than the second copy costs time.
//! A target that multiplies 16-bit floats as `f32` would round for nothing: there constant right sides of dots alone are
//! rounded, which few rows read in half the time, and all else stays as it is.  At other precisions nothing happens.

mod weights;

use super::decompose_composites::is_constant;
use std::fmt;
use std::str::FromStr;
use tegula_backend::Target;
use tegula_base::{DType, Diagnostic, Diagnostics, Dim, HashMap, HashSet};
use tegula_ir::op::OpRules;
use tegula_ir::pass::{Changed, PassCx};
use tegula_ir::rewrite::{Rewrite, rewrite_ops};
use tegula_ir::{OpId, ScalarOp, Value};
use tegula_tensor::{Builder, PadMode, PoolKind, TensorFunc, TensorOp, TensorProgram};

/// What floats of 32 bits are computed as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// As the model says.
    #[default]
    F32,
    /// Factors of contractions are rounded to `bf16`.
    Bf16,
    /// A streaming chip rounds factors of contractions to `f16`; the program stays as it is.
    F16,
    /// A streaming chip splits factors of contractions into two `f16`; the program stays as it is.
    F16x2,
}

impl Precision {
    pub const ALL: [Precision; 4] = [Precision::F32, Precision::Bf16, Precision::F16, Precision::F16x2];

    pub const fn name(self) -> &'static str {
        match self {
            Precision::F32 => "f32",
            Precision::Bf16 => "bf16",
            Precision::F16 => "f16",
            Precision::F16x2 => "f16x2",
        }
    }

    /// Whether factors are rounded that are no constants: where the target multiplies what they become.
    pub(super) fn rounds_both(self, target: &dyn Target) -> bool {
        self == Precision::Bf16 && !target.preferences().widened.contains(&DType::BF16)
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Precision {
    type Err = Diagnostic;

    /// Errors: `bad-option`, there is no such precision.
    fn from_str(name: &str) -> Result<Precision, Diagnostic> {
        Precision::ALL.into_iter().find(|known| known.name() == name).ok_or_else(|| {
            Diagnostic::error("bad-option", format!("`{name}` is no precision")).note(
                "the precisions are f32, which is what the model says, bf16, and of streaming chips f16 and f16x2",
            )
        })
    }
}

/// Steps of k up to which contractions stay as they are: they take their time to read and to store, and no less of it
/// with faster products. Measured on Zen 5, `resnet50-thin`: 64 steps in `f32` cost 5 % of its time and leave a third of
/// its error.
pub(super) const FEW_STEPS: i64 = 64;
/// The same of a convolution's input channels: an image's come in no pairs.
const FEW_CHANNELS: i64 = 4;

/// Errors: internal, when what is built does not fit.
pub fn round_factors(
    program: &mut TensorProgram,
    precision: Precision,
    target: &dyn Target,
    cx: &mut PassCx,
) -> Result<Changed, Diagnostics> {
    if precision != Precision::Bf16 {
        return Ok(Changed::No);
    }
    let rounded = if precision.rounds_both(target) { Rounded::Both } else { Rounded::Weights };
    let mut changed = Changed::No;
    for func in &mut program.funcs {
        let sources = match rounded {
            Rounded::Both => sources(func),
            Rounded::Weights => HashSet::default(),
        };
        // The rounded form of values that were widened again.
        let mut narrow: HashMap<Value, Value> = HashMap::default();
        changed |= rewrite_ops(func, &mut |func, region, op| {
            let is_product = is_product(func, op) && (rounded == Rounded::Both || has_weights(func, op));
            let is_source = sources.contains(&op);
            let moved =
                moved(func, op).filter(|moved| moved.iter().all(|i| is_rounded(func, op, *i, &narrow)));
            if !is_product && !is_source && moved.is_none() {
                return Ok(Rewrite::Keep);
            }
            let location = func.op(op).location.clone();
            let (kind, operands) = (func.kind(op).clone(), func.operands(op).to_vec());
            let mut b = Builder::new(func, &mut program.consts).at_op(region, op);
            let internal = |reason: String| Diagnostics::from(Diagnostic::internal(reason));
            let round = |b: &mut Builder, value: Value| match narrow.get(&value) {
                Some(rounded) => Ok(*rounded),
                None => weights::splat(b, value).unwrap_or_else(|| b.cast(value, DType::BF16)),
            };
            if let Some(moved) = moved {
                let (wide, mut operands) = (operands.clone(), operands);
                for i in moved {
                    operands[i] = round(&mut b, operands[i]).map_err(internal)?;
                }
                let wide = b.emit(kind.clone(), &wide).map_err(internal)?;
                let rounded = b.emit(kind, &operands).map_err(internal)?;
                narrow.insert(wide, rounded);
                return Ok(Rewrite::Replace(vec![wide]));
            }
            let mut operands = operands;
            if is_product {
                for (i, operand) in operands.iter_mut().enumerate().skip(rounded.first()) {
                    *operand = match weights::rounded(&mut b, &kind, *operand, i).map_err(internal)? {
                        Some(weights) => weights,
                        None => round(&mut b, *operand).map_err(internal)?,
                    };
                }
                cx.count("rounded", 1);
                cx.remark(
                    location.as_ref(),
                    match rounded {
                        Rounded::Both => "its factors are rounded to bf16, sums are f32",
                        Rounded::Weights => "its weights are rounded to bf16, the machine multiplies f32",
                    },
                );
            }
            let value = b.emit(kind, &operands).map_err(internal)?;
            if !is_source {
                return Ok(Rewrite::Replace(vec![value]));
            }
            cx.count("stored", 1);
            cx.remark(location.as_ref(), "rounded to bf16, as a contraction reads it");
            let rounded = b.cast(value, DType::BF16).map_err(internal)?;
            narrow.insert(value, rounded);
            Ok(Rewrite::Replace(vec![value]))
        })?;
    }
    Ok(changed)
}

/// Which factors of a contraction are rounded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rounded {
    Both,
    /// Constant right sides of dots.
    Weights,
}

impl Rounded {
    /// The first factor that is.
    fn first(self) -> usize {
        match self {
            Rounded::Both => 0,
            Rounded::Weights => 1,
        }
    }
}

/// Whether an op is a dot by a constant.
fn has_weights(func: &TensorFunc, op: OpId) -> bool {
    matches!(func.kind(op), TensorOp::Dot { .. }) && is_constant(func, func.operand(op, 1))
}

/// Whether an op is a contraction whose factors are rounded.
fn is_product(func: &TensorFunc, op: OpId) -> bool {
    let is_half = |value: Value| matches!(func.ty(value).dtype, DType::F16 | DType::BF16);
    // The model's own product of 16-bit floats, widened for the machine, has no more digits than it says: it comes from such
    // numbers and gives them.
    let is_cast = |op: OpId| matches!(func.kind(op), TensorOp::Elementwise { f: ScalarOp::Cast { .. } });
    let is_widened = || {
        let from = func.def_op(func.operand(op, 0)).filter(|op| is_cast(*op));
        let users = func.users(func.result(op));
        from.is_some_and(|from| is_half(func.operand(from, 0)))
            && users.iter().all(|user| is_cast(*user) && is_half(func.result(*user)))
    };
    let of_floats =
        || func.operands(op).iter().all(|value| func.ty(*value).dtype == DType::F32) && !is_widened();
    let is_long = |steps: Dim| steps.as_const().is_none_or(|steps| steps > FEW_STEPS);
    match func.kind(op) {
        TensorOp::Dot { dims, out: DType::F32, .. } => {
            let shape = &func.ty(func.operand(op, 0)).shape;
            let steps =
                dims.lhs_contract.iter().fold(Dim::from(1), |steps, axis| steps * shape[*axis].clone());
            of_floats() && is_long(steps)
        }
        TensorOp::Conv { groups: 1, out: DType::F32, .. } => {
            let [_, channels, window @ ..] = &func.ty(func.operand(op, 1)).shape[..] else { return false };
            let steps = window.iter().fold(channels.clone(), |steps, extent| steps * extent.clone());
            let is_image = channels.as_const().is_some_and(|channels| channels <= FEW_CHANNELS);
            of_floats() && !is_image && is_long(steps)
        }
        _ => false,
    }
}

/// The ops that compute what becomes a factor, perhaps moved.
fn sources(func: &TensorFunc) -> HashSet<OpId> {
    let (mut found, mut seen) = (HashSet::default(), HashSet::default());
    let products = func.walk().into_iter().filter(|op| is_product(func, *op));
    let mut waiting: Vec<Value> = products.flat_map(|op| func.operands(op)).copied().collect();
    while let Some(value) = waiting.pop() {
        let Some(op) = func.def_op(value).filter(|_| seen.insert(value)) else { continue };
        if let Some(moved) = moved(func, op) {
            waiting.extend(moved.iter().map(|i| func.operand(op, *i)));
            continue;
        }
        let kind = func.kind(op);
        let computes = kind.effects() == tegula_ir::Effects::Pure
            && kind.region_count() == 0
            && func.results(op).len() == 1
            && !func.operands(op).is_empty();
        if computes {
            found.insert(op);
        }
    }
    found
}

/// The operands of `f32` whose elements the op only moves, or chooses from; `None` where it does anything else.
fn moved(func: &TensorFunc, op: OpId) -> Option<Vec<usize>> {
    let operands = func.operands(op);
    let moved: Vec<usize> = match func.kind(op) {
        TensorOp::Reshape { .. }
        | TensorOp::Transpose { .. }
        | TensorOp::Slice { .. }
        | TensorOp::Broadcast { .. }
        | TensorOp::Gather { .. }
        | TensorOp::GatherElements { .. }
        | TensorOp::GatherNd { .. }
        | TensorOp::Pool { kind: PoolKind::Max, .. } => vec![0],
        TensorOp::Concat { .. } => (0..operands.len()).collect(),
        TensorOp::Pad { mode: PadMode::Constant, .. } => vec![0, 1],
        _ => return None,
    };
    moved.iter().all(|i| func.ty(operands[*i]).dtype == DType::F32).then_some(moved)
}

/// Whether an operand is a number of `bf16`.
fn is_rounded(func: &TensorFunc, op: OpId, i: usize, narrow: &HashMap<Value, Value>) -> bool {
    let value = func.operand(op, i);
    let is_short = || match func.def_op(value).map(|op| func.kind(op)) {
        // The lower half of an `f32` is what `bf16` has not.
        Some(TensorOp::Splat { bits, .. }) => bits & 0xffff == 0,
        _ => false,
    };
    narrow.contains_key(&value) || i > 0 && is_short()
}
