//! `cp.async`: copies of up to 16 bytes a thread from global to shared memory.

use crate::form::{ops, rule};
use crate::modifiers::*;
use crate::operand::{Address, Operand};
use crate::reg::Reg;
use crate::target::{Needs, Target};
use crate::types::Scalar;

ops! {
    /// Copies `size` bytes (4, 8, 16) through L1. Of the source only `source_size` bytes are read, the rest is zeros.
    struct CpAsyncCa "cp.async.ca" {
        space: LocalShared, policy: Option<Reg>, prefetch: Option<L2Prefetch>,
        d: Address, a: Address, size: u32, source_size: Option<Operand>,
    }
        form |v| v.key(space).word("global").presence(policy, "L2::cache_hint").opt_key(prefetch)
            .shared(d).global(a).immediate(size).opt_operand(source_size, Scalar::U32).opt_read(policy, Scalar::B64);
        check rule(matches!(size, 4 | 8 | 16), "4, 8 or 16 bytes are copied")
            .and(source_rule(*size, source_size, policy));
        needs copy_needs(*space, *policy, *prefetch);

    /// Copies 16 bytes through L2 only.
    struct CpAsyncCg "cp.async.cg" {
        space: LocalShared, policy: Option<Reg>, prefetch: Option<L2Prefetch>,
        d: Address, a: Address, source_size: Option<Operand>,
    }
        form |v| v.key(space).word("global").presence(policy, "L2::cache_hint").opt_key(prefetch)
            .shared(d).global(a).fixed("16").opt_operand(source_size, Scalar::U32).opt_read(policy, Scalar::B64);
        check source_rule(16, source_size, policy);
        needs copy_needs(*space, *policy, *prefetch);

    /// Closes the group of this thread's copies.
    struct CpAsyncCommitGroup "cp.async.commit_group" {}
        form |v| {};

    /// Waits until at most `groups` of the latest groups are pending.
    struct CpAsyncWaitGroup "cp.async.wait_group" { groups: u32 }
        form |v| v.immediate(groups);

    /// Waits for all of this thread's copies.
    struct CpAsyncWaitAll "cp.async.wait_all" {}
        form |v| {};

    /// An arrival when all copies of this thread before it are done. Without `noinc` it first adds 1 to the pending count.
    struct CpAsyncMbarrierArrive "cp.async.mbarrier.arrive" { noinc: bool, space: LocalShared, mbarrier: Address }
        form |v| v.flag(noinc, "noinc").key(space).word("b64").shared(mbarrier);
        needs copy_needs(*space, None, None);
}

fn copy_needs(space: LocalShared, policy: Option<Reg>, prefetch: Option<L2Prefetch>) -> Needs {
    Needs::new(Target::Sm80, 7, 4)
        .when(policy.is_some() || prefetch.is_some())
        .max(Needs::new(Target::Sm80, 7, 8).when(space == LocalShared::Cta))
}

fn source_rule(size: u32, source_size: &Option<Operand>, policy: &Option<Reg>) -> Result<(), &'static str> {
    let fits = !matches!(source_size, Some(Operand::Imm(bytes)) if *bytes > size as u64);
    rule(fits, "more bytes are read than are copied").and(rule(
        policy.is_none() || source_size.is_some(),
        "with a cache policy the source's size is written",
    ))
}
