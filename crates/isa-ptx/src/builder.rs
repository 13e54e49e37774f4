//! Writes an entry: fresh registers, labels placed when their code is, instructions in order.

use crate::module::{Block, BlockId, Directives, Entry, Inst, Param, ParamId, ParamType, Shared, SharedId};
use crate::op::{Bra, Op};
use crate::operand::Predicate;
use crate::reg::{Reg, RegClass};

/// An entry that grows. Instructions go to the end of the open block; the entry's first block is open at the start.
pub struct EntryBuilder {
    entry: Entry,
    /// For each label the block that it is of, once it is placed.
    labels: Vec<Option<BlockId>>,
    open: bool,
}

/// A place to branch to, placed or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label(u32);

impl EntryBuilder {
    pub fn new(name: impl Into<String>) -> EntryBuilder {
        let entry = Entry { name: name.into(), blocks: vec![Block::default()], ..Entry::default() };
        EntryBuilder { entry, labels: Vec::new(), open: true }
    }

    pub fn directives(&mut self) -> &mut Directives {
        &mut self.entry.directives
    }

    pub fn param(&mut self, name: impl Into<String>, ty: ParamType) -> ParamId {
        self.entry.params.push(Param { name: name.into(), ty });
        ParamId(self.entry.params.len() as u32 - 1)
    }

    /// Bytes of shared memory; `None`: as many as the launch gives.
    pub fn shared(&mut self, name: impl Into<String>, align: u32, size: Option<u32>) -> SharedId {
        self.entry.shared.push(Shared { name: name.into(), align, size });
        SharedId(self.entry.shared.len() as u32 - 1)
    }

    /// A register that nothing has used yet.
    pub fn fresh(&mut self, class: RegClass) -> Reg {
        self.entry.registers.fresh(class)
    }

    pub fn pred(&mut self) -> Reg {
        self.fresh(RegClass::Pred)
    }

    pub fn b16(&mut self) -> Reg {
        self.fresh(RegClass::B16)
    }

    pub fn b32(&mut self) -> Reg {
        self.fresh(RegClass::B32)
    }

    pub fn b64(&mut self) -> Reg {
        self.fresh(RegClass::B64)
    }

    pub fn emit(&mut self, op: impl Into<Op>) {
        self.push(Inst::new(op));
    }

    pub fn emit_if(&mut self, guard: impl Into<Predicate>, op: impl Into<Op>) {
        self.push(Inst::guarded(guard, op));
    }

    /// A label that is placed later.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() as u32 - 1)
    }

    /// The label means what is emitted next; the block gets a name for readers, if it has none.
    /// Panics where the label was placed before.
    pub fn place(&mut self, label: Label, name: &str) {
        if !self.open || !self.last().insts.is_empty() {
            self.entry.blocks.push(Block::default());
        }
        let last = self.last();
        if last.name.is_empty() {
            last.name = name.to_string();
        }
        self.open = true;
        let slot = &mut self.labels[label.0 as usize];
        assert!(slot.is_none(), "invariant: a label is placed once");
        *slot = Some(BlockId(self.entry.blocks.len() as u32 - 1));
    }

    /// Goes to the label.
    pub fn branch(&mut self, label: Label) {
        self.emit(Bra { uni: false, target: BlockId(label.0) });
    }

    /// Goes to the label where the predicate is true.
    pub fn branch_if(&mut self, guard: impl Into<Predicate>, label: Label) {
        self.emit_if(guard, Bra { uni: false, target: BlockId(label.0) });
    }

    fn push(&mut self, inst: Inst) {
        let is_branch = matches!(inst.op, Op::Bra(_));
        if !self.open && !is_branch {
            self.entry.blocks.push(Block::default());
        }
        self.open = !is_branch;
        self.last().insts.push(inst);
    }

    fn last(&mut self) -> &mut Block {
        self.entry.blocks.last_mut().expect("invariant: an entry has a block")
    }

    /// The entry, its branches resolved. Panics where a label that a branch names was not placed.
    pub fn finish(self) -> Entry {
        let EntryBuilder { mut entry, labels, .. } = self;
        for inst in entry.blocks.iter_mut().flat_map(|block| &mut block.insts) {
            if let Op::Bra(branch) = &mut inst.op {
                let placed = labels.get(branch.target.0 as usize).copied().flatten();
                branch.target = placed.expect("invariant: labels are placed before the end");
            }
        }
        entry
    }
}
