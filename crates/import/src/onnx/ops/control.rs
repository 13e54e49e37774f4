//! If, Loop and Scan: regions that capture. A condition that is known before the run takes one branch only.

mod branches;
mod counted;
mod first_round;
mod growing;
mod unrolled;

use crate::build::axis_in;
use crate::build::scope::Slot;
use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::onnx::proto::GraphProto;
use crate::onnx::row::{Row, op_between, op_of_slots, op_since};
use crate::report::{Fault, Outcome};
use std::collections::BTreeSet;
use tegula_base::{DType, Dim, Origin, Shape, SymbolInfo};
use tegula_ir::{RegionId, ScalarOp, Value};
use tegula_tensor::{TensorOp, TensorType, finish_region_op};

pub(super) const ROWS: &[Row] = &[
    op_of_slots("If", if_),
    op_of_slots("Loop", loop_),
    op_between("Scan", 8, 8, scan_batched),
    op_since("Scan", 9, scan),
];

fn if_(cx: &mut Cx, node: &Node) -> Outcome<Vec<Slot>> {
    let condition = node.operand(0)?;
    let (then, otherwise) = (node.graph("then_branch")?, node.graph("else_branch")?);
    if let Some(holds) = cx.known_bool(condition) {
        return cx.inner_slots(if holds { then } else { otherwise }, &[]);
    }
    if let Some((left, right)) = cx.compared_sizes(condition)
        && drops_an_axis(then, otherwise)
    {
        // How exporters write a squeeze: the rank is static only if the axis goes in every run.
        cx.assert_equal(&left, &right, "an axis that is squeezed where it can be must have extent 1")?;
        return cx.inner_slots(then, &[]);
    }
    let condition = cx.reshape(condition, Shape::scalar())?;
    let op = cx.emit_with_regions(TensorOp::If {}, &[condition])?;
    let regions = [cx.func.regions_of(op)[0], cx.func.regions_of(op)[1]];
    let [first, second] = branches::both(cx, condition, regions, [then, otherwise])?;
    check_structures(&first, &second)?;
    let values = [&first, &second].map(|slots| tensors_of(slots));
    let common = common_types(cx, regions, &values)?;
    for (region, values) in regions.into_iter().zip(&values) {
        cx.within(region, |cx| yield_common(cx, values, &common))?;
    }
    let results = finish_region_op(&mut cx.func, op)?;
    let mut results = cut_to_sizes(cx, results, &common)?.into_iter();
    Ok(first.iter().map(|slot| slot.over(&mut results)).collect())
}

fn tensors_of(slots: &[Slot]) -> Vec<Value> {
    slots.iter().flat_map(Slot::tensors).copied().collect()
}

/// Errors: the branches' results hold different numbers of tensors.
fn check_structures(then: &[Slot], otherwise: &[Slot]) -> Outcome<()> {
    if then.len() != otherwise.len() {
        return Err(Fault::invalid("the branches give different numbers of results"));
    }
    for (i, (one, other)) in then.iter().zip(otherwise).enumerate() {
        let (one, other) = (one.describe(), other.describe());
        if one != other {
            return Err(Fault::unsupported(format!(
                "result {i} is {one} in one branch and {other} in the other, and the condition is only known at run time"
            )));
        }
    }
    Ok(())
}

/// Whether one branch only squeezes what the other passes on.
fn drops_an_axis(then: &GraphProto, otherwise: &GraphProto) -> bool {
    let only = |graph: &GraphProto, op: &str| {
        let mut nodes = graph.node.iter().filter(|node| node.op_type() != "Constant");
        nodes.next().is_some_and(|node| node.op_type() == op) && nodes.next().is_none()
    };
    only(then, "Squeeze") && only(otherwise, "Identity")
}

/// What a result has in both branches.
struct Common {
    shape: Shape,
    /// Axes whose extent depends on the branch; `shape` holds the upper bound there.
    varying: Vec<usize>,
}

