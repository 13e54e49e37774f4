//! Walks forwards: each op joins the kernel of what it reads, where the rules allow it.
//!
//! Invariant: every group has the position of its first op, and reads groups of earlier positions only, or *leaves*:
//! groups that read arguments, constants and other leaves alone, and are sealed as soon as an earlier group reads them.
//! An op joins the latest group that it reads, leaves of another shape not counted (the widened weights of a norm), so
//! the invariant stays and no cycle of kernels can arise.

use super::groups::{Form, GroupId, Groups};
use super::rules::{self, Role};
use std::borrow::Cow;
use tegula_base::{Dim, Shape};
use tegula_ir::pass::PassCx;
use tegula_ir::{Op, ScalarOp, Value};
use tegula_tensor::TensorOp;
use tegula_tensor::facts::{COSTLY, weight};

/// Elements of a row that one thread computes again sooner than a launch begins. By arithmetic: 1024 elements at
/// [`COSTLY`] vector instructions, 16 lanes and two ports take some 260 cycles, and a launch some hundred more.
const LONG_ROW: i64 = 1024;

pub(super) fn grow(groups: &mut Groups, cx: &mut PassCx) {
    for at in 0..groups.listing.ops.len() {
        match groups.listing.roles[at] {
            Role::Host => {}
            Role::Reshape => reshape(groups, at),
            Role::Source => found(groups, at, Form::Source),
            Role::Move => found(groups, at, Form::Move),
            Role::Root(class) => found(groups, at, Form::Root(class)),
            Role::Reduce => reduce(groups, at, cx),
            Role::Elementwise => elementwise(groups, at, cx),
        }
    }
}

fn found(groups: &mut Groups, at: usize, form: Form) {
    let space = groups.shape(groups.func.results(groups.op(at))[0]);
    groups.found(at, form, space);
}

/// Adding or dropping axes of extent 1 between computed values stays inside; all other reshapes rename a buffer.
fn reshape(groups: &mut Groups, at: usize) {
    let operand = groups.operands(at)[0];
    let inside = groups.shape(operand).differs_by_units(groups.shape(groups.result(at)))
        && groups.definer(operand).and_then(|def| groups.home(def)).is_some_and(|group| {
            matches!(groups.groups[group].form, Form::Source | Form::Elementwise | Form::Move)
        });
    if inside {
        found(groups, at, Form::Move);
    }
}

fn elementwise(groups: &mut Groups, at: usize, cx: &mut PassCx) {
    if let Some(group) = latest_read(groups, at) {
        match accepts(groups, group, at) {
            Ok(()) => {
                remark(groups, at, group, cx);
                seal_leaves(groups, at, group);
                return groups.join(at, group);
            }
            Err(Some(refusal)) => cx.remark_with(groups.func.op(groups.op(at)).location.as_ref(), || {
                format!("not fused into {}: {}", describe(groups, group), refusal.reason(groups, group, at))
            }),
            Err(None) => {}
        }
    }
    found(groups, at, Form::Elementwise);
}

fn reduce(groups: &mut Groups, at: usize, cx: &mut PassCx) {
    let TensorOp::Reduce { axes, .. } = groups.kind(at) else { return };
    let operand = groups.operands(at)[0];
    let reads = latest_read(groups, at).filter(|group| !is_better_stored(groups, *group, axes));
    // Two reductions of a contraction's result read it together.
    for group in reads.into_iter().chain(reduces_alike(groups, at)) {
        let joins = groups.shape(operand) == groups.groups[group].space
            && !groups.groups[group].sealed
            && same_segment(groups, group, at)
            && has_room(groups, group, at);
        let passes = match &groups.groups[group].form {
            Form::Elementwise => Some(1),
            Form::Rows { axes: own, passes } if own == axes => Some(passes + 1),
            _ => None,
        };
        if let Some(passes) = passes.filter(|_| joins) {
            remark(groups, at, group, cx);
            groups.groups[group].form = Form::Rows { axes: axes.clone(), passes };
            return groups.join(at, group);
        }
    }
    groups.found(at, Form::Rows { axes: axes.clone(), passes: 1 }, groups.shape(operand));
}

/// Whether a reduction along `axes` reads a group's result from memory sooner than it computes it: all of it becomes one
/// number, which one thread does in several passes, and elements are costly.
fn is_better_stored(groups: &Groups, group: GroupId, axes: &[usize]) -> bool {
    let data = &groups.groups[group];
    let kept = |(axis, dim): (usize, &Dim)| !axes.contains(&axis) && !dim.is_const(1);
    data.form == Form::Elementwise
        && !data.space.iter().enumerate().any(kept)
        && data.space.count().as_const().is_none_or(|count| count > LONG_ROW)
        && data.members.iter().any(|at| weight(groups.kind(*at)) >= COSTLY)
}

