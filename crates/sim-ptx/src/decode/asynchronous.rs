//! Instructions of the asynchronous machinery: mbarriers, bulk copies, the cluster's barrier, wgmma.

use tegula_isa_ptx::modifiers::*;
use tegula_isa_ptx::types::Scalar;
use tegula_isa_ptx::{Op, Operand};

use super::Rows;
use crate::bulk::{BulkKind, BulkOp, Extent, PeerOp, StAsyncOp};
use crate::mbarrier::{MbarrierOp, MbarrierStep};
use crate::program::*;
use crate::wgmma::{Source, Wgmma};

/// `None`: not of this kind.
pub fn body(op: &Op, rows: &mut Rows) -> Option<Body> {
    mbarrier(op, rows).map(Body::Mbarrier).or_else(|| bulk(op, rows)).or_else(|| product(op, rows))
}

fn mbarrier(op: &Op, rows: &mut Rows) -> Option<MbarrierOp> {
    let (space, address, step) = match op {
        Op::MbarrierInit(o) => {
            (Space::Shared, o.address, MbarrierStep::Init { count: rows.operand(o.count) })
        }
        Op::MbarrierInval(o) => (Space::Shared, o.address, MbarrierStep::Inval),
        Op::MbarrierExpectTx(o) => {
            (place(o.space), o.address, MbarrierStep::Expect { bytes: rows.operand(o.bytes) })
        }
        Op::MbarrierCompleteTx(o) => {
            (place(o.space), o.address, MbarrierStep::Complete { bytes: rows.operand(o.bytes) })
        }
        Op::MbarrierArrive(o) => {
            let (count, state) = (rows.opt(o.count), o.state.map(|reg| rows.reg(reg)));
            let step = MbarrierStep::Arrive { count, expect: None, drop: false, completes: true, state };
            (place(o.space), o.address, step)
        }
        Op::MbarrierArriveExpectTx(o) => {
            let (expect, state) = (Some(rows.operand(o.bytes)), o.state.map(|reg| rows.reg(reg)));
            let step = MbarrierStep::Arrive { count: None, expect, drop: false, completes: true, state };
            (place(o.space), o.address, step)
        }
        Op::MbarrierArriveNoComplete(o) => {
            let (count, state) = (Some(rows.operand(o.count)), Some(rows.reg(o.state)));
            let step = MbarrierStep::Arrive { count, expect: None, drop: false, completes: false, state };
            (Space::Shared, o.address, step)
        }
        Op::MbarrierArriveDrop(o) => {
            let (count, state) = (rows.opt(o.count), o.state.map(|reg| rows.reg(reg)));
            let step = MbarrierStep::Arrive { count, expect: None, drop: true, completes: true, state };
            (place(o.space), o.address, step)
        }
        Op::MbarrierTestWait(o) => {
            (Space::Shared, o.address, wait(rows, o.done, o.state.into(), false, false))
        }
        Op::MbarrierTestWaitParity(o) => {
            (Space::Shared, o.address, wait(rows, o.done, o.parity, true, false))
        }
        Op::MbarrierTryWait(o) => (Space::Shared, o.address, wait(rows, o.done, o.state.into(), false, true)),
        Op::MbarrierTryWaitParity(o) => (Space::Shared, o.address, wait(rows, o.done, o.parity, true, true)),
        _ => return None,
    };
    Some(MbarrierOp { space, at: rows.at(address), step })
}

fn wait(
    rows: &mut Rows,
    done: tegula_isa_ptx::Reg,
    value: Operand,
    parity: bool,
    blocks: bool,
) -> MbarrierStep {
    MbarrierStep::Wait { done: rows.reg(done), parity, value: rows.operand(value), blocks }
}

fn place(space: MbarrierSpace) -> Space {
    match space {
        MbarrierSpace::Shared | MbarrierSpace::Cta => Space::Shared,
        MbarrierSpace::Cluster => Space::Cluster,
    }
}

