//! Instructions with effects: control, memory, what lanes do together, barriers, matrices.

use tegula_isa_ptx::Op;
use tegula_isa_ptx::modifiers::*;

use super::Rows;
use crate::mma::Mma;
use crate::program::*;

/// `None`: the simulator lacks it.
pub fn body(op: &Op, rows: &mut Rows) -> Option<Body> {
    control(op, rows).or_else(|| memory(op, rows)).or_else(|| warp(op, rows)).or_else(|| barrier(op, rows))
}

fn control(op: &Op, rows: &mut Rows) -> Option<Body> {
    Some(match op {
        Op::MovSpecial(o) => Body::Special { d: rows.reg(o.d), special: o.special },
        Op::Bra(o) => Body::Branch { target: o.target.0 },
        Op::Ret(_) | Op::Exit(_) => Body::Exit,
        Op::Trap(_) => Body::Trap,
        Op::Nanosleep(_) => Body::Sleep,
        Op::GriddepLaunchDependents(_) => Body::LetDependents,
        Op::GriddepWait(_) => Body::WaitForGrids,
        Op::Prefetch(_)
        | Op::PrefetchTensormap(_)
        | Op::ApplyPriority(_)
        | Op::BulkPrefetch(_)
        | Op::TensorPrefetch(_) => Body::Hint,
        Op::CreatePolicyFractional(o) => policy(rows.reg(o.d), rows),
        Op::CreatePolicyRange(o) => policy(rows.reg(o.d), rows),
        Op::SetmaxnregInc(o) => Body::Registers { count: o.registers, grow: true },
        Op::SetmaxnregDec(o) => Body::Registers { count: o.registers, grow: false },
        _ => return None,
    })
}

/// A cache policy changes no result: any bits do.
fn policy(d: Row, rows: &mut Rows) -> Body {
    Body::Map(crate::map::Map::one(d, rows.constant(0), |a| a))
}

fn memory(op: &Op, rows: &mut Rows) -> Option<Body> {
    Some(match op {
        Op::Ld(o) => {
            let strong = o.order != LoadOrder::Weak;
            let at = rows.at(o.address);
            Body::Load(Load { space: space(o.space)?, ty: o.ty.scalar(), d: rows.regs(&o.d), at, strong })
        }
        Op::LdNc(o) => {
            let (d, at) = (rows.regs(&o.d), rows.at(o.address));
            Body::Load(Load { space: Space::Global, ty: o.ty.scalar(), d, at, strong: false })
        }
        Op::St(o) => {
            let strong = o.order != StoreOrder::Weak;
            let at = rows.at(o.address);
            Body::Store(Store { space: space(o.space)?, ty: o.ty.scalar(), a: rows.regs(&o.a), at, strong })
        }
        Op::Atom(o) => Body::Atomic(Atomic {
            space: atomic_space(o.space),
            ty: o.ty.scalar(),
            kind: AtomicKind::Op(o.op),
            d: rows.regs(&o.d),
            at: rows.at(o.address),
            b: rows.regs(&o.b),
        }),
        Op::Red(o) => Body::Atomic(Atomic {
            space: atomic_space(o.space),
            ty: o.ty.scalar(),
            kind: AtomicKind::Op(o.op),
            d: Vec::new(),
            at: rows.at(o.address),
            b: rows.regs(&o.b),
        }),
        Op::AtomExch(o) => Body::Atomic(Atomic {
            space: atomic_space(o.space),
            ty: o.ty.scalar(),
            kind: AtomicKind::Exchange,
            d: vec![rows.reg(o.d)],
            at: rows.at(o.address),
            b: vec![rows.operand(o.b)],
        }),
        Op::AtomCas(o) => Body::Atomic(Atomic {
            space: atomic_space(o.space),
            ty: o.ty.scalar(),
            kind: AtomicKind::Cas,
            d: vec![rows.reg(o.d)],
            at: rows.at(o.address),
            b: vec![rows.operand(o.expected), rows.operand(o.new)],
        }),
        Op::Cvta(o) => window(o.space, false, rows.reg(o.d), rows.operand(o.a)),
        Op::CvtaSymbol(o) => window(o.space, false, rows.reg(o.d), rows.symbol(o.symbol)),
        Op::CvtaTo(o) => window(o.space, true, rows.reg(o.d), rows.reg(o.a)),
        Op::Isspacep(o) => Body::IsSpace { space: window_space(o.space), p: rows.reg(o.p), a: rows.reg(o.a) },
        Op::Mapa(o) => Body::Mapa {
            generic: o.space == MapaSpace::Generic,
            d: rows.reg(o.d),
            a: rows.reg(o.a),
            rank: rows.operand(o.rank),
        },
        Op::GetCtaRank(o) => {
            Body::CtaRank { generic: o.space == MapaSpace::Generic, d: rows.reg(o.d), a: rows.reg(o.a) }
        }
        Op::CpAsyncCa(o) => Body::Copy(Copy {
            d: rows.at(o.d),
            a: rows.at(o.a),
            size: o.size,
            source_size: rows.opt(o.source_size),
        }),
        Op::CpAsyncCg(o) => Body::Copy(Copy {
            d: rows.at(o.d),
            a: rows.at(o.a),
            size: 16,
            source_size: rows.opt(o.source_size),
        }),
        Op::CpAsyncCommitGroup(_) => Body::CopyCommit,
        Op::CpAsyncWaitGroup(o) => Body::CopyWait { groups: Some(o.groups) },
        Op::CpAsyncWaitAll(_) => Body::CopyWait { groups: None },
        _ => return None,
    })
}