fn common_types(cx: &mut Cx, regions: [RegionId; 2], values: &[Vec<Value>; 2]) -> Outcome<Vec<Common>> {
    let mut all = Vec::with_capacity(values[0].len());
    for (i, (a, b)) in values[0].iter().zip(&values[1]).enumerate() {
        let (left, right) = (cx.ty(*a).clone(), cx.ty(*b).clone());
        // One element broadcasts alike in any rank: the larger one serves both.
        let is_single = |ty: &TensorType| ty.shape.iter().all(|dim| dim.is_const(1));
        if left.dtype == right.dtype && left.rank() != right.rank() && is_single(&left) && is_single(&right) {
            let wide = if left.rank() > right.rank() { left } else { right };
            all.push(Common { shape: wide.shape, varying: vec![] });
            continue;
        }
        if left.dtype != right.dtype || left.rank() != right.rank() {
            return Err(Fault::unsupported(format!(
                "the branches give result {i} different types, {left} and {right}, and the condition is only known at run time"
            )));
        }
        let (mut shape, mut varying) = (left.shape.clone(), vec![]);
        for axis in 0..left.rank() {
            let bounds = [
                outer_bound(cx, regions[0], &left.shape[axis]),
                outer_bound(cx, regions[1], &right.shape[axis]),
            ];
            let [Some(one), Some(other)] = bounds else {
                return Err(Fault::unsupported(format!(
                    "a size of result {i} is only known inside of a branch ({left} and {right})"
                )));
            };
            let same = one == left.shape[axis] && other == right.shape[axis] && one == other;
            shape[axis] = one.maximum(&other);
            if !same {
                varying.push(axis);
            }
        }
        all.push(Common { shape, varying });
    }
    Ok(all)
}

/// An upper bound of a size in terms of symbols that live outside of a region; the size itself where it does.
fn outer_bound(cx: &Cx, region: RegionId, size: &Dim) -> Option<Dim> {
    bound_outside(cx, region, size, &[])
}

/// As [`outer_bound`], where the symbols in `kept` stay.
fn bound_outside(cx: &Cx, region: RegionId, size: &Dim, kept: &[&str]) -> Option<Dim> {
    let inner: BTreeSet<&str> = cx
        .func
        .ops_in(region)
        .iter()
        .filter_map(|op| match cx.func.kind(*op) {
            TensorOp::Bind { symbol } => Some(symbol.as_str()).filter(|symbol| !kept.contains(symbol)),
            _ => None,
        })
        .collect();
    let mut bound = size.clone();
    for _ in 0..8 {
        let mut local = false;
        bound.for_each_symbol(&mut |name| local |= inner.contains(&**name));
        if !local {
            return Some(bound);
        }
        // Replacing by the upper bound is one where the size grows with every symbol.
        if !bound.grows_with(&|name| inner.contains(name)) {
            return None;
        }
        bound = bound.substitute(&|name| match cx.symbols.get(name).map(|info| &info.origin) {
            Some(Origin::Data { upper }) if inner.contains(name) => Some(upper.clone()),
            _ => None,
        });
    }
    None
}

/// Yields each value padded to the common shape, then the sizes that vary.
fn yield_common(cx: &mut Cx, values: &[Value], common: &[Common]) -> Outcome<()> {
    let mut yielded = Vec::new();
    let mut sizes = Vec::new();
    for (value, common) in values.iter().zip(common) {
        let shape = cx.shape(*value);
        let zero = vec![Dim::from(0); shape.rank()];
        let high =
            shape.iter().zip(common.shape.iter()).map(|(own, all)| all.clone() - own.clone()).collect();
        let padded = if common.varying.is_empty() { *value } else { cx.pad_with(*value, 0.0, zero, high)? };
        yielded.push(cx.reshape(padded, common.shape.clone())?);
        for axis in &common.varying {
            let size = cx.size_value(shape[*axis].clone())?;
            sizes.push(cx.reshape(size, Shape::scalar())?);
        }
    }
    yielded.extend(sizes);
    cx.emit_many(TensorOp::Yield {}, &yielded)?;
    Ok(())
}

/// Takes all ops out of a region, and the sizes that they bind out of the model's.
fn clear(cx: &mut Cx, region: RegionId) {
    let ops = cx.func.ops_in(region).to_vec();
    let mut open = ops.clone();
    while let Some(op) = open.pop() {
        let program = &mut **cx;
        if let TensorOp::Bind { symbol } = program.func.kind(op) {
            program.symbols.0.remove(symbol.as_str());
        }
        open.extend(cx.func.regions_of(op).iter().flat_map(|inner| cx.func.ops_in(*inner)));
    }
    cx.func.erase_all(ops);
}

fn cut_to_sizes(cx: &mut Cx, results: Vec<Value>, common: &[Common]) -> Outcome<Vec<Value>> {
    let (values, sizes) = results.split_at(common.len());
    let mut sizes = sizes.iter();
    let mut cut = Vec::with_capacity(values.len());
    for (value, common) in values.iter().zip(common) {
        let mut value = *value;
        for (axis, size) in common.varying.iter().zip(sizes.by_ref()) {
            let size = cx.size_or_bind(*size, "branch", common.shape[*axis].clone())?;
            value = cx.slice_axis(value, *axis, Dim::from(0), size)?;
        }
        cut.push(value);
    }
    Ok(cut)
}

