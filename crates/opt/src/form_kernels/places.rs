//! At how many places a kernel computes a value's elements for each of its own.
//!
//! A value that is read where it is and, shifted, beside that, is computed twice, and so is all behind it: kernels that
//! grew along such a chain would compute its beginning once for each of 2^n paths.

use super::groups::Groups;
use super::rules::Role;
use tegula_base::HashMap;
use tegula_ir::Value;

/// More places are no window of neighbours any more (4 by 4): then the value is stored and read. A kernel has 96 ops,
/// so that this also bounds its text.
pub(super) const MOST: u32 = 16;

/// Readers of one value inside of a kernel.
#[derive(Clone, Copy, Default)]
struct Reads {
    /// The most places of an op that reads it where it is.
    here: u32,
    /// The places of all ops that read it elsewhere.
    elsewhere: u32,
}

/// The places at which the ops of a kernel, in order, would compute `value`.
pub(super) fn places(groups: &Groups, value: Value, ops: &[usize]) -> u32 {
    if ops.iter().all(|at| groups.listing.roles[*at] != Role::Move) {
        return 1;
    }
    let mut reads: HashMap<Value, Reads> = HashMap::default();
    let of = |reads: &HashMap<Value, Reads>, value: Value| {
        reads.get(&value).map_or(1, |found| found.here.saturating_add(found.elsewhere).max(1))
    };
    for at in ops.iter().rev() {
        let own = of(&reads, groups.result(*at));
        for operand in groups.operands(*at) {
            let found = reads.entry(*operand).or_default();
            match groups.listing.roles[*at] {
                Role::Move => found.elsewhere = found.elsewhere.saturating_add(own),
                _ => found.here = found.here.max(own),
            }
        }
    }
    of(&reads, value)
}
