//! Shapes and types of matrix instructions, and how many registers their fragments take.

use crate::key::{Key, keys};
use crate::target::{Needs, Target};
use crate::types::Scalar;

keys! {
    /// m x n x k of a warp's product.
    MmaShape {
        M16N8K16 = "m16n8k16", M16N8K8 = "m16n8k8", M16N8K4 = "m16n8k4", M16N8K32 = "m16n8k32",
        M16N8K64 = "m16n8k64", M8N8K4 = "m8n8k4", M8N8K16 = "m8n8k16", M8N8K32 = "m8n8k32",
    }

    /// Types of `mma.sync`: of `d`, `a`, `b` and `c`.
    MmaType {
        F32F16 = "f32.f16.f16.f32", F16F16 = "f16.f16.f16.f16", F32BF16 = "f32.bf16.bf16.f32",
        F32TF32 = "f32.tf32.tf32.f32", F64F64 = "f64.f64.f64.f64",
        S32S8S8 = "s32.s8.s8.s32", S32S8U8 = "s32.s8.u8.s32", S32U8S8 = "s32.u8.s8.s32", S32U8U8 = "s32.u8.u8.s32",
        S32S4S4 = "s32.s4.s4.s32", S32S4U4 = "s32.s4.u4.s32", S32U4S4 = "s32.u4.s4.s32", S32U4U4 = "s32.u4.u4.s32",
        F32E4M3E4M3 = "f32.e4m3.e4m3.f32", F32E4M3E5M2 = "f32.e4m3.e5m2.f32",
        F32E5M2E4M3 = "f32.e5m2.e4m3.f32", F32E5M2E5M2 = "f32.e5m2.e5m2.f32",
    }

    /// Types of `wgmma`: of the sums, of `a`, of `b`.
    WgmmaType {
        F32F16 = "f32.f16.f16", F16F16 = "f16.f16.f16", F32BF16 = "f32.bf16.bf16", F32TF32 = "f32.tf32.tf32",
        F32E4M3E4M3 = "f32.e4m3.e4m3", F32E4M3E5M2 = "f32.e4m3.e5m2",
        F32E5M2E4M3 = "f32.e5m2.e4m3", F32E5M2E5M2 = "f32.e5m2.e5m2",
        F16E4M3E4M3 = "f16.e4m3.e4m3", F16E4M3E5M2 = "f16.e4m3.e5m2",
        F16E5M2E4M3 = "f16.e5m2.e4m3", F16E5M2E5M2 = "f16.e5m2.e5m2",
        S32S8S8 = "s32.s8.s8", S32S8U8 = "s32.s8.u8", S32U8S8 = "s32.u8.s8", S32U8U8 = "s32.u8.u8",
    }
}

/// Registers of a thread's fragments; `c` has as many as `d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentCounts {
    pub d: usize,
    pub a: usize,
    pub b: usize,
}

impl MmaShape {
    /// m, n, k.
    pub fn mnk(self) -> (usize, usize, usize) {
        match self {
            MmaShape::M16N8K16 => (16, 8, 16),
            MmaShape::M16N8K8 => (16, 8, 8),
            MmaShape::M16N8K4 => (16, 8, 4),
            MmaShape::M16N8K32 => (16, 8, 32),
            MmaShape::M16N8K64 => (16, 8, 64),
            MmaShape::M8N8K4 => (8, 8, 4),
            MmaShape::M8N8K16 => (8, 8, 16),
            MmaShape::M8N8K32 => (8, 8, 32),
        }
    }
}

impl MmaType {
    /// Width in bits of an element of `a` and `b`.
    pub fn factor_bits(self) -> usize {
        use MmaType::*;
        match self {
            F32F16 | F16F16 | F32BF16 => 16,
            F32TF32 => 32,
            F64F64 => 64,
            S32S8S8 | S32S8U8 | S32U8S8 | S32U8U8 => 8,
            F32E4M3E4M3 | F32E4M3E5M2 | F32E5M2E4M3 | F32E5M2E5M2 => 8,
            S32S4S4 | S32S4U4 | S32U4S4 | S32U4U4 => 4,
        }
    }

    pub fn is_integer(self) -> bool {
        self.text().starts_with("s32")
    }

    /// What a register of `a` and `b` holds.
    pub fn factor_register(self) -> Scalar {
        if self == MmaType::F64F64 { Scalar::F64 } else { Scalar::B32 }
    }

    /// What a register of `c` and `d` holds.
    pub fn sum_register(self) -> Scalar {
        match self {
            MmaType::F64F64 => Scalar::F64,
            MmaType::F16F16 => Scalar::F16x2,
            _ if self.is_integer() => Scalar::S32,
            _ => Scalar::F32,
        }
    }

    pub fn counts(self, shape: MmaShape) -> FragmentCounts {
        let (m, n, k) = shape.mnk();
        let register = if self == MmaType::F64F64 { 64 } else { 32 };
        let sum_bits = match self {
            MmaType::F16F16 => 16,
            MmaType::F64F64 => 64,
            _ => 32,
        };
        let count = |elements: usize, bits: usize| elements * bits / (register * 32);
        FragmentCounts {
            d: count(m * n, sum_bits),
            a: count(m * k, self.factor_bits()),
            b: count(k * n, self.factor_bits()),
        }
    }

