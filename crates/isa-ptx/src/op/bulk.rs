//! `cp.async.bulk`: copies of any multiple of 16 bytes by the copy engine (TMA).

use crate::form::{ops, rule};
use crate::modifiers::*;
use crate::operand::{Address, Operand, OperandList};
use crate::reg::Reg;
use crate::target::{Needs, Target};
use crate::types::Scalar;

const COMPLETES: &str = "mbarrier::complete_tx::bytes";

ops! {
    /// Global to shared memory; the mbarrier counts the bytes that have arrived. With `multicast` (16 bits) to the
    /// same place in each CTA of the mask, whose own mbarrier at the same place counts.
    struct BulkLoad "cp.async.bulk" {
        space: BulkDestination, multicast: Option<Reg>, policy: Option<Reg>,
        d: Address, a: Address, size: Operand, mbarrier: Address,
    }
        form |v| v.key(space).word("global").word(COMPLETES)
            .presence(multicast, "multicast::cluster").presence(policy, "L2::cache_hint")
            .shared(d).global(a).operand(size, Scalar::U32).shared(mbarrier)
            .opt_read(multicast, Scalar::B16).opt_read(policy, Scalar::B64);
        check size_rule(size).and(multicast_rule(*space, multicast));
        needs space.needs();

    /// Shared memory of this CTA to that of a peer, whose mbarrier counts the bytes.
    struct BulkToPeer "cp.async.bulk.shared::cluster.shared::cta" {
        d: Address, a: Address, size: Operand, mbarrier: Address,
    }
        form |v| v.word(COMPLETES).shared(d).shared(a).operand(size, Scalar::U32).shared(mbarrier);
        check size_rule(size);
        needs Needs::new(Target::Sm90, 8, 0);

    /// Shared to global memory, in a bulk group.
    struct BulkStore "cp.async.bulk.global.shared::cta.bulk_group" {
        policy: Option<Reg>, d: Address, a: Address, size: Operand,
    }
        form |v| v.presence(policy, "L2::cache_hint").global(d).shared(a).operand(size, Scalar::U32)
            .opt_read(policy, Scalar::B64);
        check size_rule(size);
        needs Needs::new(Target::Sm90, 8, 0);

    /// Shared memory into global memory by an operation on each element, in a bulk group.
    struct BulkReduce "cp.reduce.async.bulk.global.shared::cta.bulk_group" {
        policy: Option<Reg>, op: BulkReduction, d: Address, a: Address, size: Operand,
    }
        form |v| v.presence(policy, "L2::cache_hint").key(op)
            .global(d).shared(a).operand(size, Scalar::U32).opt_read(policy, Scalar::B64);
        check size_rule(size);
        needs Needs::new(Target::Sm90, 8, 0);

    /// Shared memory of this CTA into that of a peer by an operation on each element; its mbarrier counts the bytes.
    struct BulkReduceToPeer "cp.reduce.async.bulk.shared::cluster.shared::cta" {
        op: PeerReduction, d: Address, a: Address, size: Operand, mbarrier: Address,
    }
        form |v| v.word(COMPLETES).key(op).shared(d).shared(a).operand(size, Scalar::U32).shared(mbarrier);
        check size_rule(size);
        needs Needs::new(Target::Sm90, 8, 0);

    /// Global memory into L2.
    struct BulkPrefetch "cp.async.bulk.prefetch.L2.global" { policy: Option<Reg>, a: Address, size: Operand }
        form |v| v.presence(policy, "L2::cache_hint").global(a).operand(size, Scalar::U32)
            .opt_read(policy, Scalar::B64);
        check size_rule(size);
        needs Needs::new(Target::Sm90, 8, 0);

    /// A box of a tensor to shared memory, as `BulkLoad`; outside of the tensor there are zeros, which count too.
    struct TensorLoad "cp.async.bulk.tensor" {
        rank: TensorRank, space: BulkDestination, mode: LoadMode, multicast: Option<Reg>, policy: Option<Reg>,
        d: Address, map: Address,
        /// `s32` each, innermost first.
        corner: OperandList,
        mbarrier: Address,
        /// With `Im2col`: `rank - 2` of 16 bits.
        offsets: OperandList,
    }
        form |v| {
            v.key(rank).key(space).word("global").key(mode).word(COMPLETES)
                .presence(multicast, "multicast::cluster").presence(policy, "L2::cache_hint")
                .shared(d).tensor(map, corner, rank.count()).shared(mbarrier);
            if *mode == LoadMode::Im2col {
                v.operands(offsets, rank.count().saturating_sub(2), Scalar::U16);
            }
            v.opt_read(multicast, Scalar::B16).opt_read(policy, Scalar::B64)
        };
        check multicast_rule(*space, multicast)
            .and(rule(*mode == LoadMode::Tile || rank.count() >= 3, "`.im2col` has 3 to 5 dimensions"))
            .and(rule(*mode == LoadMode::Im2col || offsets.is_empty(), "only `.im2col` has offsets"));
        needs space.needs();

    /// A box of shared memory to a tensor, in a bulk group; what is outside of the tensor is not written.
    struct TensorStore "cp.async.bulk.tensor" {
        rank: TensorRank, mode: StoreMode, policy: Option<Reg>,
        map: Address, corner: OperandList, a: Address,
    }
        form |v| v.key(rank).word("global.shared::cta").key(mode).word("bulk_group").presence(policy, "L2::cache_hint")
            .tensor(map, corner, rank.count()).shared(a).opt_read(policy, Scalar::B64);
        check rule(*mode == StoreMode::Tile || rank.count() >= 3, "`.im2col` has 3 to 5 dimensions");
        needs Needs::new(Target::Sm90, 8, 0);

    /// A box of shared memory into a tensor by an operation on each element, in a bulk group. The map has the type.
    struct TensorReduce "cp.reduce.async.bulk.tensor" {
        rank: TensorRank, op: TensorOp, mode: StoreMode, policy: Option<Reg>,
        map: Address, corner: OperandList, a: Address,
    }
        form |v| v.key(rank).word("global.shared::cta").key(op).key(mode).word("bulk_group")
            .presence(policy, "L2::cache_hint")
            .tensor(map, corner, rank.count()).shared(a).opt_read(policy, Scalar::B64);
        check rule(*mode == StoreMode::Tile || rank.count() >= 3, "`.im2col` has 3 to 5 dimensions");
        needs Needs::new(Target::Sm90, 8, 0);

    /// A box of a tensor into L2.
    struct TensorPrefetch "cp.async.bulk.prefetch.tensor" {
        rank: TensorRank, policy: Option<Reg>, map: Address, corner: OperandList,
    }
        form |v| v.key(rank).word("L2.global.tile").presence(policy, "L2::cache_hint")
            .tensor(map, corner, rank.count()).opt_read(policy, Scalar::B64);
        needs Needs::new(Target::Sm90, 8, 0);

    /// Closes the bulk group of this thread's stores and reductions.
    struct BulkCommitGroup "cp.async.bulk.commit_group" {}
        form |v| {};
        needs Needs::new(Target::Sm90, 8, 0);

    /// Waits until at most `groups` of the latest bulk groups are pending; with `read`, until their sources are read.
    struct BulkWaitGroup "cp.async.bulk.wait_group" { read: bool, groups: u32 }
        form |v| v.flag(read, "read").immediate(groups);
        needs Needs::new(Target::Sm90, 8, 0);

    /// Changes one field of a tensor map.
    struct TensormapReplace "tensormap.replace.tile" {
        field: TensormapField, space: TensormapReplaceSpace, map: Address,
        /// Which dimension, where the field has one for each.
        ordinal: u32,
        value: Operand,
    }
        form |v| {
            v.key(field).key(space).word("b1024").word(field.width()).address(map, space.place());
            if field.has_ordinal() {
                v.immediate(ordinal);
            }
            v.operand(value, field.ty())
        };
        check rule(*ordinal < 5 && (field.has_ordinal() || *ordinal == 0), "a tensor has at most 5 dimensions")
            .and(rule(field.choices().is_none_or(|end| matches!(value, Operand::Imm(value) if *value < end)),
                "this field is one of a short list"));
        needs Needs::new(Target::Sm90a, 8, 3);

    /// Copies a tensor map from shared to global memory, released to the proxy of tensor maps. By a whole warp.
    struct TensormapCpFenceProxy "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release" {
        scope: Scope, d: Address, a: Address,
    }
        form |v| v.key(scope).word("sync.aligned").global(d).shared(a).fixed("128");
        needs Needs::new(Target::Sm90, 8, 3);
}

fn size_rule(size: &Operand) -> Result<(), &'static str> {
    rule(
        !matches!(size, Operand::Imm(bytes) if *bytes % 16 != 0 || *bytes > u32::MAX as u64),
        "a bulk copy has a multiple of 16 bytes",
    )
}

fn multicast_rule(space: BulkDestination, multicast: &Option<Reg>) -> Result<(), &'static str> {
    rule(multicast.is_none() || space == BulkDestination::Cluster, "multicast goes to `.shared::cluster`")
}

impl BulkDestination {
    fn needs(self) -> Needs {
        match self {
            BulkDestination::Cluster => Needs::new(Target::Sm90, 8, 0),
            BulkDestination::Cta => Needs::new(Target::Sm90, 8, 6),
        }
    }
}