fn space(space: StateSpace) -> Option<Space> {
    Some(match space {
        StateSpace::Generic => Space::Generic,
        StateSpace::Global => Space::Global,
        StateSpace::Shared | StateSpace::SharedCta => Space::Shared,
        StateSpace::SharedCluster => Space::Cluster,
        StateSpace::Param => Space::Param,
        StateSpace::Local => Space::Local,
        StateSpace::Const => return None,
    })
}

fn atomic_space(space: AtomicSpace) -> Space {
    match space {
        AtomicSpace::Generic => Space::Generic,
        AtomicSpace::Global => Space::Global,
        AtomicSpace::Shared | AtomicSpace::SharedCta => Space::Shared,
        AtomicSpace::SharedCluster => Space::Cluster,
    }
}

fn window_space(space: WindowSpace) -> Space {
    match space {
        WindowSpace::Global => Space::Global,
        WindowSpace::Shared | WindowSpace::SharedCta => Space::Shared,
        WindowSpace::SharedCluster => Space::Cluster,
        WindowSpace::Local => Space::Local,
        WindowSpace::Param => Space::Param,
    }
}

fn window(space: WindowSpace, to_space: bool, d: Row, a: Row) -> Body {
    Body::Window { space: window_space(space), to_space, d, a }
}

fn warp(op: &Op, rows: &mut Rows) -> Option<Body> {
    Some(match op {
        Op::Shfl(o) => Body::Shuffle {
            mode: o.mode,
            d: rows.reg(o.d),
            p: o.p.map(|p| rows.reg(p)),
            a: rows.operand(o.a),
            b: rows.operand(o.b),
            clamp: rows.operand(o.clamp),
            mask: rows.operand(o.mask),
        },
        Op::Vote(o) => {
            Body::Vote { mode: o.mode, p: rows.reg(o.p), a: rows.guard(o.a), mask: rows.operand(o.mask) }
        }
        Op::Ballot(o) => Body::Ballot { d: rows.reg(o.d), a: rows.guard(o.a), mask: rows.operand(o.mask) },
        Op::MatchAny(o) => Body::Match {
            all: false,
            d: rows.reg(o.d),
            p: None,
            a: rows.operand(o.a),
            mask: rows.operand(o.mask),
        },
        Op::MatchAll(o) => Body::Match {
            all: true,
            d: rows.reg(o.d),
            p: o.p.map(|p| rows.reg(p)),
            a: rows.operand(o.a),
            mask: rows.operand(o.mask),
        },
        Op::Redux(o) => {
            let op = match o.op {
                ReduxOp::Add => AtomicOp::Add,
                ReduxOp::Min => AtomicOp::Min,
                ReduxOp::Max => AtomicOp::Max,
                ReduxOp::And => AtomicOp::And,
                ReduxOp::Or => AtomicOp::Or,
                ReduxOp::Xor => AtomicOp::Xor,
            };
            Body::Redux {
                op,
                ty: o.ty.scalar(),
                d: rows.reg(o.d),
                a: rows.reg(o.a),
                mask: rows.operand(o.mask),
            }
        }
        Op::Activemask(o) => Body::ActiveMask { d: rows.reg(o.d) },
        Op::Elect(o) => {
            Body::Elect { d: o.d.map(|d| rows.reg(d)), p: rows.reg(o.p), mask: rows.operand(o.mask) }
        }
        Op::BarWarpSync(o) => Body::WarpSync { mask: rows.operand(o.mask) },
        Op::Ldmatrix(o) => Body::Ldmatrix { trans: o.trans, d: rows.regs(&o.d), at: rows.at(o.address) },
        Op::Stmatrix(o) => Body::Stmatrix { trans: o.trans, a: rows.regs(&o.a), at: rows.at(o.address) },
        Op::Movmatrix(o) => Body::Movmatrix { d: rows.reg(o.d), a: rows.reg(o.a) },
        Op::Mma(o) => Body::Mma(Mma {
            shape: o.shape,
            satfinite: o.satfinite,
            ty: o.ty,
            d: rows.regs(&o.d),
            a: rows.regs(&o.a),
            b: rows.regs(&o.b),
            c: rows.regs(&o.c),
        }),
        _ => return None,
    })
}

fn barrier(op: &Op, rows: &mut Rows) -> Option<Body> {
    Some(match op {
        Op::BarrierSync(o) => Body::Barrier(Barrier {
            aligned: o.aligned,
            id: rows.operand(o.id),
            threads: rows.opt(o.threads),
            arrive: false,
            reduce: None,
        }),
        Op::BarrierArrive(o) => Body::Barrier(Barrier {
            aligned: o.aligned,
            id: rows.operand(o.id),
            threads: Some(rows.operand(o.threads)),
            arrive: true,
            reduce: None,
        }),
        Op::BarrierRedPopc(o) => Body::Barrier(Barrier {
            aligned: o.aligned,
            id: rows.operand(o.id),
            threads: rows.opt(o.threads),
            arrive: false,
            reduce: Some(BarrierReduce { d: rows.reg(o.d), p: rows.guard(o.p), kind: BarrierKind::Count }),
        }),
        Op::BarrierRed(o) => {
            let kind = match o.op {
                BarrierRedOp::And => BarrierKind::All,
                BarrierRedOp::Or => BarrierKind::Any,
            };
            Body::Barrier(Barrier {
                aligned: o.aligned,
                id: rows.operand(o.id),
                threads: rows.opt(o.threads),
                arrive: false,
                reduce: Some(BarrierReduce { d: rows.reg(o.d), p: rows.guard(o.p), kind }),
            })
        }
        Op::Fence(_) => Body::Fence,
        Op::FenceProxyAsync(_) => Body::ProxyFence,
        Op::FenceMbarrierInit(_) => Body::InitFence,
        Op::FenceProxyAlias(_) => Body::Hint,
        _ => return None,
    })
}
