//! Appends instructions to machine IR: registers, constants, frame areas, labels and loops.

use super::{Arg, Base, Class, Cond, Inst, Kind, Label, Loop, Mem, Mir, Size, VReg, VRegData};
use crate::isa::{Isa, Width};
use smallvec::{SmallVec, smallvec};
use tegula_base::HashMap;
use tegula_ir::OpId;

/// Appends instructions to a [`Mir`].
pub struct Builder {
    pub mir: Mir,
    /// Constants, placed at the kernel's start; allocation repeats them where registers are short.
    constants: Vec<Inst>,
    constant_ids: HashMap<(Kind, Vec<u8>), VReg>,
    pool_ids: HashMap<Vec<u8>, u32>,
    open_loops: Vec<u32>,
    areas_in_use: usize,
    /// Position after the entry moves, where the constants go.
    prelude: usize,
    pub op: Option<OpId>,
}

impl Builder {
    /// For about so many instructions.
    pub fn new(capacity: usize) -> Builder {
        let insts = Vec::with_capacity(capacity);
        let vregs = Vec::with_capacity(capacity);
        Builder {
            mir: Mir { insts, vregs, ..Mir::default() },
            constants: Vec::new(),
            constant_ids: HashMap::default(),
            pool_ids: HashMap::default(),
            open_loops: Vec::new(),
            areas_in_use: 0,
            prelude: 0,
            op: None,
        }
    }

    /// Puts the constants in their place and gives the finished list.
    pub fn finish(mut self) -> Mir {
        let n = self.constants.len() as u32;
        let at = self.prelude;
        self.mir.insts.splice(at..at, self.constants);
        for l in &mut self.mir.loops {
            l.head += n;
            l.tail += n;
        }
        self.mir
    }

    /// Constants will stand here.
    pub fn mark_prelude(&mut self) {
        self.prelude = self.mir.insts.len();
    }

    // --- registers and operands ------------------------------------------------------------------------

    fn vreg(&mut self, class: Class, size: Size) -> VReg {
        self.mir.vregs.push(VRegData { class, size });
        VReg(self.mir.vregs.len() as u32 - 1)
    }

    pub fn gpr(&mut self) -> VReg {
        self.vreg(Class::Gpr, Size::B64)
    }

    pub fn vec(&mut self, width: Width) -> VReg {
        self.vreg(Class::Vec, width.into())
    }

    pub fn mask(&mut self) -> VReg {
        self.vreg(Class::Mask, Size::K)
    }

    /// A register of the same class and size.
    pub fn like(&mut self, reg: VReg) -> VReg {
        let data = self.mir.vregs[reg.0 as usize];
        self.vreg(data.class, data.size)
    }

    /// A 64-byte aligned area of 64 bytes in the frame, to be used until [`Builder::release_areas`].
    pub fn frame_area(&mut self) -> Mem {
        if self.areas_in_use == self.mir.frame.len() {
            self.mir.frame.push(64);
        }
        self.areas_in_use += 1;
        Mem::at(Base::Frame(self.areas_in_use as u32 - 1))
    }

    /// Lets the next op use all areas again.
    pub fn release_areas(&mut self) {
        self.areas_in_use = 0;
    }

    /// A constant behind the code; its length is a power of two.
    pub fn pool(&mut self, bytes: Vec<u8>) -> Mem {
        let pool = &mut self.mir.pool;
        let id = *self.pool_ids.entry(bytes).or_insert_with_key(|bytes| {
            pool.push(bytes.clone());
            pool.len() as u32 - 1
        });
        Mem::at(Base::Pool(id))
    }

    /// The register of a constant instruction `isa dst, source`, made once a kernel.
    pub fn constant(&mut self, kind: Kind, size: Size, source: Option<Arg>) -> VReg {
        let mut key = vec![size as u8];
        match source {
            Some(Arg::Imm(value)) => key.extend(value.to_le_bytes()),
            Some(Arg::Mem(Mem { base: Base::Pool(id), .. })) => key.extend(id.to_le_bytes()),
            _ => {}
        }
        if let Some(reg) = self.constant_ids.get(&(kind, key.clone())) {
            return *reg;
        }
        let class = match size {
            Size::X | Size::Y | Size::Z => Class::Vec,
            Size::K => Class::Mask,
            _ => Class::Gpr,
        };
        // A 32-bit move fills the whole register.
        let reg = self.vreg(class, if class == Class::Gpr { Size::B64 } else { size });
        let mut args: SmallVec<[Arg; 4]> = smallvec![Arg::Reg(reg, size)];
        args.extend(source);
        self.constants.push(Inst { kind, args, mask: None, broadcast: false, op: None });
        self.constant_ids.insert((kind, key), reg);
        reg
    }

    // --- instructions ----------------------------------------------------------------------------------

    pub fn push(&mut self, kind: Kind, args: &[Arg]) -> &mut Inst {
        for arg in args {
            if let Arg::Reg(reg, size) = arg {
                let data = &mut self.mir.vregs[reg.0 as usize];
                data.size = data.size.max(*size);
            }
        }
        let inst = Inst { kind, args: SmallVec::from_slice(args), mask: None, broadcast: false, op: self.op };
        self.mir.insts.push(inst);
        self.mir.insts.last_mut().expect("invariant: just pushed")
    }

    pub fn isa(&mut self, isa: Isa, width: Width, args: &[Arg]) -> &mut Inst {
        self.push(Kind::Isa(isa, width), args)
    }

    pub fn copy_to(&mut self, to: VReg, from: VReg) {
        let size = self.mir.vregs[from.0 as usize].size;
        self.push(Kind::Move, &[Arg::Reg(to, size), Arg::Reg(from, size)]);
    }

    pub fn copy(&mut self, from: VReg) -> VReg {
        let to = self.like(from);
        self.copy_to(to, from);
        to
    }

    // --- control flow ----------------------------------------------------------------------------------

    pub fn label(&mut self) -> Label {
        self.mir.n_labels += 1;
        Label(self.mir.n_labels - 1)
    }

    pub fn bind(&mut self, label: Label) {
        self.push(Kind::Label { label, aligned: false }, &[]);
    }

    pub fn jump(&mut self, label: Label) {
        self.push(Kind::Jump(label), &[]);
    }

    pub fn branch(&mut self, cond: Cond, label: Label) {
        self.push(Kind::Branch(cond, label), &[]);
    }

    /// Opens a loop at its head; reached only by falling through and by the branch that closes it.
    pub fn open_loop(&mut self) -> Label {
        let label = self.label();
        let parent = self.open_loops.last().copied();
        if let Some(parent) = parent {
            // Only innermost heads are aligned.
            let head = self.mir.loops[parent as usize].head as usize;
            if let Kind::Label { aligned, .. } = &mut self.mir.insts[head].kind {
                *aligned = false;
            }
        }
        self.open_loops.push(self.mir.loops.len() as u32);
        let head = self.mir.insts.len() as u32;
        self.mir.loops.push(Loop { head, tail: head, parent });
        self.push(Kind::Label { label, aligned: true }, &[]);
        label
    }

    /// Closes the innermost open loop with a branch to its head.
    pub fn close_loop(&mut self, cond: Cond, head: Label) {
        let tail = self.mir.insts.len() as u32;
        self.branch(cond, head);
        let open = self.open_loops.pop().expect("invariant: loops nest");
        self.mir.loops[open as usize].tail = tail;
    }
}
