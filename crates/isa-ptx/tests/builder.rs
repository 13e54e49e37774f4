//! An entry that is built has the blocks, branches and registers that were asked for.

use tegula_isa_ptx::builder::EntryBuilder;
use tegula_isa_ptx::module::BlockId;
use tegula_isa_ptx::op::{Add, Bra, Ret};
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
