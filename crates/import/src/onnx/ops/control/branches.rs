//! Both graphs of an `If`. One whose nodes do not fit the sizes of the model's inputs is taken by no run: a detector for
//! two sampling rates has a branch for each, and windows of one rate do not fit the other's. Its place is held by zeros, and
//! a run whose condition chooses it stops.

use super::{clear, outer_bound};
use crate::build::scope::Slot;
use crate::onnx::cx::Cx;
use crate::onnx::proto::GraphProto;
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, Shape};
use tegula_ir::{RegionId, Value};

/// The results of the graphs, of which the first is taken where `condition` holds.
pub(super) fn both(
    cx: &mut Cx,
    condition: Value,
    regions: [RegionId; 2],
    graphs: [&GraphProto; 2],
) -> Outcome<[Vec<Slot>; 2]> {
    let before = std::mem::take(&mut cx.report);
    let body = cx.func.body();
    let n_args = cx.func.args(body).len();
    // Both are walked before either may fail, so that both are reported.
    let [first, second] = [0, 1].map(|i| {
        let slots = cx.within(regions[i], |cx| cx.inner_slots(graphs[i], &[]));
        (slots, std::mem::take(&mut cx.report))
    });
    cx.report = before;
    let reports = [first.1, second.1];
    let has_no_fault_of_its_own =
        |slots: &Outcome<_>| slots.as_ref().err().is_none_or(|fault| *fault == Fault::reported());
    let unfit = match (&first.0, &second.0) {
        (Ok(slots), other) if reports[0].is_empty() && has_no_fault_of_its_own(other) => Some((1, slots)),
        (other, Ok(slots)) if reports[1].is_empty() && has_no_fault_of_its_own(other) => Some((0, slots)),
        _ => None,
    };
    if let Some((unfit, sound)) = unfit
        && let Some(why) = reports[unfit].what_does_not_fit()
        && let Some(shapes) = shapes_outside(cx, regions[1 - unfit], sound)
    {
        cx.func.truncate_args(body, n_args);
        clear(cx, regions[unfit]);
        let zeros = cx.within(regions[unfit], |cx| zeros_for(cx, sound, shapes))?;
        let chosen = cx.cast(condition, DType::I64)?;
        let chosen = cx.size_or_bind(chosen, "branch", Dim::from(1))?;
        let taken = ["else", "then"][unfit];
        let message =
            format!("its `{taken}` branch must be taken, as the other does not fit its inputs ({why})");
        cx.assert_equal(&chosen, &Dim::from(unfit), &message)?;
        let sound = sound.clone();
        return Ok(if unfit == 0 { [zeros, sound] } else { [sound, zeros] });
    }
    reports.into_iter().for_each(|report| cx.report.absorb(report));
    Ok([first.0?, second.0?])
}

/// The types' shapes of what a branch gives, in sizes that are known outside of it.
fn shapes_outside(cx: &Cx, region: RegionId, slots: &[Slot]) -> Option<Vec<Shape>> {
    let outside = |value: &Value| cx.shape(*value).iter().map(|size| outer_bound(cx, region, size)).collect();
    slots.iter().flat_map(Slot::tensors).map(outside).collect()
}

fn zeros_for(cx: &mut Cx, slots: &[Slot], shapes: Vec<Shape>) -> Outcome<Vec<Slot>> {
    let values = slots.iter().flat_map(Slot::tensors).zip(shapes);
    let zeros: Vec<Value> = values
        .map(|(value, shape)| {
            let dtype = cx.dtype(*value);
            cx.splat(dtype, shape, 0.0)
        })
        .collect::<Outcome<_>>()?;
    let mut zeros = zeros.into_iter();
    Ok(slots.iter().map(|slot| slot.over(&mut zeros)).collect())
}
