//! An entry that is built has the blocks, branches and registers that were asked for.

use tegula_isa_ptx::builder::EntryBuilder;
use tegula_isa_ptx::module::{BlockId, Inst};
use tegula_isa_ptx::op::{Add, Bra, Elect, Op, Ret, Shfl};
use tegula_isa_ptx::reg::RegClass;
use tegula_isa_ptx::{Operand, Reg};

#[test]
fn labels_end_blocks_and_branches_find_them() {
    let mut b = EntryBuilder::new("count");
    let (p, r) = (b.pred(), b.b32());
    let (again, done) = (b.label(), b.label());
    b.place(again, "again");
    b.emit(Add { d: r, a: r.into(), b: Operand::u32(1), ..Default::default() });
    b.branch_if(p, done);
    b.branch(again);
    b.place(done, "done");
    b.emit(Ret {});
    let entry = b.finish();
    let names: Vec<&str> = entry.blocks.iter().map(|block| block.name.as_str()).collect();
    assert_eq!(names, ["again", "done"]);
    let branch = &entry.blocks[0].insts[1];
    assert_eq!((branch.reads(), branch.writes()), (vec![p], vec![]));
    assert_eq!(branch.op, Bra { uni: false, target: BlockId(1) }.into());
    let sum = &entry.blocks[0].insts[0];
    assert_eq!((sum.reads(), sum.writes()), (vec![r], vec![r]));
    assert_eq!(entry.registers.dense(r), 1);
    assert_eq!(Reg::new(RegClass::B64, 7).to_string(), "%rd7");
}

/// All results are written, those that may be missing among them; addresses and guards are read.
#[test]
fn results_are_told_from_operands() {
    let mut b = EntryBuilder::new("uses");
    let (p, q, d, a, mask) = (b.pred(), b.pred(), b.b32(), b.b32(), b.b32());
    let uses = |op: Op| (op.reads(), op.writes());
    let shuffle = Shfl { d, p: Some(p), a: a.into(), mask: mask.into(), ..Default::default() };
    assert_eq!(uses(shuffle.into()), (vec![a, mask], vec![d, p]));
    let chosen = Elect { d: Some(d), p, mask: mask.into() };
    assert_eq!(uses(chosen.into()), (vec![mask], vec![d, p]));
    let guarded = Inst { guard: Some(q.into()), op: Elect { d: None, p, mask: mask.into() }.into() };
    assert_eq!((guarded.reads(), guarded.writes()), (vec![q, mask], vec![p]));
}
