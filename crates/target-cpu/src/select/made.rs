//! What several ops of a region share: a register is made at the first that asks for it, and forgotten where the region
//! ends, since what is behind it may not have passed there.

use super::{Select, Selected};
use crate::mir::VReg;
use tegula_ir::Value;

/// What a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Made {
    /// A count in `0..=lanes`, in a general register.
    Count { count: Value, lanes: u32 },
    /// A mask whose first lanes are on: a `k` register, or 32-bit lanes on AVX2.
    CountMask { count: Value, lanes: u32 },
    /// AVX2: the same in 64-bit lanes.
    WideCountMask { count: Value, lanes: u32 },
    /// AVX2: a mask in 64-bit lanes.
    WideMask(Value),
    /// AVX2: the even or the odd bytes of a value, signed or not, as 16-bit lanes.
    Bytes { of: Value, signed: bool, odd: bool },
}

/// Newest last.
#[derive(Default)]
pub(super) struct AlreadyMade(Vec<(Made, VReg)>);

impl AlreadyMade {
    pub fn add(&mut self, what: Made, reg: VReg) {
        self.0.push((what, reg));
    }

    fn find(&self, what: Made) -> Option<VReg> {
        self.0.iter().rev().find(|(made, _)| *made == what).map(|(_, reg)| *reg)
    }
}

impl Select<'_> {
    /// The register that holds `what`, which `make` makes where none does.
    pub(super) fn made(
        &mut self,
        what: Made,
        make: impl FnOnce(&mut Self) -> Selected<VReg>,
    ) -> Selected<VReg> {
        if let Some(reg) = self.made.find(what) {
            return Ok(reg);
        }
        let reg = make(self)?;
        self.made.add(what, reg);
        Ok(reg)
    }

    /// Forgets what `inside` made.
    pub(super) fn forgetting<T>(&mut self, inside: impl FnOnce(&mut Self) -> Selected<T>) -> Selected<T> {
        let before = self.made.0.len();
        let result = inside(self)?;
        self.made.0.truncate(before);
        Ok(result)
    }
}