    /// Whether the language has the shape for the type.
    pub fn has(self, shape: MmaShape) -> bool {
        use MmaShape::*;
        match self {
            MmaType::F32F16 | MmaType::F16F16 | MmaType::F32BF16 => matches!(shape, M16N8K8 | M16N8K16),
            MmaType::F32TF32 => matches!(shape, M16N8K4 | M16N8K8),
            MmaType::F64F64 => matches!(shape, M8N8K4 | M16N8K4 | M16N8K8 | M16N8K16),
            _ if self.factor_bits() == 4 => matches!(shape, M8N8K32 | M16N8K32 | M16N8K64),
            _ if self.is_integer() => matches!(shape, M8N8K16 | M16N8K16 | M16N8K32),
            _ => shape == M16N8K32,
        }
    }

    pub fn needs(self, shape: MmaShape) -> Needs {
        match self {
            MmaType::F64F64 if shape != MmaShape::M8N8K4 => Needs::new(Target::Sm90, 7, 8),
            _ if self.text().contains(".e") => Needs::new(Target::Sm89, 8, 4),
            _ => Needs::BASE,
        }
    }
}

/// 64 x n x k of a warpgroup's product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WgmmaShape {
    n: u16,
    k: u16,
}

/// Every n with each k.
macro_rules! wgmma_shapes {
    ($($n:literal)*) => {
        const WGMMA_SHAPES: &[WgmmaShape] = &[$(
            WgmmaShape { n: $n, k: 16 }, WgmmaShape { n: $n, k: 32 }, WgmmaShape { n: $n, k: 8 },
        )*];
        const WGMMA_TEXTS: &[&str] = &[$(
            concat!("m64n", $n, "k16"), concat!("m64n", $n, "k32"), concat!("m64n", $n, "k8"),
        )*];
    };
}

wgmma_shapes! {
    8 16 24 32 40 48 56 64 72 80 88 96 104 112 120 128
    136 144 152 160 168 176 184 192 200 208 216 224 232 240 248 256
}

impl WgmmaShape {
    /// `n` a multiple of 8 up to 256, `k` one of 8, 16, 32; else there is none.
    pub fn new(n: usize, k: usize) -> Option<WgmmaShape> {
        WGMMA_SHAPES.iter().copied().find(|shape| shape.n() == n && shape.k() == k)
    }

    pub fn n(self) -> usize {
        self.n as usize
    }

    pub fn k(self) -> usize {
        self.k as usize
    }
}

impl Default for WgmmaShape {
    fn default() -> WgmmaShape {
        WGMMA_SHAPES[0]
    }
}

impl Key for WgmmaShape {
    fn all() -> &'static [WgmmaShape] {
        WGMMA_SHAPES
    }

    fn text(self) -> &'static str {
        let at = WGMMA_SHAPES.iter().position(|shape| *shape == self);
        WGMMA_TEXTS[at.expect("invariant: a shape is one of the table")]
    }
}

impl WgmmaType {
    /// Width in bits of an element of `a` and `b`.
    pub fn factor_bits(self) -> usize {
        use WgmmaType::*;
        match self {
            F32F16 | F16F16 | F32BF16 => 16,
            F32TF32 => 32,
            F32E4M3E4M3 | F32E4M3E5M2 | F32E5M2E4M3 | F32E5M2E5M2 | F16E4M3E4M3 | F16E4M3E5M2
            | F16E5M2E4M3 | F16E5M2E5M2 | S32S8S8 | S32S8U8 | S32U8S8 | S32U8U8 => 8,
        }
    }

    pub fn is_integer(self) -> bool {
        self.text().starts_with("s32")
    }

    pub fn needs(self) -> Needs {
        let mixed = matches!(self, WgmmaType::S32S8U8 | WgmmaType::S32U8S8);
        Needs::new(Target::Sm90a, 8, if mixed { 4 } else { 0 })
    }

    /// What a register of the sums holds.
    pub fn sum_register(self) -> Scalar {
        match &self.text()[..3] {
            "f16" => Scalar::F16x2,
            "s32" => Scalar::S32,
            _ => Scalar::F32,
        }
    }

    /// Registers of sums a thread has.
    pub fn sum_count(self, shape: WgmmaShape) -> usize {
        let packed = self.sum_register() == Scalar::F16x2;
        shape.n() / if packed { 4 } else { 2 }
    }

    /// The k of one instruction: 32 bytes.
    pub fn k(self) -> usize {
        256 / self.factor_bits()
    }

    /// Whether the language has the shape for the type.
    pub fn has(self, shape: WgmmaShape) -> bool {
        shape.k() == self.k()
            && (!self.is_integer() || shape.n() <= 32 && shape.n() != 40 || shape.n().is_multiple_of(16))
    }
}
