//! Lets kernels give narrow values instead of wide ones that are a few cheap ops away: bytes, not the numbers that they
//! stand for. What reads the numbers computes them again, and a quarter of the memory passes between them.

use super::groups::{Form, GroupId, Groups};
use super::grow::{describe, may_read_all};
use super::rules::{self, Role};
use tegula_ir::Value;
use tegula_ir::pass::PassCx;
use tegula_tensor::facts::weight;

/// What computing an element again may cost: a byte's number is a cast, a difference and a product.
const CHEAP: u32 = 3;

pub(super) fn thin_results(groups: &mut Groups, cx: &mut PassCx) {
    for at in 0..groups.listing.ops.len() {
        if let Some((chain, readers)) = thinner(groups, at) {
            cx.count("thinned", 1);
            cx.remark_with(groups.func.op(groups.op(at)).location.as_ref(), || {
                let names: Vec<String> = readers.iter().map(|reader| describe(groups, *reader)).collect();
                format!("computed again in {}: what it is made of is narrower", names.join(", "))
            });
            for reader in readers {
                chain.iter().for_each(|op| groups.copy(*op, reader));
            }
            chain.iter().rev().for_each(|op| groups.give_up(*op));
        }
    }
}

/// The ops that make a result of a narrower value in its own kernel, in order, and the kernels that read the result.
fn thinner(groups: &Groups, at: usize) -> Option<(Vec<usize>, Vec<GroupId>)> {
    let home = groups.home(at)?;
    if !is_elementwise(groups, at) || !groups.leaves(at, home) {
        return None;
    }
    let mut chain = vec![at];
    let mut cost = weight(groups.kind(at));
    loop {
        let behind = behind(groups, *chain.last()?)?;
        if groups.func.ty(behind).dtype.size() < groups.func.ty(groups.result(at)).dtype.size() {
            // A kernel that only widens a buffer gives nothing narrower.
            groups.definer(behind).filter(|def| groups.home(*def) == Some(home))?;
            break;
        }
        let def = groups.definer(behind)?;
        cost += weight(groups.kind(def));
        if groups.home(def) != Some(home) || !is_elementwise(groups, def) || cost > CHEAP {
            return None;
        }
        chain.push(def);
    }
    chain.reverse();
    let mut readers = Vec::new();
    for user in &groups.listing.users[at] {
        if groups.is_host(*user) {
            return None;
        }
        for reader in groups.groups_of(*user).filter(|reader| *reader != home) {
            if !suits(groups, reader, *user, &chain) {
                return None;
            }
            if !readers.contains(&reader) {
                readers.push(reader);
            }
        }
    }
    Some((chain, readers))
}

fn is_elementwise(groups: &Groups, at: usize) -> bool {
    groups.listing.roles[at] == Role::Elementwise
}

/// The only operand that is no constant.
fn behind(groups: &Groups, at: usize) -> Option<Value> {
    let mut others = groups.operands(at).iter().filter(|value| !groups.is_source(**value));
    let (only, more) = (*others.next()?, others.next());
    more.is_none().then_some(only)
}

/// Whether a kernel may compute the ops for an op of its own that reads their result.
fn suits(groups: &Groups, reader: GroupId, user: usize, chain: &[usize]) -> bool {
    let data = &groups.groups[reader];
    let reads_elements = match (&data.form, groups.listing.roles[user]) {
        (Form::Source | Form::Move, _) => false,
        (Form::Root(_) | Form::Elementwise, role) => role == Role::Elementwise,
        (Form::Rows { .. }, _) => true,
    };
    reads_elements
        && groups.size_of(reader) + chain.len() <= rules::MAX_OPS
        && may_read_all(groups, reader, chain)
}
