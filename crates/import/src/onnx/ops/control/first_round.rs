//! Loops whose values get their shape in the first round. An exporter fills the place of a variable that only the body sets
//! with some number, while the body declares the shape that it will have. Such a loop's first round is written out before
//! it, so that the others start with what it leaves: without that round results would have shapes of their own, and it must
//! be done.

use super::{Round, round_of};
use crate::onnx::cx::Cx;
use crate::onnx::proto::{GraphProto, ValueInfoProto};
use crate::onnx::uses::declared;
use crate::report::Outcome;
use tegula_base::{DType, Dim, Shape};
use tegula_ir::Value;

/// The first round, where a value enters the loop with another shape than the body declares; `None` where all enter alike,
/// or no round is done.
pub(super) fn apart(
    cx: &mut Cx,
    body: &GraphProto,
    go: Value,
    trip: &Dim,
    carried: &[Value],
) -> Outcome<Option<Round>> {
    let holds_a_place = |(info, value): (&ValueInfoProto, &Value)| holds_a_place(&cx.shape(*value), info);
    if trip.is_const(0) || !body.input.iter().skip(2).zip(carried).any(holds_a_place) {
        return Ok(None);
    }
    let message = "a value of the loop gets its shape in the first round, which must be done";
    match cx.known_bool(go) {
        Some(true) => {}
        Some(false) => return Ok(None),
        None => {
            let go = cx.cast(go, DType::I64)?;
            let go = cx.size_or_bind(go, "go", Dim::from(1))?;
            cx.assert_equal(&go, &Dim::from(1), message)?;
        }
    }
    cx.assert_equal(&trip.maximum(&Dim::from(1)), trip, message)?;
    let iteration = cx.splat_int(DType::I64, Shape::scalar(), 0)?;
    round_of(cx, body, iteration, carried).map(Some)
}

/// Whether a shape of no more than one element is not the one that is declared.
fn holds_a_place(entered: &Shape, info: &ValueInfoProto) -> bool {
    let Some(declared) = declared(info).and_then(|declared| declared.shape) else { return false };
    let differs =
        |(own, declared): (&Dim, &Option<i64>)| own.as_const().zip(*declared).is_some_and(|(a, b)| a != b);
    entered.count().as_const().is_some_and(|n| n <= 1)
        && (entered.rank() != declared.len() || entered.iter().zip(&declared).any(differs))
}
