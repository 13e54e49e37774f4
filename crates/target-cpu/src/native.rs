//! From a kernel on the schedule level to x86-64 machine code.
//!
//! Before: a checked [`CpuFunc`]. After: position-independent bytes under the kernel ABI (`docs/abi.md`).

use crate::schedule::CpuFunc;
use crate::{allocate, emit, select};
use tegula_base::Diagnostic;

pub use crate::emit::Code;

/// The instruction sets that code may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// AVX2, FMA, F16C, BMI1, BMI2.
    Avx2,
    /// `Avx2` and AVX-512 F, BW, VL, DQ, VNNI, BF16.
    Avx512,
}

impl Tier {
    pub const ALL: [Tier; 2] = [Tier::Avx2, Tier::Avx512];

    pub const fn name(self) -> &'static str {
        match self {
            Tier::Avx2 => "avx2",
            Tier::Avx512 => "avx512",
        }
    }

    /// Bytes of the widest vector register.
    pub const fn vector_bytes(self) -> usize {
        match self {
            Tier::Avx2 => 32,
            Tier::Avx512 => 64,
        }
    }
}

/// Compiles a kernel for a tier.
/// Errors: internal only; e.g. a vector wider than the tier's registers, which lowering must not make.
pub fn compile(func: &CpuFunc, tier: Tier) -> Result<Code, Diagnostic> {
    let mut mir = select::select(func, tier)?;
    let allocation = allocate::allocate(&mut mir, tier)?;
    emit::emit(func, &mir, &allocation)
}
