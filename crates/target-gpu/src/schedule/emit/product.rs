//! Products: descriptors of the current slot, and one `wgmma` for each block of 64 rows and step along k.

use tegula_isa_ptx::mma::WgmmaShape;
use tegula_isa_ptx::modifiers::Compare;
use tegula_isa_ptx::op::{Add, Mov, PackWords, Wgmma, WgmmaCommitGroup, WgmmaFence};
use tegula_isa_ptx::types::{IntType2, LogicType};
use tegula_isa_ptx::{Operand, Predicate, Reg, RegList};

use super::super::asm::imm;
use super::super::plan::OperandPlan;
use super::super::{ProductId, Step};
use super::Emitter;
use super::flow::Role;

/// Registers of a product's sums, by block of 64 rows; none where the role does not compute it.
pub(super) fn sums(e: &mut Emitter, steps: &[Step], id: usize) -> Vec<RegList> {
    let computes = |step: &Step| matches!(step, Step::Multiply(product) if product.0 == id);
    if !super::super::any_step(steps, &computes) {
        return Vec::new();
    }
    let plan = &e.plan.products[id];
    let count = plan.n as usize / 2;
    (0..plan.blocks).map(|_| (0..count).map(|_| e.asm.b32()).collect()).collect()
}

/// Begins the products of the slot at `slot`, and closes their group.
pub(super) fn multiply(e: &mut Emitter, role: &Role, id: ProductId, slot: Reg) {
    let (product, plan) = (e.schedule.products[id.0], &e.plan.products[id.0]);
    let left = descriptor(e, &plan.left, slot, role.warpgroup);
    let right = descriptor(e, &plan.right, slot, role.warpgroup);
    let always = e.asm.pred();
    e.asm.emit(Mov { ty: LogicType::Pred, d: always, a: imm(1) });
    let later = e.asm.compare(Compare::Ne, role.block, imm(0));
    let shape =
        WgmmaShape::new(plan.n as usize, product.ty.k()).expect("invariant: the tile's n is one of wgmma's");
    e.asm.emit(WgmmaFence {});
    for step in 0..plan.right.starts[0].len() {
        let b = advanced(e, right, plan.right.starts[0][step]);
        for (block, sums) in role.sums[id.0].iter().enumerate() {
            let a = advanced(e, left, plan.left.starts[block][step]);
            e.asm.emit(Wgmma {
                shape,
                ty: product.ty,
                d: sums.clone(),
                a,
                b,
                accumulate: Predicate::from(if step == 0 { later } else { always }),
                transpose_a: plan.left.operand.mn_major,
                transpose_b: plan.right.operand.mn_major,
                ..Wgmma::default()
            });
        }
    }
    e.asm.emit(WgmmaCommitGroup {});
}

/// The descriptor of the warpgroup's first byte in the slot.
fn descriptor(e: &mut Emitter, plan: &OperandPlan, slot: Reg, warpgroup: Reg) -> Reg {
    let fields = plan.operand.descriptor.bits(0);
    let start = if plan.warpgroup == 0 { slot } else { e.asm.mad(warpgroup, imm(plan.warpgroup), slot) };
    let address = e.asm.field(start, 4, 14);
    let low = e.asm.add(address, imm(fields as u32));
    let high = e.asm.mov(imm((fields >> 32) as u32));
    let d = e.asm.b64();
    e.asm.emit(PackWords { d, parts: [low, high].into_iter().collect() });
    d
}

/// The descriptor so many bytes further on.
fn advanced(e: &mut Emitter, descriptor: Reg, bytes: u32) -> Reg {
    if bytes == 0 {
        return descriptor;
    }
    let d = e.asm.b64();
    let b = Operand::Imm(u64::from(bytes >> 4));
    e.asm.emit(Add { sat: false, ty: IntType2::U64, d, a: descriptor.into(), b });
    d
}
