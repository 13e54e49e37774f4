//! Walks backwards: what is computed an element at a time moves into the kernels that read it.
//!
//! A group with one reader merges into it; cheap groups with several readers are computed again in each. Merging into
//! the only reader, or copying, cannot close a cycle. Reshapes that end up reading a buffer are released again.

use super::groups::{Form, GroupId, Groups, Positions};
use super::grow::{describe, spell};
use super::places::{self, places};
use super::rules::{self, Role};
use smallvec::SmallVec;
use tegula_backend::{Place, Target};
use tegula_base::{Dim, Shape};
use tegula_ir::Value;
use tegula_ir::pass::PassCx;
use tegula_tensor::facts::{CHEAP, weight};
use tegula_tensor::{KernelClass, TensorOp};

pub(super) fn pull_producers(groups: &mut Groups, target: &dyn Target, cx: &mut PassCx) {
    let mut order: Vec<(usize, GroupId)> = groups
        .groups
        .iter()
        .enumerate()
        .map(|(id, group)| (group.members.iter().copied().max().unwrap_or(0), id))
        .collect();
    order.sort_unstable();
    for (_, id) in order.into_iter().rev() {
        match groups.groups[id].form {
            Form::Source | Form::Elementwise | Form::Move => pull(groups, id, target, cx),
            Form::Rows { .. } => join_rows(groups, id, cx),
            Form::Root(_) => {}
        }
    }
}

/// Attention whose keys or values lie in pages reads them through their table: the gather, and what names its axes anew,
/// moves into its kernel. Who else reads the gathered tensor still gets it.
pub(super) fn adopt_pages(groups: &mut Groups, target: &dyn Target, cx: &mut PassCx) {
    for id in 0..groups.groups.len() {
        if groups.groups[id].form != Form::Root(KernelClass::Attention) {
            continue;
        }
        let root = groups.groups[id].members[0];
        let mut adopted = Vec::new();
        for operand in 1..3 {
            let place = Place::Pages(operand);
            let fused = target.fuses(groups.func, groups.op(root), place, groups.symbols);
            let Some(fused) = fused else { continue };
            let places = fused.ops.iter().map(|op| groups.definer(groups.func.result(*op)));
            adopted.extend(places.collect::<Option<Vec<usize>>>().unwrap_or_default());
        }
        if adopted.is_empty() {
            continue;
        }
        let location = groups.func.op(groups.op(root)).location.clone();
        cx.count("paged", 1);
        cx.remark_with(location.as_ref(), || "keys or values are read through the table of their pages");
        for at in &adopted {
            groups.copy(*at, id);
        }
        // Readers come after what they read.
        adopted.sort_unstable();
        for at in adopted.into_iter().rev() {
            groups.forget(at);
        }
    }
}

/// Reductions whose only reader reduces rows of the same space over the same axes are done there.
fn join_rows(groups: &mut Groups, id: GroupId, cx: &mut PassCx) {
    let mut reader = None;
    for result in groups.results_of(id) {
        let readers = readers(groups, id, result);
        for group in readers.groups {
            if readers.host || reader.is_some_and(|other| other != group) {
                return;
            }
            reader = Some(group);
        }
        if readers.host {
            return;
        }
    }
    let Some(reader) = reader else { return };
    let (from, into) = (&groups.groups[id], &groups.groups[reader]);
    let Form::Rows { axes, passes } = &from.form else { return };
    let passes = match &into.form {
        Form::Rows { axes: other, passes: more } if other == axes && into.space == from.space => {
            passes + more
        }
        _ => return,
    };
    let size = groups.size_of(id) + groups.size_of(reader);
    if size > rules::MAX_OPS
        || groups.operands_of(reader).len() + groups.operands_of(id).len() > rules::MAX_OPERANDS
    {
        return;
    }
    let axes = axes.clone();
    let location = groups.func.op(groups.op(groups.groups[id].members[0])).location.clone();
    cx.count("pulled", 1);
    cx.remark_with(location.as_ref(), || format!("fused into {}: the same rows", describe(groups, reader)));
    groups.merge(id, reader);
    groups.groups[reader].form = Form::Rows { axes, passes };
}

