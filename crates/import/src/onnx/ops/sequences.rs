//! Sequences of tensors: how many there are and which is where is known before the run, so that these ops only name
//! tensors. A place that is data picks among tensors of one type; a length that is data is refused.

use crate::build::axis_in;
use crate::build::scope::Slot;
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::row::{Row, op, op_of_slots};
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, Shape};
use tegula_ir::{ScalarOp, Value};

pub(super) const ROWS: &[Row] = &[
    op_of_slots("SequenceConstruct", construct),
    op_of_slots("SequenceEmpty", |_, _| one(vec![])),
    op("SequenceLength", length),
    op("SequenceAt", at),
    op_of_slots("SequenceInsert", insert),
    op_of_slots("SequenceErase", erase),
    op("ConcatFromSequence", join),
    op_of_slots("SplitToSequence", split),
    op_of_slots("SequenceMap", map),
];

/// Tensors of one sequence; ONNX's own `Split` has fewer.
const MAX_LENGTH: i64 = 1 << 16;

fn one(values: Vec<Value>) -> Outcome<Vec<Slot>> {
    Ok(vec![Slot::Sequence(values.into())])
}

fn construct(_: &mut Cx, node: &Node) -> Outcome<Vec<Slot>> {
    one(node.all_operands()?)
}

fn length(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let n = node.sequence(0)?.len();
    Ok(vec![cx.splat_int(DType::I64, Shape::scalar(), n as i64)?])
}

/// Where in a sequence: a place below a bound, or one that is only known at run time (`i64` scalar, not negative where
/// it is legal).
enum Place {
    Known(usize),
    Data(Value),
}

/// Operand `i` as a place in a sequence of `length`; negative ones count from its end. `last` is the largest legal one.
fn place(cx: &mut Cx, node: &Node, i: usize, length: usize, last: Option<usize>) -> Outcome<Place> {
    let value = node.operand(i)?;
    let Some(last) = last else {
        return Err(Fault::invalid("the sequence is empty, so it has no places"));
    };
    if let Some(&[n]) = cx.known_ints(value).as_deref() {
        let wrapped = if n < 0 { n.saturating_add(length as i64) } else { n };
        return usize::try_from(wrapped)
            .ok()
            .filter(|n| *n <= last)
            .map(Place::Known)
            .ok_or_else(|| Fault::invalid(format!("place {n} is outside of a sequence of {length}")));
    }
    let value = cx.reshape(value, Shape::scalar())?;
    let value = cx.cast(value, DType::I64)?;
    let wrapped = cx.wrap_indices(value, Dim::from(length))?;
    // As a size it stops the run where it is outside.
    cx.size_or_bind(wrapped, "place", Dim::from(last))?;
    Ok(Place::Data(wrapped))
}

/// The tensors with a leading axis, joined along it. Errors: they differ in type, so that none can stand for another.
fn stacked(cx: &mut Cx, values: &[Value]) -> Outcome {
    if let Some(other) = values.iter().find(|value| cx.ty(**value) != cx.ty(values[0])) {
        return Err(Fault::unsupported(format!(
            "the place is only known at run time, but the sequence holds {} and {}",
            cx.ty(values[0]),
            cx.ty(*other)
        )));
    }
    let rows = values.iter().map(|value| cx.add_axes(*value, &[0])).collect::<Outcome<Vec<_>>>()?;
    cx.concat(&rows, 0)
}

fn at(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let values = node.sequence(0)?;
    Ok(vec![match place(cx, node, 1, values.len(), values.len().checked_sub(1))? {
        Place::Known(i) => values[i],
        Place::Data(i) => {
            let rows = stacked(cx, &values)?;
            cx.gather(rows, i, 0)?
        }
    }])
}

/// Without a place: at the end.
fn insert(cx: &mut Cx, node: &Node) -> Outcome<Vec<Slot>> {
    let mut values = node.sequence(0)?;
    let (tensor, n) = (node.operand(1)?, values.len());
    let place = match node.operands.get(2) {
        Some(Some(_)) => place(cx, node, 2, n, Some(n))?,
        _ => Place::Known(n),
    };
    match place {
        Place::Known(i) => {
            values.insert(i, tensor);
            one(values)
        }
        Place::Data(at) => {
            values.push(tensor);
            // Before the place the old ones, there the new one, behind it the old ones moved by one.
            let source = |cx: &mut Cx, i: usize| {
                let here = cx.with_number(ScalarOp::Eq, at, i as f64)?;
                let before = cx.with_number(ScalarOp::Gt, at, i as f64)?;
                let [own, new, moved] = [i, n, i.saturating_sub(1)].map(|i| i as i64);
                let own = cx.splat_int(DType::I64, Shape::scalar(), own)?;
                let new = cx.splat_int(DType::I64, Shape::scalar(), new)?;
                let moved = cx.splat_int(DType::I64, Shape::scalar(), moved)?;
                let behind = cx.select(here, new, moved)?;
                cx.select(before, own, behind)
            };
            one(rearranged(cx, &values, n + 1, source)?)
        }
    }
}