/// What one round of a loop gives.
pub(crate) struct Round {
    pub go: Value,
    pub carried: Vec<Value>,
    pub stacked: Vec<Value>,
}

/// What a loop leaves behind.
pub(crate) struct Rounds {
    pub count: Value,
    pub carried: Vec<Value>,
    /// With a leading extent of the trip count.
    pub stacked: Vec<Value>,
    /// Whether every round is done in every run.
    pub all: bool,
}

impl Cx<'_> {
    /// At most `trip` rounds while `go`; the body gets the iteration as a scalar and what is carried.
    pub fn rounds(
        &mut self,
        trip: Dim,
        go: Value,
        carried: &[Value],
        n_stacked: usize,
        body: impl FnOnce(&mut Self, Value, &[Value]) -> Outcome<Round>,
    ) -> Outcome<Rounds> {
        let always = self.known_bool(go) == Some(true);
        let operands: Vec<Value> = std::iter::once(go).chain(carried.iter().copied()).collect();
        let op = self.emit_with_regions(TensorOp::Loop { trip, stacked: n_stacked }, &operands)?;
        let region = self.func.regions_of(op)[0];
        let types: Vec<_> = carried.iter().map(|value| self.ty(*value).clone()).collect();
        let goes_on = self.within(region, |cx| -> Outcome<bool> {
            let iteration = cx.func.add_arg(region, TensorType::scalar(DType::I64));
            let inner: Vec<Value> = types.into_iter().map(|ty| cx.func.add_arg(region, ty)).collect();
            cx.iterations.push(iteration);
            let round = body(cx, iteration, &inner);
            cx.iterations.pop();
            let round = round?;
            let goes_on = cx.known_bool(round.go) == Some(true);
            let mut next = Vec::with_capacity(inner.len());
            for (i, value) in round.carried.iter().enumerate() {
                let wanted = inner.get(i).map(|inner| cx.ty(*inner).clone());
                next.push(match wanted {
                    Some(wanted) if wanted.dtype == cx.dtype(*value) && wanted.shape != cx.shape(*value) => {
                        cx.carried_alike(*value, &wanted.shape)?
                    }
                    _ => *value,
                });
            }
            let yields: Vec<Value> = std::iter::once(round.go).chain(next).chain(round.stacked).collect();
            cx.emit_many(TensorOp::Yield {}, &yields)?;
            Ok(goes_on)
        })?;
        let results = finish_region_op(&mut self.func, op)?;
        let (carried, stacked) = results[1..].split_at(carried.len());
        Ok(Rounds {
            count: results[0],
            carried: carried.to_vec(),
            stacked: stacked.to_vec(),
            all: always && goes_on,
        })
    }

    /// A carried value whose sizes are not known to be those it entered with.
    fn carried_alike(&mut self, value: Value, wanted: &Shape) -> Outcome {
        let own = self.shape(value);
        let may_be = |(a, b): (&Dim, &Dim)| a == b || a.as_const().is_none() || b.as_const().is_none();
        if own.rank() != wanted.rank() || !own.iter().zip(wanted.iter()).all(may_be) {
            return Err(Fault::unsupported(format!(
                "a loop's value changes its shape from {wanted} to {own} between rounds"
            )));
        }
        self.respelled(value, wanted.clone(), "a loop's value must keep its shape between rounds")
    }
}