fn bulk(op: &Op, rows: &mut Rows) -> Option<Body> {
    Some(match op {
        Op::MbarrierPendingCount(o) => Body::PendingCount { d: rows.reg(o.d), state: rows.reg(o.state) },
        Op::CpAsyncMbarrierArrive(o) => Body::CopyArrive { noinc: o.noinc, at: rows.at(o.mbarrier) },
        Op::ClusterArrive(o) => {
            Body::ClusterArrive { aligned: o.aligned, release: o.order != ClusterArriveOrder::Relaxed }
        }
        Op::ClusterWait(o) => Body::ClusterWait { aligned: o.aligned },
        Op::BulkLoad(o) => {
            let multicast = o.multicast.map(|reg| rows.reg(reg));
            let kind = BulkKind::Load { d: rows.at(o.d), mbarrier: rows.at(o.mbarrier), multicast };
            Body::Bulk(BulkOp { kind, extent: bytes(rows, o.a, o.size) })
        }
        Op::BulkStore(o) => {
            let kind = BulkKind::Store { a: rows.at(o.a), reduce: None, ty: None };
            Body::Bulk(BulkOp { kind, extent: bytes(rows, o.d, o.size) })
        }
        Op::BulkReduce(o) => {
            let (op, ty) = reduction(o.op);
            let kind = BulkKind::Store { a: rows.at(o.a), reduce: Some(op), ty: Some(ty) };
            Body::Bulk(BulkOp { kind, extent: bytes(rows, o.d, o.size) })
        }
        Op::TensorLoad(o) if o.mode == LoadMode::Tile => {
            let multicast = o.multicast.map(|reg| rows.reg(reg));
            let kind = BulkKind::Load { d: rows.at(o.d), mbarrier: rows.at(o.mbarrier), multicast };
            Body::Bulk(BulkOp { kind, extent: boxed(rows, o.map, &o.corner) })
        }
        Op::TensorStore(o) if o.mode == StoreMode::Tile => {
            let kind = BulkKind::Store { a: rows.at(o.a), reduce: None, ty: None };
            Body::Bulk(BulkOp { kind, extent: boxed(rows, o.map, &o.corner) })
        }
        Op::TensorReduce(o) if o.mode == StoreMode::Tile => {
            let op = match o.op {
                TensorOp::Add => AtomicOp::Add,
                TensorOp::Min => AtomicOp::Min,
                TensorOp::Max => AtomicOp::Max,
                TensorOp::Inc => AtomicOp::Inc,
                TensorOp::Dec => AtomicOp::Dec,
                TensorOp::And => AtomicOp::And,
                TensorOp::Or => AtomicOp::Or,
                TensorOp::Xor => AtomicOp::Xor,
            };
            let kind = BulkKind::Store { a: rows.at(o.a), reduce: Some(op), ty: None };
            Body::Bulk(BulkOp { kind, extent: boxed(rows, o.map, &o.corner) })
        }
        Op::BulkToPeer(o) => Body::ToPeer(PeerOp {
            d: rows.at(o.d),
            a: rows.at(o.a),
            len: rows.operand(o.size),
            mbarrier: rows.at(o.mbarrier),
            reduce: None,
        }),
        Op::BulkReduceToPeer(o) => Body::ToPeer(PeerOp {
            d: rows.at(o.d),
            a: rows.at(o.a),
            len: rows.operand(o.size),
            mbarrier: rows.at(o.mbarrier),
            reduce: Some(peer_reduction(o.op)),
        }),
        Op::StAsync(o) => Body::StAsync(StAsyncOp {
            d: rows.at(o.address),
            a: rows.regs(&o.a),
            ty: o.ty.scalar(),
            mbarrier: rows.at(o.mbarrier),
        }),
        Op::BulkCommitGroup(_) => Body::BulkCommit,
        Op::BulkWaitGroup(o) => Body::BulkWait { read: o.read, groups: o.groups },
        _ => return None,
    })
}

fn bytes(rows: &mut Rows, global: tegula_isa_ptx::Address, size: Operand) -> Extent {
    Extent::Bytes { global: rows.at(global), len: rows.operand(size) }
}

fn boxed(rows: &mut Rows, map: tegula_isa_ptx::Address, corner: &[Operand]) -> Extent {
    Extent::Box { map: rows.at(map), corner: corner.iter().map(|at| rows.operand(*at)).collect() }
}

