//! The place that rows are written to, where it is one number for all, as an integer of 32 bits: devices have no wider ones.
//!
//! Before: any verified program.  After: such a place is narrowed before it is broadcast.
//! A place beyond the border is the border, and no axis has more elements than 32 bits count. So the place is clamped first.

use super::canonicalise::{Applied, Rule, Site, apply_rules};
use tegula_backend::{Contractions, Targets};
use tegula_base::{DType, Diagnostics, Dim, Shape};
use tegula_ir::ScalarOp;
use tegula_ir::pass::{Changed, PassCx};
use tegula_tensor::facts::one_place;
use tegula_tensor::{TensorOp, TensorProgram};

const RULES: &[Rule] = &[Rule {
    name: "scatter_elements(data, broadcast(place), rows) => scatter_elements(data, broadcast(cast:i32(place)), rows)",
    apply: by_narrow_place,
}];

/// Where all contractions are a device's. Errors: internal, when the rule builds what does not fit.
pub fn narrow_places(
    program: &mut TensorProgram,
    targets: Targets<'_>,
    cx: &mut PassCx,
) -> Result<Changed, Diagnostics> {
    match targets.contractions {
        Contractions::Device => apply_rules(program, rules, cx),
        Contractions::Anywhere => Ok(Changed::No),
    }
}

fn rules(op: &TensorOp) -> &'static [Rule] {
    match op {
        TensorOp::ScatterElements { .. } => RULES,
        _ => &[],
    }
}

fn by_narrow_place(site: &mut Site) -> Applied {
    let TensorOp::ScatterElements { axis, kind } = *site.kind() else { return Ok(None) };
    let [data, indices, rows] = *site.operands() else { return Ok(None) };
    if site.b.dtype(indices) != DType::I64 {
        return Ok(None);
    }
    let Some(place) = one_place(site.b.func, indices) else { return Ok(None) };
    let shape = site.b.shape(indices);
    let ones: Shape = shape.iter().map(|_| Dim::from(1)).collect();
    let place = site.b.with_number(ScalarOp::Max, place, f64::from(i32::MIN))?;
    let place = site.b.with_number(ScalarOp::Min, place, f64::from(i32::MAX))?;
    let place = site.b.cast(place, DType::I32)?;
    let place = site.b.reshape(place, ones)?;
    let indices = site.b.broadcast(place, shape)?;
    site.b.scatter_elements(data, indices, rows, axis, kind).map(Some)
}
