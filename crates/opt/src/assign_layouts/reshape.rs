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
    let equal = |a: &Dim, b: &Dim| asserted.iter().any(|(l, r)| (l == a && r == b) || (l == b && r == a));
    let groups = axis_groups(&from.shape, to, &equal)?;
    let order = layout.order()?;
    let wide: Vec<usize> = order.into_iter().filter(|axis| !from.shape[*axis].is_const(1)).collect();
    let mut physical = Vec::with_capacity(to.rank());
    // Axes of extent 1 that come from nowhere lie outermost.
    for group in &groups {
        if !group.from.clone().any(|axis| !from.shape[axis].is_const(1)) {
            physical.extend(group.to.clone().map(Physical::Axis));
        }
    }
    let mut next = 0;
    while next < wide.len() {
        let group = groups.iter().find(|group| group.from.contains(&wide[next]))?;
        let own: Vec<usize> = group.from.clone().filter(|axis| !from.shape[*axis].is_const(1)).collect();
        if wide.get(next..next + own.len()) != Some(&own[..]) {
            return None;
        }
        physical.extend(group.to.clone().map(Physical::Axis));
        next += own.len();
    }
    (physical.len() == to.rank()).then_some(Layout(physical))
}
