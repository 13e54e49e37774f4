//! Barriers in shared memory (64 bits) that count arrivals and bytes.
//! A phase ends when no arrival and no byte is pending; the next one begins with the count of `init`.

use crate::form::{ops, rule};
use crate::modifiers::*;
use crate::operand::{Address, Operand};
use crate::reg::Reg;
use crate::target::{Needs, Target};
use crate::types::Scalar;

ops! {
    /// Arrivals a phase waits for: 1 to 2^20 - 1.
    struct MbarrierInit "mbarrier.init" { space: LocalShared, address: Address, count: Operand }
        form |v| v.key(space).word("b64").shared(address).operand(count, Scalar::U32);
        check count_rule(count);
        needs space.needs();

    struct MbarrierInval "mbarrier.inval" { space: LocalShared, address: Address }
        form |v| v.key(space).word("b64").shared(address);
        needs space.needs();

    /// Adds bytes to those that the phase waits for.
    struct MbarrierExpectTx "mbarrier.expect_tx" { order: TxOrder, space: MbarrierSpace, address: Address, bytes: Operand }
        form |v| v.key(order).key(space).word("b64").shared(address).operand(bytes, Scalar::U32);
        needs Needs::new(Target::Sm90, 8, 0);

    /// Takes bytes from those that the phase waits for.
    struct MbarrierCompleteTx "mbarrier.complete_tx" { order: TxOrder, space: MbarrierSpace, address: Address, bytes: Operand }
        form |v| v.key(order).key(space).word("b64").shared(address).operand(bytes, Scalar::U32);
        needs Needs::new(Target::Sm90, 8, 0);

    /// `count` arrivals (1 where it is missing); `state` is of the phase before. A peer's barrier gives no state.
    struct MbarrierArrive "mbarrier.arrive" {
        order: ArriveOrder, space: MbarrierSpace, state: Option<Reg>, address: Address, count: Option<Operand>,
    }
        form |v| v.key(order).key(space).word("b64")
            .sink(state, Scalar::B64).shared(address).opt_operand(count, Scalar::U32);
        check state_rule(*space, state).and(count.as_ref().map_or(Ok(()), count_rule));
        needs arrive_needs(*order, *space)
            .max(Needs::new(Target::Sm80, 7, 1).when(state.is_none()))
            .max(Needs::new(Target::Sm90, 7, 8).when(count.is_some()));

    /// Adds bytes to those that the phase waits for, then arrives once.
    struct MbarrierArriveExpectTx "mbarrier.arrive.expect_tx" {
        order: ArriveOrder, space: MbarrierSpace, state: Option<Reg>, address: Address, bytes: Operand,
    }
        form |v| v.key(order).key(space).word("b64")
            .sink(state, Scalar::B64).shared(address).operand(bytes, Scalar::U32);
        check state_rule(*space, state);
        needs Needs::new(Target::Sm90, 8, 0);

    /// Arrives `count` times without ending the phase, which would be an error.
    struct MbarrierArriveNoComplete "mbarrier.arrive.noComplete" {
        space: LocalShared, state: Reg, address: Address, count: Operand,
    }
        form |v| v.key(space).word("b64").write(state, Scalar::B64).shared(address).operand(count, Scalar::U32);
        check count_rule(count);
        needs space.needs();

    /// Arrives, and takes as many from the count of all later phases.
    struct MbarrierArriveDrop "mbarrier.arrive_drop" {
        order: ArriveOrder, space: MbarrierSpace, state: Option<Reg>, address: Address, count: Option<Operand>,
    }
        form |v| v.key(order).key(space).word("b64")
            .sink(state, Scalar::B64).shared(address).opt_operand(count, Scalar::U32);
        check state_rule(*space, state).and(count.as_ref().map_or(Ok(()), count_rule));
        needs arrive_needs(*order, *space)
            .max(Needs::new(Target::Sm90, 7, 8).when(count.is_some()));

    /// `done` = whether the phase of `state` has ended; never waits.
    struct MbarrierTestWait "mbarrier.test_wait" {
        order: WaitOrder, space: LocalShared, done: Reg, address: Address, state: Reg,
    }
        form |v| v.key(order).key(space).word("b64")
            .write(done, Scalar::Pred).shared(address).read(state, Scalar::B64);
        needs space.needs().max(order.needs());

    /// `done` = whether the phase of this parity (0 or 1) has ended; never waits.
    struct MbarrierTestWaitParity "mbarrier.test_wait.parity" {
        order: WaitOrder, space: LocalShared, done: Reg, address: Address, parity: Operand,
    }
        form |v| v.key(order).key(space).word("b64")
            .write(done, Scalar::Pred).shared(address).operand(parity, Scalar::U32);
        check parity_rule(parity);
        needs space.needs().max(order.needs()).max(Needs::new(Target::Sm80, 7, 1));

    /// As `MbarrierTestWait`, and may wait a while: at most `limit` nanoseconds, or as the machine likes.
    struct MbarrierTryWait "mbarrier.try_wait" {
        order: WaitOrder, space: LocalShared, done: Reg, address: Address, state: Reg, limit: Option<Operand>,
    }
        form |v| v.key(order).key(space).word("b64")
            .write(done, Scalar::Pred).shared(address).read(state, Scalar::B64).opt_operand(limit, Scalar::U32);
        needs Needs::new(Target::Sm90, 7, 8).max(order.needs());

    /// As `MbarrierTestWaitParity`, and may wait a while.
    struct MbarrierTryWaitParity "mbarrier.try_wait.parity" {
        order: WaitOrder, space: LocalShared, done: Reg, address: Address, parity: Operand, limit: Option<Operand>,
    }
        form |v| v.key(order).key(space).word("b64")
            .write(done, Scalar::Pred).shared(address).operand(parity, Scalar::U32).opt_operand(limit, Scalar::U32);
        check parity_rule(parity);
        needs Needs::new(Target::Sm90, 7, 8).max(order.needs());

    /// Arrivals that were pending in `state`; 32 bits.
    struct MbarrierPendingCount "mbarrier.pending_count.b64" { d: Reg, state: Reg }
        form |v| v.write(d, Scalar::B32).read(state, Scalar::B64);
}

