//! Loops that carry sequences or optional values: such values have no form at run time, so each round is written out.
//! The number of rounds must be known before the run.

use crate::build::scope::Slot;
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::proto::GraphProto;
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Shape};
use tegula_ir::Value;

/// Rounds of one loop; bodies count against the model's nodes besides.
const MAX_ROUNDS: i64 = 4096;

/// What `Loop` gives: the carried values after the last round, then the scanned outputs stacked.
pub(super) fn rounds_one_by_one(cx: &mut Cx, node: &Node, body: &GraphProto) -> Outcome<Vec<Slot>> {
    let mut carried: Vec<Slot> = (2..node.operands.len()).map(|i| node.slot(i)).collect::<Outcome<_>>()?;
    let n_stacked = body.output.len().checked_sub(1 + carried.len()).ok_or_else(|| {
        Fault::invalid(format!("its graph gives {} results for {} values", body.output.len(), carried.len()))
    })?;
    let known =
        "a loop that carries sequences or optional values must have rounds that are known before the run";
    let trip = match node.optional(0) {
        Some(trip) => {
            let trip = cx.known_ints(trip).and_then(|trip| trip.first().copied());
            trip.ok_or_else(|| Fault::unsupported(known))?
        }
        None => i64::MAX,
    };
    let mut goes_on = match node.optional(1) {
        Some(go) => cx.known_bool(go).ok_or_else(|| Fault::unsupported(known))?,
        None => true,
    };
    let mut stacked: Vec<Vec<Value>> = vec![vec![]; n_stacked];
    for i in 0..trip {
        if !goes_on {
            break;
        }
        if i == MAX_ROUNDS {
            return Err(Fault::unsupported(format!(
                "a loop that carries sequences or optional values has more than {MAX_ROUNDS} rounds"
            )));
        }
        let iteration = cx.splat_int(DType::I64, Shape::scalar(), i)?;
        let holds = cx.true_scalar()?;
        let inputs: Vec<Slot> = [iteration.into(), holds.into()].into_iter().chain(carried).collect();
        let mut outputs = cx.inner_slots(body, &inputs)?.into_iter();
        goes_on = match outputs.next() {
            Some(Slot::Value(go)) => cx.known_bool(go).ok_or_else(|| Fault::unsupported(known))?,
            _ => return Err(Fault::invalid("its graph gives no condition")),
        };
        carried = outputs.by_ref().take(inputs.len() - 2).collect();
        for (rows, slot) in stacked.iter_mut().zip(outputs) {
            match slot {
                Slot::Value(row) => rows.push(cx.add_axes(row, &[0])?),
                other => {
                    return Err(Fault::invalid(format!("a round stacks {}", other.describe())));
                }
            }
        }
    }
    for rows in stacked {
        if rows.is_empty() {
            return Err(Fault::unsupported("the loop stacks results, but does no round"));
        }
        carried.push(cx.concat(&rows, 0)?.into());
    }
    Ok(carried)
}