/// The group of another reduction of the same value.
fn reduces_alike(groups: &Groups, at: usize) -> Option<GroupId> {
    let operand = groups.operands(at)[0];
    let users = &groups.listing.users[groups.definer(operand)?];
    let earlier =
        users.iter().filter(|user| **user < at && matches!(groups.kind(**user), TensorOp::Reduce { .. }));
    earlier.filter(|user| groups.operands(**user)[0] == operand).find_map(|user| groups.home(*user))
}

/// The group with the latest position among those that an op reads; sources can be computed anywhere and do not
/// count. `None` when the latest is no group, or nothing is read.
fn latest_read(groups: &Groups, at: usize) -> Option<GroupId> {
    let mut latest: Option<(usize, Option<GroupId>)> = None;
    for value in groups.operands(at) {
        let Some(def) = groups.definer(*value) else { continue };
        let group = groups.home(def);
        let (anywhere, position) = match group.map(|group| &groups.groups[group]) {
            Some(data) => (data.form == Form::Source, data.members[0]),
            None => (is_given(groups, def), def),
        };
        if anywhere || group.is_some_and(|group| is_aside(groups, at, group)) {
            continue;
        }
        if latest.is_none_or(|(other, _)| position > other) {
            latest = Some((position, group));
        }
    }
    latest.and_then(|(_, group)| group)
}

/// Whether a value is there before any kernel runs: a constant, or an argument or constant under another shape.
fn is_given(groups: &Groups, at: usize) -> bool {
    match groups.kind(at) {
        TensorOp::Constant { .. } => true,
        TensorOp::Reshape { .. } => match groups.definer(groups.operands(at)[0]) {
            None => true,
            Some(def) => groups.home(def).is_none() && is_given(groups, def),
        },
        _ => false,
    }
}

/// Whether a group is a leaf of another shape than an elementwise op's result.
fn is_aside(groups: &Groups, at: usize, group: GroupId) -> bool {
    let shape = groups.shape(groups.result(at));
    groups.listing.roles[at] == Role::Elementwise
        && groups.groups[group].space != shape
        && leaves_behind(groups, group).is_some()
}

/// A leaf and those that it reads; `None` where the group is none.
fn leaves_behind(groups: &Groups, group: GroupId) -> Option<Vec<GroupId>> {
    const FEW: usize = 8;
    let mut found = vec![group];
    let mut next = 0;
    while let Some(leaf) = found.get(next).copied() {
        next += 1;
        let data = &groups.groups[leaf];
        let is_plain = matches!(data.form, Form::Source | Form::Elementwise | Form::Move);
        if !is_plain || data.members.len() > FEW || found.len() > FEW {
            return None;
        }
        let mut values: Vec<Value> =
            data.members.iter().flat_map(|at| groups.operands(*at)).copied().collect();
        while let Some(value) = values.pop() {
            let Some(def) = groups.definer(value) else { continue };
            match groups.home(def) {
                Some(home) if found.contains(&home) => {}
                Some(home) => found.push(home),
                None if matches!(groups.kind(def), TensorOp::Constant { .. }) => {}
                None if matches!(groups.kind(def), TensorOp::Reshape { .. }) => {
                    values.push(groups.operands(def)[0]);
                }
                None => return None,
            }
        }
    }
    Some(found)
}

/// The leaves that an op brings into an earlier group grow no more.
fn seal_leaves(groups: &mut Groups, at: usize, group: GroupId) {
    for value in groups.operands(at) {
        let Some(other) = groups.definer(*value).and_then(|def| groups.home(def)) else { continue };
        if other != group && groups.groups[other].form != Form::Source && is_aside(groups, at, other) {
            for leaf in leaves_behind(groups, other).into_iter().flatten() {
                groups.groups[leaf].sealed = true;
            }
        }
    }
}

/// Why an elementwise op does not join a group.
enum Refusal {
    Full,
    BoundBetween,
    OtherShape,
    NoRowShape,
    NoEpilogue,
}

impl Refusal {
    fn reason(&self, groups: &Groups, group: GroupId, at: usize) -> String {
        let shape = groups.shape(groups.result(at));
        let data = &groups.groups[group];
        match self {
            Refusal::Full => "the kernel is full".into(),
            Refusal::BoundBetween => "a size gets its value between them".into(),
            Refusal::OtherShape => format!("its shape is {}, not {shape}", data.space),
            Refusal::NoRowShape => format!("{shape} is no row shape of {}", data.space),
            Refusal::NoEpilogue => format!("`{}` has no epilogue", groups.kind(data.members[0]).name()),
        }
    }
}

