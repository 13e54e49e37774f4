//! 16-bit floats inside of kernels as `f32`: only what a kernel stores is rounded.
//!
//! Before: kernels are formed.  After: in a kernel's body, arithmetic on `f16` and `bf16` is arithmetic on `f32`. A value is
//! rounded where it leaves the kernel, and where an op reads it whose result jumps (comparisons, `floor`, casts to
//! integers): an element just beside a number must not count as below it.
//! Two casts of the model in a row, to 16 bits and back, round: somebody asked for that.
//! Every executor runs the kernels that this pass leaves, so that all of them agree. Inductor keeps such values the same
//! way; XLA calls it excess precision.

use tegula_base::{DType, Diagnostic, Diagnostics, HashMap};
use tegula_ir::pass::{Changed, PassCx};
use tegula_ir::rewrite::{Rewrite, rewrite_region};
use tegula_ir::scalar::eval::eval;
use tegula_ir::{ConstStore, OpId, RegionId, ScalarOp, Value};
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, KernelClass, TensorFunc, TensorOp, TensorProgram};

/// Errors: internal, when what is built does not fit.
pub fn keep_wide(program: &mut TensorProgram, cx: &mut PassCx) -> Result<Changed, Diagnostics> {
    let mut changed = Changed::No;
    for func in &mut program.funcs {
        for body in bodies(func) {
            if func.ops_in(body).iter().any(|op| computes_half(func, *op)) {
                changed |= widen_body(func, &mut program.consts, body, cx)?;
            }
        }
    }
    Ok(changed)
}

fn bodies(func: &TensorFunc) -> Vec<RegionId> {
    let is_kernel = |op: &OpId| match func.kind(*op) {
        TensorOp::Kernel { class } => *class != KernelClass::Region,
        _ => false,
    };
    func.walk().into_iter().filter(is_kernel).map(|kernel| func.regions_of(kernel)[0]).collect()
}

fn is_half(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16)
}

/// Whether an op is arithmetic whose result is a 16-bit float.
fn computes_half(func: &TensorFunc, op: OpId) -> bool {
    let TensorOp::Elementwise { f } = func.kind(op) else { return false };
    is_half(func.ty(func.result(op)).dtype) && kind_of(*f) == Kind::Arithmetic
}

fn widen_body(
    func: &mut TensorFunc,
    consts: &mut ConstStore,
    body: RegionId,
    cx: &mut PassCx,
) -> Result<Changed, Diagnostics> {
    let mut wide = Wide::default();
    let changed = rewrite_region(func, body, &mut |func, region, op| {
        let mut b = Builder::new(func, consts).at_op(region, op);
        let made =
            wide.replacement(&mut b, op).map_err(|reason| Diagnostics::from(Diagnostic::internal(reason)))?;
        Ok(made.map_or(Rewrite::Keep, |value| {
            cx.count("widened", 1);
            Rewrite::Replace(vec![value])
        }))
    })?;
    erase_unused(func, body);
    Ok(changed)
}

/// How an elementwise op takes a value that is not rounded.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Its error grows with the operand's: it computes in `f32`.
    Arithmetic,
    /// Gives one of its operands: as wide as they are.
    Choice,
    /// Reads the rounded value.
    Jump,
}

fn kind_of(f: ScalarOp) -> Kind {
    use ScalarOp::*;
    match f {
        Neg | Abs | Min | Max | Select => Kind::Choice,
        Sign | Ceil | Floor | Round | Trunc | Rem | Mod | IsNan | IsInf | Cast { .. } | Bitcast { .. } => {
            Kind::Jump
        }
        f if f.is_comparison() => Kind::Jump,
        _ => Kind::Arithmetic,
    }
}

/// The `f32` numbers behind values of 16-bit floats.
#[derive(Default)]
struct Wide {
    /// Of results that this pass computes in `f32`.
    computed: HashMap<Value, Value>,
    /// Of casts from `f32` to 16 bits that the body has.
    casts: HashMap<Value, Value>,
    /// Of values that come rounded: the same numbers in `f32`.
    widened: HashMap<Value, Value>,
}