/// Without a place: the last one.
fn erase(cx: &mut Cx, node: &Node) -> Outcome<Vec<Slot>> {
    let mut values = node.sequence(0)?;
    let last = values.len().checked_sub(1);
    let place = match (node.operands.get(1), last) {
        (Some(Some(_)), _) => place(cx, node, 1, values.len(), last)?,
        (_, Some(last)) => Place::Known(last),
        (_, None) => return Err(Fault::invalid("the sequence is empty, so nothing can be erased")),
    };
    match place {
        Place::Known(i) => {
            values.remove(i);
            one(values)
        }
        Place::Data(at) => {
            let source = |cx: &mut Cx, i: usize| {
                let before = cx.with_number(ScalarOp::Gt, at, i as f64)?;
                let own = cx.splat_int(DType::I64, Shape::scalar(), i as i64)?;
                let next = cx.splat_int(DType::I64, Shape::scalar(), i as i64 + 1)?;
                cx.select(before, own, next)
            };
            one(rearranged(cx, &values, values.len() - 1, source)?)
        }
    }
}

/// `n` tensors, the `i`th being the one of `values` at the place that `source` gives.
fn rearranged(
    cx: &mut Cx,
    values: &[Value],
    n: usize,
    source: impl Fn(&mut Cx, usize) -> Outcome,
) -> Outcome<Vec<Value>> {
    let rows = stacked(cx, values)?;
    let picked = |i| {
        let place = source(cx, i)?;
        cx.gather(rows, place, 0)
    };
    (0..n).map(picked).collect()
}

fn join(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let mut values = node.sequence(0)?;
    let axis = node.optional_int("axis").ok_or_else(|| Fault::invalid("attribute `axis` is missing"))?;
    let Some(first) = values.first() else {
        return Err(Fault::invalid("an empty sequence has nothing to join"));
    };
    let new_axis = node.flag("new_axis", false);
    let axis = axis_in(axis, cx.rank(*first) + usize::from(new_axis))?;
    if new_axis {
        for value in &mut values {
            *value = cx.add_axes(*value, &[axis])?;
        }
    }
    Ok(vec![cx.concat(&values, axis)?])
}

fn split(cx: &mut Cx, node: &Node) -> Outcome<Vec<Slot>> {
    let x = node.operand(0)?;
    let axis = axis_in(node.int("axis", 0), cx.rank(x))?;
    let extent = cx.dim(x, axis);
    let (sizes, keeps) = match node.optional(1) {
        None => (chunks(&extent, 1)?, node.flag("keepdims", true)),
        Some(size) if cx.rank(size) == 0 => {
            let size = cx.known_ints(size).and_then(|size| size.first().copied());
            let size = size
                .ok_or_else(|| Fault::unsupported("how long the parts are must be known before the run"))?;
            (chunks(&extent, size)?, true)
        }
        Some(list) => (cx.sizes_or_bind(list, "part", &|_| extent.clone())?, true),
    };
    let mut parts = cx.parts(x, axis, sizes)?;
    if !keeps {
        for part in &mut parts {
            *part = cx.drop_axes(*part, &[axis])?;
        }
    }
    one(parts)
}

/// Sizes of parts of `size` each, the last one smaller where they do not fit.
fn chunks(extent: &Dim, size: i64) -> Outcome<Vec<Dim>> {
    let extent = extent.as_const().ok_or_else(|| {
        Fault::unsupported(format!(
            "the length of a sequence must be known before the run, but the axis that is split has size {extent}"
        ))
    })?;
    if size <= 0 {
        return Err(Fault::invalid(format!("parts of size {size}")));
    }
    let n = extent.div_euclid(size) + i64::from(extent % size > 0);
    if n > MAX_LENGTH {
        return Err(Fault::unsupported(format!("a sequence of {n}, more than {MAX_LENGTH}")));
    }
    Ok((0..n).map(|i| Dim::from(size.min(extent - i * size))).collect())
}

/// The graph once for each place of the first operand; operands that are tensors go to every round whole.
fn map(cx: &mut Cx, node: &Node) -> Outcome<Vec<Slot>> {
    let (body, n) = (node.graph("body")?, node.sequence(0)?.len());
    let mut results = vec![Vec::with_capacity(n); body.output.len()];
    for i in 0..n {
        let mut inputs = Vec::with_capacity(node.operands.len());
        for operand in 0..node.operands.len() {
            inputs.push(match node.slot(operand)? {
                Slot::Sequence(values) if values.len() == n => values[i],
                Slot::Value(value) => value,
                other => {
                    return Err(Fault::invalid(format!(
                        "operand {operand} is {} beside a sequence of {n}",
                        other.describe()
                    )));
                }
            });
        }
        for (result, value) in results.iter_mut().zip(cx.inner_graph(body, &inputs)?) {
            result.push(value);
        }
    }
    Ok(results.into_iter().map(|values| Slot::Sequence(values.into())).collect())
}