/// Whether an elementwise op may join a group. Errors: why not, where that is worth saying.
fn accepts(groups: &Groups, group: GroupId, at: usize) -> Result<(), Option<Refusal>> {
    let shape = groups.shape(groups.result(at));
    let data = &groups.groups[group];
    if data.sealed {
        return Err(None);
    }
    if !same_segment(groups, group, at) {
        return Err(Some(Refusal::BoundBetween));
    }
    if !has_room(groups, group, at) {
        return Err(Some(Refusal::Full));
    }
    match &data.form {
        Form::Source | Form::Move => Err(None),
        Form::Elementwise if shape == data.space => Ok(()),
        Form::Elementwise => Err(Some(Refusal::OtherShape)),
        Form::Rows { axes, .. } => match rows_shape(shape, data.space, axes) {
            true => Ok(()),
            false => Err(Some(Refusal::NoRowShape)),
        },
        Form::Root(_) => {
            let root = groups.kind(data.members[0]);
            if !rules::takes_epilogue(root) {
                return Err(Some(Refusal::NoEpilogue));
            }
            match shape == data.space {
                true => Ok(()),
                false => Err(Some(Refusal::OtherShape)),
            }
        }
    }
}

/// Whether no size is bound between a group and an op: what follows a binding may need the size, and the group runs
/// where its first member stands.
fn same_segment(groups: &Groups, group: GroupId, at: usize) -> bool {
    let segments = &groups.listing.segments;
    segments[groups.groups[group].members[0]] == segments[at]
}

/// Full, or reduced along all of `axes`.
fn rows_shape(shape: &Shape, space: &Shape, axes: &[usize]) -> bool {
    let reduced = |axis: usize, dim: &tegula_base::Dim| axes.contains(&axis) && dim.is_const(1);
    shape.rank() == space.rank()
        && (shape == space
            || shape.iter().enumerate().all(|(axis, dim)| {
                if axes.contains(&axis) { reduced(axis, dim) } else { *dim == space[axis] }
            }))
}

fn has_room(groups: &Groups, group: GroupId, at: usize) -> bool {
    groups.size_of(group) < rules::MAX_OPS && may_read(groups, group, at) && may_give(groups, group, at)
}

/// Whether a group would read few enough values with the op.
fn may_read(groups: &Groups, group: GroupId, at: usize) -> bool {
    may_read_all(groups, group, &[at])
}

/// Whether a group would read few enough values with these ops. Sources do not count: they are computed where they are read.
pub(super) fn may_read_all(groups: &Groups, group: GroupId, ops: &[usize]) -> bool {
    let operands = ops.iter().flat_map(|at| groups.operands(*at));
    if groups.groups[group].reads + operands.clone().count() <= rules::MAX_OPERANDS {
        return true;
    }
    let mut outside = groups.operands_of(group);
    for value in operands {
        let own = groups.definer(*value).is_some_and(|def| groups.holds(group, def) || ops.contains(&def));
        if !own && !outside.contains(value) {
            outside.push(*value);
        }
    }
    outside.retain(|value| !groups.is_source(*value));
    outside.len() <= rules::MAX_OPERANDS
}

/// Whether a kernel may give the op's result beside those of a group that others than the group and the op read.
fn may_give(groups: &Groups, group: GroupId, at: usize) -> bool {
    let members = &groups.groups[group].members;
    let mut leaving = members.iter().filter(|member| {
        let users = &groups.listing.users[**member];
        users.iter().any(|user| *user != at && !groups.holds(group, *user))
    });
    // Few members give few results.
    members.len() < rules::MAX_RESULTS || leaving.nth(rules::MAX_RESULTS - 1).is_none()
}

fn remark(groups: &Groups, at: usize, group: GroupId, cx: &mut PassCx) {
    cx.count("joined", 1);
    cx.remark_with(groups.func.op(groups.op(at)).location.as_ref(), || {
        format!("fused {} into {}", spell(groups.kind(at)), describe(groups, group))
    });
}

/// `add`, `reduce max`, `transpose`.
pub(super) fn spell(op: &TensorOp) -> Cow<'static, str> {
    match op {
        TensorOp::Elementwise { f: f @ (ScalarOp::Cast { .. } | ScalarOp::Bitcast { .. }) } => {
            f.to_string().into()
        }
        TensorOp::Elementwise { f } => f.name().into(),
        TensorOp::Reduce { f, .. } => format!("reduce {f}").into(),
        other => other.name().into(),
    }
}

/// The group by its first op: `dot "layer.0/matmul"`.
pub(super) fn describe(groups: &Groups, group: GroupId) -> String {
    let Some(first) = groups.groups[group].members.first() else { return "a kernel".into() };
    let kind = spell(groups.kind(*first));
    match &groups.func.op(groups.op(*first)).location {
        Some(name) => [&kind, " \"", name, "\""].concat(),
        None => kind.into_owned(),
    }
}