impl Wide {
    /// What stands for an op's result; `None`: the op stays.
    fn replacement(&mut self, b: &mut Builder, op: OpId) -> Built<Option<Value>> {
        let [result] = *b.func.results(op) else { return Ok(None) };
        let dtype = b.dtype(result);
        let kind = b.func.kind(op).clone();
        if let TensorOp::Elementwise { f: ScalarOp::Cast { .. } } = kind {
            return Ok(self.of_cast(b.func, op, dtype));
        }
        let is_wider = match &kind {
            _ if !is_half(dtype) => false,
            TensorOp::Elementwise { f } => match kind_of(*f) {
                // What is read and stored as it is, a machine may compute on 16 bits.
                Kind::Arithmetic => is_read_inside(b.func, op) || self.reads_unrounded(b.func, op),
                Kind::Choice => self.reads_unrounded(b.func, op),
                Kind::Jump => false,
            },
            TensorOp::Broadcast { .. }
            | TensorOp::Reshape { .. }
            | TensorOp::Transpose { .. }
            | TensorOp::Slice { .. }
            | TensorOp::Reduce { .. } => self.reads_unrounded(b.func, op),
            TensorOp::Dot { .. } | TensorOp::Conv { .. } => is_read_inside(b.func, op),
            _ => false,
        };
        if is_wider { self.computed(b, op, kind, dtype).map(Some) } else { Ok(None) }
    }

    /// The cast stays, unless it reads what this pass computes in `f32` as `f32`.
    fn of_cast(&mut self, func: &TensorFunc, op: OpId, dtype: DType) -> Option<Value> {
        let x = func.operand(op, 0);
        if is_half(dtype) && func.ty(x).dtype == DType::F32 {
            self.casts.insert(func.result(op), x);
        }
        self.computed.get(&x).copied().filter(|_| dtype == DType::F32)
    }

    fn reads_unrounded(&self, func: &TensorFunc, op: OpId) -> bool {
        let is_unrounded = |x: &Value| self.computed.contains_key(x) || self.casts.contains_key(x);
        func.operands(op).iter().any(is_unrounded)
    }

    /// The op in `f32`, rounded for who needs that.
    fn computed(&mut self, b: &mut Builder, op: OpId, mut kind: TensorOp, dtype: DType) -> Built {
        let mut operands = b.func.operands(op).to_vec();
        match &mut kind {
            // Products of 16-bit floats are exact in `f32`: the operands stay.
            TensorOp::Dot { out, .. } | TensorOp::Conv { out, .. } => *out = DType::F32,
            _ => {
                for x in &mut operands {
                    *x = self.wide(b, *x)?;
                }
            }
        }
        let wide = b.emit(kind, &operands)?;
        let rounded = b.cast(wide, dtype)?;
        self.computed.insert(rounded, wide);
        Ok(rounded)
    }

    /// An operand as `f32`, as precise as it is known; one of another type as it is.
    fn wide(&mut self, b: &mut Builder, x: Value) -> Built {
        if !is_half(b.dtype(x)) {
            return Ok(x);
        }
        if let Some(wide) = [&self.computed, &self.casts, &self.widened].into_iter().find_map(|of| of.get(&x))
        {
            return Ok(*wide);
        }
        let wide = match b.func.def_op(x).map(|op| b.func.kind(op).clone()) {
            Some(TensorOp::Splat { dtype, shape, bits }) => {
                let cast = ScalarOp::Cast { to: DType::F32, saturate: true };
                let bits = eval(cast, &[dtype], &[bits as u64]) as i64;
                b.emit(TensorOp::Splat { dtype: DType::F32, shape, bits }, &[])?
            }
            _ => b.cast(x, DType::F32)?,
        };
        self.widened.insert(x, wide);
        Ok(wide)
    }
}

/// Whether another op of the kernel than its end reads the result.
fn is_read_inside(func: &TensorFunc, op: OpId) -> bool {
    func.users(func.result(op)).iter().any(|user| !matches!(func.kind(*user), TensorOp::Yield {}))
}

/// Roundings that nobody needs, and numbers whose readers have them in `f32`.
fn erase_unused(func: &mut TensorFunc, body: RegionId) {
    for at in (0..func.ops_in(body).len()).rev() {
        let op = func.ops_in(body)[at];
        let is_unused = func.results(op).iter().all(|value| func.users(*value).is_empty());
        if is_unused && matches!(func.kind(op), TensorOp::Elementwise { .. } | TensorOp::Splat { .. }) {
            func.erase_all([op]);
        }
    }
}