fn state_rule(space: MbarrierSpace, state: &Option<Reg>) -> Result<(), &'static str> {
    rule(space != MbarrierSpace::Cluster || state.is_none(), "a peer's barrier gives no state")
}

fn count_rule(count: &Operand) -> Result<(), &'static str> {
    let fits = !matches!(count, Operand::Imm(count) if !(1..1 << 20).contains(count));
    rule(fits, "1 to 2^20 - 1 arrivals are counted")
}

fn parity_rule(parity: &Operand) -> Result<(), &'static str> {
    rule(!matches!(parity, Operand::Imm(2..)), "a parity is 0 or 1")
}

fn arrive_needs(order: ArriveOrder, space: MbarrierSpace) -> Needs {
    let order = match order {
        ArriveOrder::Default => Needs::BASE,
        ArriveOrder::ReleaseCta => Needs::new(Target::Sm80, 8, 0),
        ArriveOrder::ReleaseCluster => Needs::new(Target::Sm90, 8, 0),
    };
    let space = match space {
        MbarrierSpace::Shared => Needs::BASE,
        MbarrierSpace::Cta => Needs::new(Target::Sm80, 7, 8),
        MbarrierSpace::Cluster => Needs::new(Target::Sm90, 8, 0),
    };
    order.max(space)
}

impl WaitOrder {
    fn needs(self) -> Needs {
        match self {
            WaitOrder::Default => Needs::BASE,
            WaitOrder::AcquireCta => Needs::new(Target::Sm80, 8, 0),
            WaitOrder::AcquireCluster => Needs::new(Target::Sm90, 8, 0),
        }
    }
}

impl LocalShared {
    pub(crate) fn needs(self) -> Needs {
        Needs::new(Target::Sm80, 7, 8).when(self == LocalShared::Cta)
    }
}
