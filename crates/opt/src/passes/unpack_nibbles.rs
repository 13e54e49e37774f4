//! Bytes' halves side by side become arithmetic on the place, where contractions compute it on the way to products.
//!
//! Before: contractions in normal form.  After: no concatenation is of the low and the high halves of bytes.

use super::canonicalise::{Applied, Rule, Site, apply_rules};
use tegula_backend::Target;
use tegula_base::{DType, Diagnostics, Dim, Shape};
use tegula_ir::pass::{Changed, PassCx};
use tegula_ir::{ScalarOp, Value};
use tegula_tensor::{TensorOp, TensorProgram};

const RULES: &[Rule] = &[Rule {
    name: "concat(and(b, 15), shift_right(b, 4)) => and(shift_right(b, 4 iota), 15)",
    apply: by_place,
}];
const LOW_HALF: i64 = 15;
const HALF_BITS: i64 = 4;

/// Errors: internal, when the rule builds what does not fit.
pub fn unpack_nibbles(
    program: &mut TensorProgram,
    target: &dyn Target,
    cx: &mut PassCx,
) -> Result<Changed, Diagnostics> {
    match target.preferences().unpacked_nibbles {
        true => apply_rules(program, rules, cx),
        false => Ok(Changed::No),
    }
}

fn rules(op: &TensorOp) -> &'static [Rule] {
    match op {
        TensorOp::Concat { .. } => RULES,
        _ => &[],
    }
}

fn by_place(site: &mut Site) -> Applied {
    let TensorOp::Concat { axis } = *site.kind() else { return Ok(None) };
    let [low, high] = *site.operands() else { return Ok(None) };
    let (Some(bytes), Some(same)) = (
        with_number(site, low, ScalarOp::And, LOW_HALF),
        with_number(site, high, ScalarOp::ShiftRight, HALF_BITS),
    ) else {
        return Ok(None);
    };
    let ty = site.b.func.ty(bytes).clone();
    if bytes != same || ty.dtype != DType::U8 || !ty.shape[axis].is_const(1) {
        return Ok(None);
    }
    let mut along: Shape = std::iter::repeat_n(Dim::from(1), ty.rank()).collect();
    along[axis] = Dim::from(2);
    let place = site.b.iota(DType::U8, along, axis)?;
    let shift = site.b.with_number(ScalarOp::Mul, place, HALF_BITS as f64)?;
    let shifted = site.b.elementwise(ScalarOp::ShiftRight, &[bytes, shift])?;
    site.b.with_number(ScalarOp::And, shifted, LOW_HALF as f64).map(Some)
}

/// `x` of `f(x, number)`.
fn with_number(site: &Site, value: Value, f: ScalarOp, number: i64) -> Option<Value> {
    let (op, TensorOp::Elementwise { f: own }) = site.def(value)? else { return None };
    let [x, by] = *site.b.func.operands(op) else { return None };
    (*own == f && site.splat(by) == Some(number)).then_some(x)
}
