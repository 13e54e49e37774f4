//! Register allocation: gives every virtual register a machine register, or a home in the frame.
//!
//! Before: machine IR in which every use is reached by a definition.
//! After: [`Allocation::register`] holds a register for every operand; reloads and stores are edits between
//! instructions; copies whose sides share a register are dropped by emission.
//! Method: live ranges by dataflow ([`live`]); copies join ranges into bundles where they do not overlap;
//! bundles take registers longest first, may evict lighter ones ([`assign`]), and are split when nothing is left
//! ([`split`]): first into the loops that they pass into, at last into single instructions. After the
//! backtracking allocator of regalloc2, with occupancy kept as one bit a register and program point.
//! [`check`] proves the result by another idea: it follows the values through the code.

mod assign;
#[cfg(debug_assertions)]
mod check;
mod live;
mod sites;
mod split;

use crate::isa::Width;
use crate::mir::{Arg, Base, Class, Inst, Mem, Mir, VReg};
use crate::tier::Tier;
use tegula_base::Diagnostic;

/// What an edit moves between a register and the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditKind {
    /// Loads the register from its home.
    Reload { home: u32 },
    /// Makes a constant again, as instruction `inst` did.
    Repeat { inst: u32 },
    /// Stores the register to its home.
    Store { home: u32 },
}

/// An inserted instruction; `point` is `2 * i` before instruction `i` and `2 * i + 1` after it.
#[derive(Clone, Copy, Debug)]
pub struct Edit {
    pub point: u32,
    pub reg: VReg,
    pub kind: EditKind,
}

/// A change of the machine IR itself, where a value is split. It tells no number of the kernel, so that it can be made again
/// in another of the same skeleton.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    /// A further register, for a piece of a value.
    Piece { of: VReg },
    /// A further area of the frame.
    Area { bytes: u32 },
    /// The instruction names a piece instead of the whole.
    Rename { inst: u32, from: VReg, to: VReg },
    /// The instruction names memory instead of a register.
    Operand { inst: u32, place: u32, base: Base },
    /// A copy of a constant becomes the constant, as instruction `def` makes it.
    Constant { inst: u32, def: u32 },
}

impl Change {
    fn apply(self, mir: &mut Mir) {
        match self {
            Change::Piece { of } => mir.vregs.push(mir.vregs[of.0 as usize]),
            Change::Area { bytes } => mir.frame.push(bytes),
            Change::Rename { inst, from, to } => mir.insts[inst as usize].rename(from, to),
            Change::Operand { inst, place, base } => {
                mir.insts[inst as usize].args[place as usize] = Arg::Mem(Mem::at(base));
            }
            Change::Constant { inst, def } => {
                let constant = mir.insts[def as usize].clone();
                let copy = &mut mir.insts[inst as usize];
                let to = match (copy.args[0], constant.args[0]) {
                    (Arg::Reg(to, _), Arg::Reg(_, size)) => Arg::Reg(to, size),
                    (to, _) => to,
                };
                *copy = Inst { op: copy.op, ..constant };
                copy.args[0] = to;
            }
        }
    }
}

/// The result, to be read with the machine IR that it changed.
#[derive(Clone, Debug, Default)]
pub struct Allocation {
    /// Machine register number of each virtual register within its class.
    pub register: Vec<u8>,
    /// Sorted by point.
    pub edits: Vec<Edit>,
    /// Frame area of each home.
    pub homes: Vec<u32>,
    /// Instructions that are not emitted: dead or never needed.
    pub dropped: Vec<bool>,
    pub n_spills: usize,
    /// What was changed in the machine IR, in turn.
    pub changes: Vec<Change>,
    /// Constants behind the machine IR's own: those, repeated until they fill a register.
    pub repeated: Vec<(u32, Width)>,
}

impl Allocation {
    /// Changes the machine IR of another kernel as it did that of its own: their skeletons are equal.
    pub fn adapt(&self, mir: &mut Mir) {
        self.changes.iter().for_each(|change| change.apply(mir));
    }
}

/// All constants behind code: those that selection made, and those of an [`Allocation`].
pub fn constants(mut pool: Vec<Vec<u8>>, repeated: &[(u32, Width)]) -> Vec<Vec<u8>> {
    for &(id, width) in repeated {
        let element = &pool[id as usize];
        let whole = element.repeat(width.bytes() / element.len());
        pool.push(whole);
    }
    pool
}

/// Registers of a class that may be given, the preferred first: those that a callee may destroy, so that
/// fewer are saved.
pub fn registers(class: Class, tier: Tier) -> &'static [u8] {
    const GPRS: [u8; 15] = [0, 1, 2, 6, 7, 8, 9, 10, 11, 3, 5, 12, 13, 14, 15];
    const VECS: [u8; 32] = {
        let mut all = [0; 32];
        let mut i = 0;
        while i < 32 {
            all[i] = i as u8;
            i += 1;
        }
        all
    };
    const MASKS: [u8; 7] = [1, 2, 3, 4, 5, 6, 7];
    match (class, tier) {
        (Class::Gpr, _) => &GPRS,
        (Class::Vec, Tier::Avx2) => VECS.split_at(16).0,
        (Class::Vec, Tier::Avx512) => &VECS,
        (Class::Mask, Tier::Avx2) => &[],
        (Class::Mask, Tier::Avx512) => &MASKS,
    }
}

/// Allocates; changes instructions of `mir` where a virtual register was split.
pub fn allocate(mir: &mut Mir, tier: Tier) -> Result<Allocation, Diagnostic> {
    #[cfg(debug_assertions)]
    let original = mir.clone();
    let operands = live::Operands::new(mir);
    let liveness = live::Liveness::compute(mir, &operands);
    let allocation = assign::assign(mir, &operands, liveness, tier)?;
    #[cfg(debug_assertions)]
    check::check(&original, mir, &allocation)?;
    Ok(allocation)
}