/// Where a group's values go.
struct Readers {
    groups: SmallVec<[GroupId; 4]>,
    /// Also something outside of kernels.
    host: bool,
}

fn pull(groups: &mut Groups, id: GroupId, target: &dyn Target, cx: &mut PassCx) {
    let results = groups.results_of(id);
    let [result] = results[..] else { return };
    let readers = readers(groups, id, result);
    let location = groups.func.op(groups.op(result)).location.clone();
    match readers.groups.as_slice() {
        [] => {}
        [reader] if !readers.host => match accepts(groups, id, result, *reader, target) {
            Ok(()) => {
                cx.count("pulled", 1);
                cx.remark_with(location.as_ref(), || {
                    format!("fused {} into {}", spell(groups.kind(result)), describe(groups, *reader))
                });
                groups.merge(id, *reader);
            }
            Err(reason) => {
                cx.remark_with(location.as_ref(), || {
                    format!("not fused into {}: {reason}", describe(groups, *reader))
                });
            }
        },
        several if may_repeat(groups, id) => {
            let several = several.to_vec();
            let mut everywhere = !readers.host;
            for reader in &several {
                let accepted =
                    suits_copies(groups, id, *reader) && accepts(groups, id, result, *reader, target).is_ok();
                everywhere &= accepted;
                if accepted {
                    cx.count("repeated", 1);
                    for at in groups.ops_of(id) {
                        groups.copy(at, *reader);
                    }
                }
            }
            if everywhere {
                groups.dissolve(id);
            }
        }
        several => {
            let n = several.len() + usize::from(readers.host);
            cx.remark_with(location.as_ref(), || format!("not fused: {n} users"));
        }
    }
}

/// A contraction's epilogue runs in its inner loops' registers: only sources are worth repeating there.
fn suits_copies(groups: &Groups, id: GroupId, reader: GroupId) -> bool {
    match groups.groups[reader].form {
        Form::Root(KernelClass::Dot | KernelClass::Conv) => groups.groups[id].form == Form::Source,
        _ => true,
    }
}

fn readers(groups: &Groups, id: GroupId, result: usize) -> Readers {
    let mut readers = Readers { groups: SmallVec::new(), host: false };
    for user in &groups.listing.users[result] {
        readers.host |= groups.is_host(*user);
        for group in groups.groups_of(*user) {
            if group != id && !groups.holds(group, result) {
                readers.groups.push(group);
            }
        }
    }
    // A constant has very many.
    readers.groups.sort_unstable();
    readers.groups.dedup();
    readers
}

/// Whether computing the group again costs no more than reading its result: sources, views of a buffer, and cheap
/// elementwise ops of one buffer or of few elements.
fn may_repeat(groups: &Groups, id: GroupId) -> bool {
    const FEW: i64 = 256;
    let ops = groups.ops_of(id);
    let views = |at: &usize| {
        matches!(
            groups.kind(*at),
            TensorOp::Broadcast { .. } | TensorOp::Slice { .. } | TensorOp::Reshape { .. }
        ) || groups.listing.roles[*at] == Role::Source
            || groups.listing.roles[*at] == Role::Elementwise
    };
    let weight: u32 = ops.iter().map(|at| weight(groups.kind(*at))).sum();
    let few = groups.groups[id].space.count().as_const().is_some_and(|count| count <= FEW);
    let wide = |value: &&Value| !groups.shape(**value).count().is_const(1);
    let operands = groups.operands_of(id);
    let buffers = operands.iter().filter(wide).count();
    ops.len() <= 8 && ops.iter().all(views) && weight <= CHEAP && (few || buffers <= 1)
}

