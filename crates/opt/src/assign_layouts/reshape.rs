//! What a reshape makes of a layout.

use crate::axis_groups::axis_groups;
use tegula_base::{Dim, Shape};
use tegula_ir::RegionId;
use tegula_tensor::layout::Physical;
use tegula_tensor::{Layout, TensorFunc, TensorOp, TensorType};

/// Pairs of sizes that asserts make equal, anywhere in the function; no kernel holds an assert.
pub(super) fn asserted_sizes(func: &TensorFunc) -> Vec<(Dim, Dim)> {
    fn visit(func: &TensorFunc, region: RegionId, found: &mut Vec<(Dim, Dim)>) {
        for op in func.ops_in(region) {
            match func.kind(*op) {
                TensorOp::AssertSize { left, right, .. } => found.push((left.clone(), right.clone())),
                TensorOp::Kernel { .. } => {}
                _ => func.regions_of(*op).iter().for_each(|inner| visit(func, *inner, found)),
            }
        }
    }
    let mut found = Vec::new();
    visit(func, func.body(), &mut found);
    found
}

/// The layout in which a reshape of `from` only renames its buffer; `None` when there is none.
/// Axes that become others must lie next to each other, in order.
pub(super) fn layout_after(from: &TensorType, to: &Shape, asserted: &[(Dim, Dim)]) -> Option<Layout> {
    let layout = from.layout_or_default();
    if super::lies_row_major(&from.shape, &layout) {
        return Some(Layout::row_major(to.rank()));
    }
    let groups = axis_groups(&from.shape, to, &|a, b| is_asserted(asserted, a, b))?;
    let order = layout.order()?;
    let wide: Vec<usize> = order.into_iter().filter(|axis| !from.shape[*axis].is_const(1)).collect();
    // Axes of extent 1 that come from nowhere lie behind the axis that they follow: repeated there (a resize to the
    // nearest), they become one with it.
    let comes_from_nowhere = |i: usize| !groups[i].from.clone().any(|axis| !from.shape[axis].is_const(1));
    let followers = |i: usize| (i + 1..groups.len()).take_while(|i| comes_from_nowhere(*i));
    let axes = |i: usize| groups[i].to.clone().map(Physical::Axis);
    let mut physical: Vec<Physical> =
        (0..groups.len()).take_while(|i| comes_from_nowhere(*i)).flat_map(axes).collect();
    let mut next = 0;
    while next < wide.len() {
        let group = groups.iter().position(|group| group.from.contains(&wide[next]))?;
        let own: Vec<usize> =
            groups[group].from.clone().filter(|axis| !from.shape[*axis].is_const(1)).collect();
        if wide.get(next..next + own.len()) != Some(&own[..]) {
            return None;
        }
        physical.extend(axes(group).chain(followers(group).flat_map(axes)));
        next += own.len();
    }
    (physical.len() == to.rank()).then_some(Layout(physical))
}

/// The layout nearest to that of `from` in which its reshape only renames a buffer: axes that become others are brought
/// next to each other, where the outermost of them is. `None` when sizes do not tell which axes those are.
pub(super) fn layout_before(from: &TensorType, to: &Shape, asserted: &[(Dim, Dim)]) -> Option<Layout> {
    let groups = axis_groups(&from.shape, to, &|a, b| is_asserted(asserted, a, b))?;
    let order = from.layout_or_default().order()?;
    let mut runs: Vec<Vec<usize>> = groups.into_iter().map(|group| group.from.collect()).collect();
    let wide = |axis: &&usize| !from.shape[**axis].is_const(1);
    let place = |axis: &usize| order.iter().position(|own| own == axis);
    runs.sort_by_key(|run| run.iter().filter(wide).filter_map(place).min());
    Some(Layout(runs.into_iter().flatten().map(Physical::Axis).collect()))
}

fn is_asserted(asserted: &[(Dim, Dim)], a: &Dim, b: &Dim) -> bool {
    asserted.iter().any(|(l, r)| (l == a && r == b) || (l == b && r == a))
}