fn reduction(op: BulkReduction) -> (AtomicOp, Scalar) {
    use AtomicOp::*;
    match op {
        BulkReduction::AddNoftzF16 => (Add, Scalar::F16),
        BulkReduction::AddNoftzBF16 => (Add, Scalar::BF16),
        BulkReduction::AddF32 => (Add, Scalar::F32),
        BulkReduction::AddF64 => (Add, Scalar::F64),
        BulkReduction::AddU32 => (Add, Scalar::U32),
        BulkReduction::AddS32 => (Add, Scalar::S32),
        BulkReduction::AddU64 => (Add, Scalar::U64),
        BulkReduction::MinF16 => (Min, Scalar::F16),
        BulkReduction::MaxF16 => (Max, Scalar::F16),
        BulkReduction::MinBF16 => (Min, Scalar::BF16),
        BulkReduction::MaxBF16 => (Max, Scalar::BF16),
        BulkReduction::MinU32 => (Min, Scalar::U32),
        BulkReduction::MaxU32 => (Max, Scalar::U32),
        BulkReduction::MinS32 => (Min, Scalar::S32),
        BulkReduction::MaxS32 => (Max, Scalar::S32),
        BulkReduction::MinU64 => (Min, Scalar::U64),
        BulkReduction::MaxU64 => (Max, Scalar::U64),
        BulkReduction::MinS64 => (Min, Scalar::S64),
        BulkReduction::MaxS64 => (Max, Scalar::S64),
        BulkReduction::IncU32 => (Inc, Scalar::U32),
        BulkReduction::DecU32 => (Dec, Scalar::U32),
        BulkReduction::AndB32 => (And, Scalar::B32),
        BulkReduction::OrB32 => (Or, Scalar::B32),
        BulkReduction::XorB32 => (Xor, Scalar::B32),
        BulkReduction::AndB64 => (And, Scalar::B64),
        BulkReduction::OrB64 => (Or, Scalar::B64),
        BulkReduction::XorB64 => (Xor, Scalar::B64),
    }
}

fn peer_reduction(op: PeerReduction) -> (AtomicOp, Scalar) {
    use AtomicOp::*;
    match op {
        PeerReduction::AddU32 => (Add, Scalar::U32),
        PeerReduction::AddS32 => (Add, Scalar::S32),
        PeerReduction::AddU64 => (Add, Scalar::U64),
        PeerReduction::MinU32 => (Min, Scalar::U32),
        PeerReduction::MaxU32 => (Max, Scalar::U32),
        PeerReduction::MinS32 => (Min, Scalar::S32),
        PeerReduction::MaxS32 => (Max, Scalar::S32),
        PeerReduction::IncU32 => (Inc, Scalar::U32),
        PeerReduction::DecU32 => (Dec, Scalar::U32),
        PeerReduction::AndB32 => (And, Scalar::B32),
        PeerReduction::OrB32 => (Or, Scalar::B32),
        PeerReduction::XorB32 => (Xor, Scalar::B32),
    }
}

fn product(op: &Op, rows: &mut Rows) -> Option<Body> {
    Some(match op {
        Op::WgmmaFence(_) => Body::WgmmaFence,
        Op::WgmmaCommitGroup(_) => Body::WgmmaCommit,
        Op::WgmmaWaitGroup(o) => Body::WgmmaWait { groups: o.groups },
        Op::Wgmma(o) => Body::Wgmma(Wgmma {
            shape: o.shape,
            satfinite: o.satfinite,
            ty: o.ty,
            d: rows.regs(&o.d),
            a: Source::Shared(rows.reg(o.a)),
            b: rows.reg(o.b),
            accumulate: rows.guard(o.accumulate),
            negate: o.negate_a != o.negate_b,
            transpose_a: o.transpose_a,
            transpose_b: o.transpose_b,
        }),
        Op::WgmmaRegisters(o) => Body::Wgmma(Wgmma {
            shape: o.shape,
            satfinite: o.satfinite,
            ty: o.ty,
            d: rows.regs(&o.d),
            a: Source::Registers(rows.regs(&o.a)),
            b: rows.reg(o.b),
            accumulate: rows.guard(o.accumulate),
            negate: o.negate_a != o.negate_b,
            transpose_a: false,
            transpose_b: o.transpose_b,
        }),
        _ => return None,
    })
}