/// Whether `reader` may compute the group that gives `result` itself. Errors: why not.
fn accepts(
    groups: &Groups,
    id: GroupId,
    result: usize,
    reader: GroupId,
    target: &dyn Target,
) -> Result<(), String> {
    let value = groups.result(result);
    let into = &groups.groups[reader];
    let (pulled, own) = (groups.ops_of(id), groups.ops_of(reader));
    let users: Positions = own.iter().copied().filter(|at| reads(groups, *at, value)).collect();
    let mut rows = rows_of_attention(groups, reader, &own);
    if rows.iter().any(|(known, _)| *known == value) {
        // Each block of queries reads all keys: what computes them would do so for each.
        let is_order = pulled.iter().rev().all(|at| follow_rows(groups, *at, &mut rows));
        let root = groups.op(into.members[0]);
        let has_room = groups.size_of(id) + groups.size_of(reader) <= rules::MAX_OPS;
        let elsewhere = users.iter().any(|at| *at > into.members[0]);
        // Of a mask that looks the same rows up.
        for user in users.iter().filter(|at| **at != into.members[0]) {
            reads_a_tile(groups, *user, value)?;
        }
        let takes_moved = || target.fuses(groups.func, root, Place::MovedRows, groups.symbols).is_some();
        return match is_order && has_room && !elsewhere && takes_moved() {
            true => Ok(()),
            false => Err("attention reads buffers".into()),
        };
    }
    for user in &users {
        reads_a_tile(groups, *user, value)?;
    }
    let source = groups.groups[id].form == Form::Source;
    if let Form::Root(_) = into.form {
        let root = groups.kind(into.members[0]);
        let plain = pulled.iter().all(|at| {
            matches!(groups.listing.roles[*at], Role::Elementwise)
                || matches!(groups.kind(*at), TensorOp::Splat { .. } | TensorOp::Broadcast { .. })
                || matches!(root, TensorOp::Dot { .. }) && adds_units(groups, *at)
        });
        // What the root reads comes before it, its epilogue after.
        let before = users.iter().all(|user| *user <= into.members[0]);
        let pulls = (0..groups.operands(into.members[0]).len()).any(|i| rules::pulls_operand(root, i));
        if !(plain || before && pulls) {
            return Err("an epilogue takes elementwise ops only".into());
        }
    }
    if source {
        return Ok(());
    }
    if into.form == Form::Root(KernelClass::Attention) && is_of_slow_types(groups, &pulled, target) {
        return Err("its wide elements would leave half of the lanes of all scores empty".into());
    }
    if groups.size_of(id) + groups.size_of(reader) > rules::MAX_OPS {
        return Err("the kernel is full".into());
    }
    let places = places(groups, value, &own);
    if places > places::MOST {
        return Err(format!("it would be computed at {places} places"));
    }
    let mut operands = groups.operands_of_ops(reader, &own);
    operands.retain(|operand| *operand != value);
    for operand in groups.operands_of_ops(id, &pulled) {
        if !operands.contains(&operand) {
            operands.push(operand);
        }
    }
    operands.retain(|operand| !groups.is_source(*operand));
    if operands.len() > rules::MAX_OPERANDS {
        return Err(format!("the kernel would read {} buffers", operands.len()));
    }
    if is_dear(groups, &pulled, reader) {
        repeats_nothing(groups, value, reader, target)?;
    }
    Ok(())
}

fn reads(groups: &Groups, at: usize, value: Value) -> bool {
    groups.operands(at).contains(&value)
}

/// Whether an op computes a tile of its result from tiles of this operand.
fn reads_a_tile(groups: &Groups, user: usize, value: Value) -> Result<(), String> {
    let kind = groups.kind(user);
    let operands = groups.operands(user);
    match kind {
        TensorOp::Gather { .. } | TensorOp::GatherElements { .. } | TensorOp::GatherNd { .. }
            if operands[0] == value =>
        {
            Err("a gather reads a buffer".into())
        }
        _ => match groups.listing.roles[user] {
            Role::Root(_) if !pulls(kind, operands, value) => {
                Err(format!("`{}` reads buffers", tegula_ir::Op::name(kind)))
            }
            _ => Ok(()),
        },
    }
}

