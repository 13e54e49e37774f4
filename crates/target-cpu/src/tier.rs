//! The instructions that code may use: two tiers, and what single processors have beyond theirs.

/// The instruction sets that code may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// AVX2, FMA, F16C, BMI2.
    Avx2,
    /// `Avx2` and AVX-512 F, BW, VL, DQ, VNNI, VBMI. Of BF16 only products of pairs, where lowering makes such ops.
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

    /// The features that its code uses, as machine files spell them.
    pub const fn features(self) -> &'static [&'static str] {
        match self {
            Tier::Avx2 => &["avx2", "fma", "f16c", "bmi2"],
            Tier::Avx512 => &[
                "avx2",
                "fma",
                "f16c",
                "bmi2",
                "avx512f",
                "avx512bw",
                "avx512vl",
                "avx512dq",
                "avx512vnni",
                "avx512vbmi",
            ],
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

/// The instructions that code is made of: a tier's, and of those beyond it what single processors have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct InstructionSet {
    pub tier: Tier,
    /// `vpdpbusd`, products of bytes summed by fours: of AVX-512 always, beside AVX2 where there is AVX-VNNI.
    pub byte_dots: bool,
}

impl From<Tier> for InstructionSet {
    /// The common ground of a tier's processors.
    fn from(tier: Tier) -> InstructionSet {
        InstructionSet { tier, byte_dots: tier == Tier::Avx512 }
    }
}
