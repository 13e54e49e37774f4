//! A flow in two halves, where its words are too many for the queues.

use crate::flow::{Access, Flow, Kind, Step};

/// The first and the second half of a flow's rounds. None: it has one round.
pub(crate) fn halves(flow: &Flow) -> Option<[Flow; 2]> {
    let at = flow.loops.iter().position(|extent| *extent > 1)?;
    let first = flow.loops[at] / 2;
    let (mut a, mut b) = (flow.clone(), flow.clone());
    a.loops[at] = first;
    b.loops[at] -= first;
    let skip = |access: &mut Access| access.base += access.strides[at] * first;
    skip(&mut b.out);
    match (&mut a.kind, &mut b.kind) {
        (_, Kind::Alu { steps }) => steps.iter_mut().flat_map(Step::accesses_mut).for_each(skip),
        (_, Kind::Fold { from, .. } | Kind::Move { from, .. } | Kind::Transpose { from, .. }) => skip(from),
        (Kind::Assemble { parts: front }, Kind::Assemble { parts: back }) => {
            front.truncate(first as usize);
            back.drain(..first as usize);
        }
        (Kind::Merge { vectors: front, .. }, Kind::Merge { vectors: back, .. }) => {
            front.truncate(first as usize);
            back.drain(..first as usize);
        }
        (_, Kind::Gather { index, from, .. } | Kind::Scatter { index, from, .. }) => {
            [index, from].into_iter().for_each(skip)
        }
        (_, Kind::Product(product)) => skip(&mut product.rows),
        (_, Kind::Merge { .. } | Kind::Assemble { .. }) => return None,
    }
    Some([a, b])
}