/// Whether an op is a reshape that only adds or drops axes of extent 1.
fn adds_units(groups: &Groups, at: usize) -> bool {
    matches!(groups.kind(at), TensorOp::Reshape { .. })
        && groups.shape(groups.operands(at)[0]).differs_by_units(groups.shape(groups.result(at)))
}

/// Whether a root computes all operands that are this value in its kernel.
fn pulls(root: &TensorOp, operands: &[Value], value: Value) -> bool {
    operands.iter().enumerate().all(|(i, operand)| *operand != value || rules::pulls_operand(root, i))
}

/// What an attention reads as queries, keys and values, and what its kernel orders anew to have them; each with the axis
/// along which its rows lie. Nothing where the reader is no attention.
fn rows_of_attention(groups: &Groups, reader: GroupId, ops: &[usize]) -> Vec<(Value, usize)> {
    /// Of queries, keys and values: `[batch, heads, rows, elements]`.
    const ROWS: usize = 2;
    if groups.groups[reader].form != Form::Root(KernelClass::Attention) {
        return vec![];
    }
    let root = groups.groups[reader].members[0];
    let operands = &groups.operands(root)[..rules::ATTENTION_MASK];
    let mut rows: Vec<(Value, usize)> = operands.iter().map(|value| (*value, ROWS)).collect();
    // Later ops first: each is behind all that read it.
    for at in ops.iter().rev().filter(|at| **at < root) {
        follow_rows(groups, *at, &mut rows);
    }
    rows
}

/// Adds the rows of an op's operand where the op makes some of these, and only orders them anew or leaves some heads out;
/// whether it does.
fn follow_rows(groups: &Groups, at: usize, rows: &mut Vec<(Value, usize)>) -> bool {
    let result = groups.result(at);
    let axes: SmallVec<[usize; 3]> =
        rows.iter().filter(|(value, _)| *value == result).map(|(_, axis)| *axis).collect();
    let before = axes.iter().map(|axis| axis_before(groups, at, *axis));
    match before.collect::<Option<SmallVec<[usize; 3]>>>() {
        Some(before) if !before.is_empty() => {
            let operand = groups.operands(at)[0];
            rows.extend(before.into_iter().map(|axis| (operand, axis)));
            true
        }
        _ => false,
    }
}

/// Where the axis of rows lies in the operand of an op that leaves each row whole, and all rows along that axis. `None`: the
/// op does otherwise. Some rows of more would do for transposed scores, whose loads end with the keys; a recipe whose
/// last block reads zeros past them needs the buffer's end there.
fn axis_before(groups: &Groups, at: usize, axis: usize) -> Option<usize> {
    let (from, to) = (groups.shape(*groups.operands(at).first()?), groups.shape(groups.result(at)));
    let last = |shape: &Shape| shape.rank().checked_sub(1);
    match groups.kind(at) {
        TensorOp::Transpose { perm } => (perm.last() == last(from).as_ref()).then(|| perm[axis]),
        TensorOp::Slice { starts, sizes, steps } => {
            let is_whole = |axis: usize| starts[axis].is_const(0) && sizes[axis] == from[axis];
            let whole = is_whole(axis) && is_whole(last(from)?) && steps.iter().all(|step| *step == 1);
            whole.then_some(axis)
        }
        TensorOp::Reshape { .. } if from.differs_by_units(to) => {
            let wide = |shape: &Shape| -> Vec<usize> {
                (0..shape.rank()).filter(|axis| !shape[*axis].is_const(1)).collect()
            };
            let (before, after) = (wide(from), wide(to));
            let ends_whole = before.last().copied() == last(from) && after.last().copied() == last(to);
            let place = after.iter().position(|wide| *wide == axis)?;
            ends_whole.then(|| before[place])
        }
        _ => None,
    }
}