fn loop_(cx: &mut Cx, node: &Node) -> Outcome<Vec<Slot>> {
    let body = node.graph("body")?;
    let n_carried = node.operands.len().saturating_sub(2);
    if node.operands.iter().skip(2).any(|slot| !matches!(slot, Some(Slot::Value(_)) | None)) {
        return unrolled::rounds_one_by_one(cx, node, body);
    }
    let n_stacked = body.output.len().checked_sub(1 + n_carried).ok_or_else(|| {
        Fault::invalid(format!("its graph gives {} results for {n_carried} values", body.output.len()))
    })?;
    let carried: Vec<Value> = (0..n_carried).map(|i| node.operand(i + 2)).collect::<Outcome<_>>()?;
    let go = match node.optional(1) {
        Some(go) => cx.reshape(go, Shape::scalar())?,
        None => cx.true_scalar()?,
    };
    let most = if n_stacked > 0 { cx.declared_extent(n_carried, 0) } else { Dim::from(SymbolInfo::MAX) };
    let trip = match node.optional(0) {
        Some(trip) => trip_count(cx, trip, most.clone())?,
        None => most.clone(),
    };
    let is_open = |trip: &Dim| trip.as_const().is_some_and(|n| n >= SymbolInfo::MAX);
    let trip = if is_open(&trip) { most } else { trip };
    let trip = match is_open(&trip) && n_stacked > 0 {
        true => counted::most_rounds(cx, body, &carried)?.unwrap_or(trip),
        false => trip,
    };
    if n_stacked > 0 && is_open(&trip) {
        return Err(Fault::unsupported(
            "the loop stacks results, but nothing bounds the number of its rounds",
        ));
    }
    let trip = cx.most(&trip, &Dim::from(0));
    let first = first_round::apart(cx, body, go, &trip, &carried)?;
    let (trip, go, carried) = match &first {
        Some(first) => (trip.maximum(&Dim::from(1)) - Dim::from(1), first.go, first.carried.clone()),
        None => (trip, go, carried),
    };
    let done_before = i64::from(first.is_some());
    let last = trip.clone() + Dim::from(done_before);
    let rounds = growing::rounds(cx, &trip, go, &carried, n_stacked, &mut |cx, iteration, values| {
        let iteration = match done_before {
            0 => iteration,
            n => cx.with_number(ScalarOp::Add, iteration, n as f64)?,
        };
        // As a size, so that slices by the iteration have known extents.
        let name = cx.symbols.fresh_name("iteration");
        cx.symbols.insert(&name, SymbolInfo::data(last.clone()));
        cx.emit_many(TensorOp::Bind { symbol: name.to_string() }, &[iteration])?;
        cx.record_size(iteration, Dim::symbol(&name));
        round_of(cx, body, iteration, values)
    })?;
    let mut results = rounds.carried;
    let done = match rounds.all || n_stacked == 0 {
        true => trip,
        false => cx.size_or_bind(rounds.count, "rounds", trip)?,
    };
    for (i, stacked) in rounds.stacked.into_iter().enumerate() {
        let rest = cx.slice_axis(stacked, 0, Dim::from(0), done.clone())?;
        results.push(match &first {
            None => rest,
            Some(first) => {
                let row = cx.add_axes(first.stacked[i], &[0])?;
                cx.concat(&[row, rest], 0)?
            }
        });
    }
    Ok(results.into_iter().map(Slot::Value).collect())
}

/// How many rounds an operand allows: a negative number allows none, a large one any.
fn trip_count(cx: &mut Cx, trip: Value, most: Dim) -> Outcome<Dim> {
    if let Some([known]) = cx.known_sizes(trip).as_deref() {
        return Ok(known.clone());
    }
    let trip = cx.cast(trip, DType::I64)?;
    let trip = cx.with_number(ScalarOp::Max, trip, 0.0)?;
    let trip = cx.with_number(ScalarOp::Min, trip, SymbolInfo::MAX as f64)?;
    cx.size_or_bind(trip, "trip", most)
}

/// One round of a loop's body.
fn round_of(cx: &mut Cx, body: &GraphProto, iteration: Value, carried: &[Value]) -> Outcome<Round> {
    // Inside a round the condition held.
    let holds = cx.true_scalar()?;
    let inputs: Vec<Value> = [iteration, holds].into_iter().chain(carried.iter().copied()).collect();
    let mut outputs = cx.inner_graph(body, &inputs)?;
    let stacked = outputs.split_off(1 + carried.len());
    let carried = outputs.split_off(1);
    let go = cx.reshape(outputs[0], Shape::scalar())?;
    Ok(Round { go, carried, stacked })
}

/// Axes and directions of a scan's inputs or outputs.
fn scan_list(node: &Node, name: &str, n: usize) -> Outcome<Vec<i64>> {
    let list = node.ints(name).unwrap_or_else(|| vec![0; n]);
    if list.len() != n {
        return Err(Fault::invalid(format!("attribute `{name}` has {} entries for {n} values", list.len())));
    }
    Ok(list)
}

/// Directions of a scan's inputs or outputs. Errors: one is neither 0 (forward) nor 1 (backward).
fn scan_directions(node: &Node, name: &str, n: usize) -> Outcome<Vec<i64>> {
    let list = scan_list(node, name, n)?;
    if list.iter().all(|direction| matches!(direction, 0 | 1)) {
        return Ok(list);
    }
    Err(Fault::invalid(format!("{name} {list:?} must each be 0 or 1")))
}

struct ScanShape<'a> {
    body: &'a GraphProto,
    n_inputs: usize,
    axes: Vec<usize>,
    directions: Vec<i64>,
}

