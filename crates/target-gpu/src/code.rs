//! The schedule level of the generic road: what one thread of a CTA does, as structured code.
//!
//! Regions nest as those of the tile function do; every branch is taken by all threads of the CTA alike, so that a
//! barrier may stand anywhere. Code may be added to any region that is still open: what a tile needs goes to the
//! region where the tile is defined, before the loops that use it.
//! After [`Code::finish`]: the blocks of a PTX entry.

use tegula_isa_ptx::op::Op;
use tegula_isa_ptx::{Entry, EntryBuilder, Inst, Operand, Predicate, Reg, RegClass, RegCounts};

#[derive(Clone, Debug)]
pub(crate) enum Item {
    Inst(Inst),
    Loop(Box<Loop>),
    Branch(Box<Branch>),
}

/// Runs `head`, then `body` while `go_on` is true.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    pub head: Vec<Item>,
    pub go_on: Predicate,
    pub body: Vec<Item>,
}

#[derive(Clone, Debug)]
pub(crate) struct Branch {
    pub condition: Predicate,
    pub then: Vec<Item>,
    pub other: Vec<Item>,
}

/// Code that grows.
pub(crate) struct Code {
    registers: RegCounts,
    /// Items of the open regions, outermost first.
    open: Vec<Vec<Item>>,
    /// The open region that is written to.
    level: usize,
}

impl Code {
    pub fn new() -> Code {
        Code { registers: RegCounts::default(), open: vec![Vec::new()], level: 0 }
    }

    /// Code of its own whose registers are none of this one's.
    pub fn beside(&self) -> Code {
        Code { registers: self.registers, ..Code::new() }
    }

    /// Code that was begun [`Self::beside`] this one, ended: its items.
    pub fn join(&mut self, mut other: Code) -> Vec<Item> {
        self.registers = other.registers;
        other.open.pop().expect("invariant: the outermost region is open")
    }

    // --- registers and instructions ----------------------------------------------------------------------

    pub fn fresh(&mut self, class: RegClass) -> Reg {
        self.registers.fresh(class)
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
        self.open[self.level].push(Item::Inst(Inst::new(op)));
    }

    /// The instruction runs where the guard is true; always without one.
    pub fn emit_if(&mut self, guard: Option<Predicate>, op: impl Into<Op>) {
        self.open[self.level].push(Item::Inst(Inst { guard, op: op.into() }));
    }

    /// The operand in a register.
    pub fn in_reg(&mut self, class: RegClass, value: Operand) -> Reg {
        match value {
            Operand::Reg(reg) => reg,
            Operand::Imm(_) => {
                let d = self.fresh(class);
                self.copy_to(d, value);
                d
            }
        }
    }

    /// `d = value`.
    pub fn copy_to(&mut self, d: Reg, value: Operand) {
        use tegula_isa_ptx::types::LogicType;
        let ty = match d.class() {
            RegClass::Pred => LogicType::Pred,
            RegClass::B16 => LogicType::B16,
            RegClass::B32 => LogicType::B32,
            RegClass::B64 => LogicType::B64,
        };
        self.emit(tegula_isa_ptx::op::Mov { ty, d, a: value });
    }

    // --- regions -------------------------------------------------------------------------------------------

    /// The region that is written to, counted from the outermost one.
    pub fn level(&self) -> usize {
        self.level
    }

    /// Writes to an open region from now on; gives the one before.
    pub fn set_level(&mut self, level: usize) -> usize {
        assert!(level < self.open.len(), "invariant: code goes to open regions");
        std::mem::replace(&mut self.level, level)
    }

    /// Opens a region inside of all others and writes to it.
    pub fn open(&mut self) {
        self.open.push(Vec::new());
        self.level = self.open.len() - 1;
    }

    /// Closes the innermost region; `level` is written to from now on.
    pub fn close(&mut self, level: usize) -> Vec<Item> {
        let items = self.open.pop().expect("invariant: a region was opened");
        self.set_level(level);
        items
    }

    pub fn push(&mut self, item: Item) {
        self.open[self.level].push(item);
    }

    /// Ends the code: flat blocks of an entry whose name, parameters and memory `b` has.
    pub fn finish(mut self, mut b: EntryBuilder) -> Entry {
        let items = self.open.pop().expect("invariant: the outermost region is open");
        flatten(&mut b, items);
        b.emit(tegula_isa_ptx::op::Ret {});
        let mut entry = b.finish();
        entry.registers = self.registers;
        entry
    }
}

fn flatten(b: &mut EntryBuilder, items: Vec<Item>) {
    for item in items {
        match item {
            Item::Inst(Inst { guard: None, op }) => b.emit(op),
            Item::Inst(Inst { guard: Some(guard), op }) => b.emit_if(guard, op),
            Item::Loop(inner) => {
                let (again, done) = (b.label(), b.label());
                b.place(again, "loop");
                flatten(b, inner.head);
                b.branch_if(!inner.go_on, done);
                flatten(b, inner.body);
                b.branch(again);
                b.place(done, "done");
            }
            Item::Branch(branch) => {
                let (other, done) = (b.label(), b.label());
                b.branch_if(!branch.condition, other);
                flatten(b, branch.then);
                if branch.other.is_empty() {
                    b.place(other, "end");
                    continue;
                }
                b.branch(done);
                b.place(other, "else");
                flatten(b, branch.other);
                b.place(done, "end");
            }
        }
    }
}