/// Whether ops compute elements of a type that takes longer than `f32`.
fn is_of_slow_types(groups: &Groups, ops: &[usize], target: &dyn Target) -> bool {
    let slow = &target.preferences().slow_types;
    ops.iter().any(|at| {
        let mut values = groups.operands(*at).iter().copied().chain([groups.result(*at)]);
        values.any(|value| slow.contains(&groups.func.ty(value).dtype))
    })
}

/// Whether the ops cost their reader more than reading their result would.
fn is_dear(groups: &Groups, ops: &[usize], reader: GroupId) -> bool {
    let cheap = match groups.groups[reader].form {
        Form::Root(KernelClass::Attention) => rules::CHEAP_MASK,
        _ => CHEAP,
    };
    let weight: u32 = ops.iter().map(|at| weight(groups.kind(*at))).sum();
    // A strided read is dear too, when it happens more than once.
    weight > cheap || ops.iter().any(|at| matches!(groups.kind(*at), TensorOp::Transpose { .. }))
}

/// Whether the reader computes each element of `value` once at most.
fn repeats_nothing(
    groups: &Groups,
    value: Value,
    reader: GroupId,
    target: &dyn Target,
) -> Result<(), String> {
    let into = &groups.groups[reader];
    let (own, space) = (groups.shape(value).count(), into.space.count());
    if own != space && !narrows(&own, &space) && !only_padded(groups, value, reader) {
        return Err(format!("it would be computed again for each of {space} elements, not {own}"));
    }
    if let Form::Rows { axes, passes } = &into.form
        && !(*passes == 1 && single_read(groups, value, reader))
    {
        let row = axes.iter().fold(Dim::from(1), |row, axis| row * into.space[*axis].clone());
        let resident =
            axes.len() == 1 && row.as_const().is_some_and(|n| n <= target.preferences().resident_row);
        if !resident {
            return Err("it would be computed again in every pass over the row".into());
        }
    }
    Ok(())
}

/// Whether a reader of `space` elements reads no more than all `own` elements once, as a slice does.
fn narrows(own: &Dim, space: &Dim) -> bool {
    match (own.as_const(), space.as_const()) {
        (Some(own), Some(space)) => space <= own,
        // Slices of a batch of any size.
        _ => own.div_exact(space).and_then(|parts| parts.as_const()).is_some_and(|parts| parts > 1),
    }
}

/// Whether the value is only read by paddings, which read each element once and add others.
fn only_padded(groups: &Groups, value: Value, reader: GroupId) -> bool {
    let mut padded = groups.ops_of(reader).into_iter().filter(|at| reads(groups, *at, value));
    padded.all(|at| {
        matches!(groups.kind(at), TensorOp::Pad { .. })
            && groups.shape(groups.result(at)).count() == groups.groups[reader].space.count()
    })
}

fn single_read(groups: &Groups, value: Value, reader: GroupId) -> bool {
    let reads = groups.ops_of(reader).into_iter();
    reads.map(|at| groups.operands(at).iter().filter(|operand| **operand == value).count()).sum::<usize>()
        == 1
        && groups.results_of(reader).len() == 1
}

/// Puts reshapes whose operand is a buffer after all outside again, where they only rename it.
pub(super) fn release_reshapes(groups: &mut Groups) {
    for at in 0..groups.listing.ops.len() {
        if groups.listing.roles[at] != Role::Reshape {
            continue;
        }
        let Some(group) = groups.home(at) else { continue };
        let operand = groups.operands(at)[0];
        let inside = groups.definer(operand).is_some_and(|def| groups.holds(group, def));
        if !inside && groups.groups_of(at).count() == 1 {
            groups.release(at);
        }
    }
}