fn scan(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    let operands = node.all_operands()?;
    let (body, n_inputs, n_states) = scan_counts(node, operands.len())?;
    let axes = scan_list(node, "scan_input_axes", n_inputs)?;
    let axes = axes
        .iter()
        .zip(&operands[n_states..])
        .map(|(axis, input)| axis_in(*axis, cx.rank(*input)))
        .collect::<Outcome<Vec<usize>>>()?;
    let directions = scan_directions(node, "scan_input_directions", n_inputs)?;
    let mut results = scan_rows(cx, &ScanShape { body, n_inputs, axes, directions }, &operands)?;
    let n_stacked = results.len() - n_states;
    let out_axes = scan_list(node, "scan_output_axes", n_stacked)?;
    let out_directions = scan_directions(node, "scan_output_directions", n_stacked)?;
    for (i, result) in results[n_states..].iter_mut().enumerate() {
        if out_directions[i] == 1 {
            *result = cx.flip(*result, 0)?;
        }
        let axis = axis_in(out_axes[i], cx.rank(*result))?;
        *result = cx.move_axis(*result, 0, axis)?;
    }
    Ok(results)
}

fn scan_counts<'a>(node: &Node<'a>, n_operands: usize) -> Outcome<(&'a GraphProto, usize, usize)> {
    let body = node.graph("body")?;
    let n_inputs = usize::try_from(node.int("num_scan_inputs", 0)).unwrap_or(0);
    match n_operands.checked_sub(n_inputs) {
        Some(n_states) if n_inputs > 0 && n_states <= body.output.len() => Ok((body, n_inputs, n_states)),
        _ => Err(Fault::invalid(format!("{n_inputs} scan inputs of {n_operands} operands"))),
    }
}

/// One scan without batches: final states, then stacked outputs with the scan axis first.
fn scan_rows(cx: &mut Cx, shape: &ScanShape, operands: &[Value]) -> Outcome<Vec<Value>> {
    let n_states = operands.len() - shape.n_inputs;
    let (states, inputs) = operands.split_at(n_states);
    for (input, axis) in inputs.iter().zip(&shape.axes) {
        cx.expect_axis(*input, *axis)?;
    }
    let length = cx.dim(inputs[0], shape.axes[0]);
    for (input, axis) in inputs.iter().zip(&shape.axes) {
        let own = cx.dim(*input, *axis);
        cx.assert_equal(&length, &own, "scanned inputs must have equal lengths")?;
    }
    let go = cx.true_scalar()?;
    let n_stacked = shape.body.output.len() - n_states;
    let rounds = cx.rounds(length.clone(), go, states, n_stacked, |cx, iteration, states| {
        let mut values = states.to_vec();
        for (i, input) in inputs.iter().enumerate() {
            let place = if shape.directions[i] == 1 {
                let last = cx.size_as(length.clone() - Dim::from(1), DType::I64, 0)?;
                cx.binary(ScalarOp::Sub, last, iteration)?
            } else {
                iteration
            };
            values.push(cx.gather(*input, place, shape.axes[i])?);
        }
        let mut carried = cx.inner_graph(shape.body, &values)?;
        let stacked = carried.split_off(n_states);
        Ok(Round { go: cx.true_scalar()?, carried, stacked })
    })?;
    Ok([rounds.carried, rounds.stacked].concat())
}

/// Opset 8: every operand has a leading batch axis, the scan axis is the second.
fn scan_batched(cx: &mut Cx, node: &Node) -> Outcome<Vec<Value>> {
    if node.optional(0).is_some() {
        return Err(Fault::unsupported("sequence lengths are not supported"));
    }
    let operands: Vec<Value> = (1..node.operands.len()).map(|i| node.operand(i)).collect::<Outcome<_>>()?;
    let (body, n_inputs, _) = scan_counts(node, operands.len())?;
    let directions = scan_directions(node, "directions", n_inputs)?;
    let shape = ScanShape { body, n_inputs, axes: vec![0; n_inputs], directions };
    for operand in &operands {
        cx.expect_axis(*operand, 0)?;
    }
    let batch = cx.dim(operands[0], 0);
    let go = cx.true_scalar()?;
    let rounds = cx.rounds(batch, go, &[], body.output.len(), |cx, iteration, _| {
        let items =
            operands.iter().map(|value| cx.gather(*value, iteration, 0)).collect::<Outcome<Vec<_>>>()?;
        let stacked = scan_rows(cx, &shape, &items)?;
        Ok(Round { go: cx.true_scalar()?, carried: vec![], stacked })
    })?;
    Ok(rounds.stacked)
}
