//! Contractions take in what unpacks their weights, where the target computes that on the way to the products.
//!
//! A contraction's kernel gets copies: several contractions may share their weights. What then has no other reader is
//! computed nowhere else.

use super::groups::{Form, Groups};
use super::grow::{describe, spell};
use tegula_backend::{Place, Target};
use tegula_ir::pass::PassCx;
use tegula_tensor::KernelClass;

pub(super) fn take_prologues(groups: &mut Groups, target: &dyn Target, cx: &mut PassCx) {
    let mut copied: Vec<usize> = Vec::new();
    for id in 0..groups.groups.len() {
        let root = groups.groups[id].members[..].first().copied();
        let Some(root) = root.filter(|_| groups.groups[id].form == Form::Root(KernelClass::Dot)) else {
            continue;
        };
        let fused = target.fuses(groups.func, groups.op(root), Place::Factors, groups.symbols);
        let Some(fused) = fused else { continue };
        cx.count("unpacked", 1);
        for op in fused.ops {
            let at =
                groups.definer(groups.func.result(op)).expect("invariant: a prologue stands in the region");
            cx.remark_with(groups.func.op(op).location.as_ref(), || {
                format!("fused {} into {}", spell(groups.kind(at)), describe(groups, id))
            });
            groups.copy(at, id);
            copied.push(at);
        }
    }
    // Readers come behind what they read.
    copied.sort_unstable();
    copied.dedup();
    for at in copied.into_iter().rev() {
        groups.give_up(at);
    }
}
