//! Which chip and which version of the language an instruction needs.

use std::fmt;

use crate::key::keys;

keys! {
    /// What `.target` names. `Sm90a` runs all of `Sm90`, and that runs all of the ones before.
    Target {
        Sm80 = "sm_80",
        Sm86 = "sm_86",
        Sm89 = "sm_89",
        Sm90 = "sm_90",
        /// With what only this chip has: wgmma, setmaxnreg.
        Sm90a = "sm_90a",
    }
}

/// A version of the PTX language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Version(pub u8, pub u8);

/// The least that an instruction asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    pub version: Version,
    pub target: Target,
}

impl Needs {
    /// What the lowest target has in the first version that knows it.
    pub const BASE: Needs = Needs { version: Version(7, 0), target: Target::Sm80 };

    pub fn new(target: Target, major: u8, minor: u8) -> Needs {
        Needs { version: Version(major, minor), target }
    }

    /// What does for both.
    pub fn max(self, other: Needs) -> Needs {
        Needs { version: self.version.max(other.version), target: self.target.max(other.target) }
    }

    /// `self` where the condition holds, else [`Needs::BASE`].
    pub fn when(self, condition: bool) -> Needs {
        if condition { self } else { Needs::BASE }
    }
}

impl Target {
    /// The first version of the language that has it.
    pub fn version(self) -> Version {
        match self {
            Target::Sm80 => Version(7, 0),
            Target::Sm86 => Version(7, 1),
            Target::Sm89 | Target::Sm90 => Version(7, 8),
            Target::Sm90a => Version(8, 0),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}
