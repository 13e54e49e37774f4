//! Virtual registers: a class and a number within the class, in one word.
//! Registers hold untyped bits; the instruction carries the type.

use std::fmt;

/// What a register can hold. 8-bit values live in `B16`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RegClass {
    /// One bit.
    Pred,
    B16,
    #[default]
    B32,
    B64,
}

impl RegClass {
    pub const ALL: [RegClass; 4] = [RegClass::Pred, RegClass::B16, RegClass::B32, RegClass::B64];

    /// Width in bits.
    pub fn bits(self) -> u32 {
        match self {
            RegClass::Pred => 1,
            RegClass::B16 => 16,
            RegClass::B32 => 32,
            RegClass::B64 => 64,
        }
    }

    /// How names of the class begin in the text: `%p0`, `%h0`, `%r0`, `%rd0`.
    pub fn prefix(self) -> &'static str {
        match self {
            RegClass::Pred => "%p",
            RegClass::B16 => "%h",
            RegClass::B32 => "%r",
            RegClass::B64 => "%rd",
        }
    }

    /// The type that declares registers of the class.
    pub fn declared_type(self) -> &'static str {
        match self {
            RegClass::Pred => "pred",
            RegClass::B16 => "b16",
            RegClass::B32 => "b32",
            RegClass::B64 => "b64",
        }
    }
}

/// A virtual register of an entry; numbers count from 0 in each class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(u32);

const CLASS_SHIFT: u32 = 30;

impl Reg {
    /// The highest number that a class can have.
    pub const MAX_INDEX: u32 = (1 << CLASS_SHIFT) - 1;

    /// Panics where `index` is beyond [`Reg::MAX_INDEX`].
    pub fn new(class: RegClass, index: u32) -> Reg {
        assert!(index <= Reg::MAX_INDEX, "invariant: an entry has fewer than 2^30 registers of a class");
        Reg((class as u32) << CLASS_SHIFT | index)
    }

    pub fn class(self) -> RegClass {
        RegClass::ALL[(self.0 >> CLASS_SHIFT) as usize]
    }

    /// Its number within the class.
    pub fn index(self) -> u32 {
        self.0 & Reg::MAX_INDEX
    }
}

/// `%r0`; what a form's fields hold before they are filled.
impl Default for Reg {
    fn default() -> Reg {
        Reg::new(RegClass::B32, 0)
    }
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.class().prefix(), self.index())
    }
}

impl fmt::Debug for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// How many registers of each class an entry declares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RegCounts([u32; 4]);

impl RegCounts {
    pub fn get(&self, class: RegClass) -> u32 {
        self.0[class as usize]
    }

    pub fn set(&mut self, class: RegClass, count: u32) {
        self.0[class as usize] = count;
    }

    /// A register that was not there before.
    pub fn fresh(&mut self, class: RegClass) -> Reg {
        let count = &mut self.0[class as usize];
        *count += 1;
        Reg::new(class, *count - 1)
    }

    pub fn contains(&self, reg: Reg) -> bool {
        reg.index() < self.get(reg.class())
    }

    /// Of all classes together.
    pub fn total(&self) -> usize {
        self.0.iter().map(|count| *count as usize).sum()
    }

    /// A register's place when those of all classes stand in one row, in the order of the classes.
    pub fn dense(&self, reg: Reg) -> usize {
        let before: usize = self.0[..reg.class() as usize].iter().map(|count| *count as usize).sum();
        before + reg.index() as usize
    }
}
