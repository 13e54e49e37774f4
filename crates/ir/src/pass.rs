//! What a pass is given and what it says about itself.

/// Whether a pass did anything; the pipeline prints and verifies only after `Yes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    No,
    Yes,
}

impl Changed {
    pub fn if_true(changed: bool) -> Changed {
        if changed { Changed::Yes } else { Changed::No }
    }

    pub fn is_yes(self) -> bool {
        self == Changed::Yes
    }
}

impl std::ops::BitOr for Changed {
    type Output = Changed;
    fn bitor(self, other: Changed) -> Changed {
        Changed::if_true(self.is_yes() || other.is_yes())
    }
}

impl std::ops::BitOrAssign for Changed {
    fn bitor_assign(&mut self, other: Changed) {
        *self = *self | other;
    }
}
