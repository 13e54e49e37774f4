//! The x86-64 instructions that selection uses: one row each, with its operands' roles and its encodings.
//!
//! A row gives the roles in Intel order: `D` defines, `M` reads and writes, `U` uses, `R` uses and may be memory,
//! `I` is an immediate. Of a vector row the encodings are VEX xmm and ymm, then EVEX xmm, ymm and zmm; of a general
//! row the form with a register, with an 8-bit and with a 32-bit immediate. `Width` names the widest operand where
//! operands differ. A row that is new needs one in `sim-x86`, in `table.rs`, which runs it in tests. Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2.

use iced_x86::Code;

/// The width of a vector instruction: 128, 256 or 512 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    X,
    Y,
    Z,
}

impl Width {
    /// The narrowest register that holds so many bytes.
    pub fn of_bytes(bytes: usize) -> Option<Width> {
        match bytes {
            0..=16 => Some(Width::X),
            17..=32 => Some(Width::Y),
            33..=64 => Some(Width::Z),
            _ => None,
        }
    }

    pub const fn bytes(self) -> usize {
        match self {
            Width::X => 16,
            Width::Y => 32,
            Width::Z => 64,
        }
    }
}

/// How an instruction treats one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Def,
    Mod,
    Use,
}

macro_rules! isa {
    ($($name:ident $roles:ident [$a:ident, $b:ident, $c:ident, $d:ident, $e:ident],)*) => {
        /// An instruction without its width.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Isa { $($name),* }

        impl Isa {
            #[cfg(test)]
            const ALL: &'static [Isa] = &[$(Isa::$name),*];

            const ROWS: &'static [(&'static str, [Code; 5])] = &[
                $((stringify!($roles), [Code::$a, Code::$b, Code::$c, Code::$d, Code::$e])),*
            ];

            fn row(self) -> &'static (&'static str, [Code; 5]) {
                &Isa::ROWS[self as usize]
            }
        }
    };
}

impl Isa {
    /// The role of operand `i`; immediates are uses without a register.
    pub fn role(self, i: usize) -> Role {
        match self.row().0.as_bytes().get(i) {
            Some(b'D') => Role::Def,
            Some(b'M') => Role::Mod,
            _ => Role::Use,
        }
    }

    /// Whether operand `i` may stand in memory instead of a register.
    pub fn allows_memory(self, i: usize) -> bool {
        self.row().0.as_bytes().get(i) == Some(&b'R')
    }

    /// Whether the row is of general registers: those come last in the table.
    pub fn is_general(self) -> bool {
        self as usize >= Isa::Add as usize
    }

    pub fn vex(self, width: Width) -> Code {
        match width {
            Width::X => self.row().1[0],
            Width::Y => self.row().1[1],
            Width::Z => Code::INVALID,
        }
    }

    pub fn evex(self, width: Width) -> Code {
        self.row().1[2 + width as usize]
    }

    pub fn register_form(self) -> Code {
        self.row().1[0]
    }

    pub fn imm8_form(self) -> Code {
        self.row().1[1]
    }

    pub fn imm32_form(self) -> Code {
        self.row().1[2]
    }
}

isa! {
    Vaddps DUR [VEX_Vaddps_xmm_xmm_xmmm128, VEX_Vaddps_ymm_ymm_ymmm256, EVEX_Vaddps_xmm_k1z_xmm_xmmm128b32, EVEX_Vaddps_ymm_k1z_ymm_ymmm256b32, EVEX_Vaddps_zmm_k1z_zmm_zmmm512b32_er],
    Vaddpd DUR [VEX_Vaddpd_xmm_xmm_xmmm128, VEX_Vaddpd_ymm_ymm_ymmm256, EVEX_Vaddpd_xmm_k1z_xmm_xmmm128b64, EVEX_Vaddpd_ymm_k1z_ymm_ymmm256b64, EVEX_Vaddpd_zmm_k1z_zmm_zmmm512b64_er],
    Vsubps DUR [VEX_Vsubps_xmm_xmm_xmmm128, VEX_Vsubps_ymm_ymm_ymmm256, EVEX_Vsubps_xmm_k1z_xmm_xmmm128b32, EVEX_Vsubps_ymm_k1z_ymm_ymmm256b32, EVEX_Vsubps_zmm_k1z_zmm_zmmm512b32_er],
    Vsubpd DUR [VEX_Vsubpd_xmm_xmm_xmmm128, VEX_Vsubpd_ymm_ymm_ymmm256, EVEX_Vsubpd_xmm_k1z_xmm_xmmm128b64, EVEX_Vsubpd_ymm_k1z_ymm_ymmm256b64, EVEX_Vsubpd_zmm_k1z_zmm_zmmm512b64_er],
    Vmulps DUR [VEX_Vmulps_xmm_xmm_xmmm128, VEX_Vmulps_ymm_ymm_ymmm256, EVEX_Vmulps_xmm_k1z_xmm_xmmm128b32, EVEX_Vmulps_ymm_k1z_ymm_ymmm256b32, EVEX_Vmulps_zmm_k1z_zmm_zmmm512b32_er],
    Vmulpd DUR [VEX_Vmulpd_xmm_xmm_xmmm128, VEX_Vmulpd_ymm_ymm_ymmm256, EVEX_Vmulpd_xmm_k1z_xmm_xmmm128b64, EVEX_Vmulpd_ymm_k1z_ymm_ymmm256b64, EVEX_Vmulpd_zmm_k1z_zmm_zmmm512b64_er],
    Vdivps DUR [VEX_Vdivps_xmm_xmm_xmmm128, VEX_Vdivps_ymm_ymm_ymmm256, EVEX_Vdivps_xmm_k1z_xmm_xmmm128b32, EVEX_Vdivps_ymm_k1z_ymm_ymmm256b32, EVEX_Vdivps_zmm_k1z_zmm_zmmm512b32_er],
    Vdivpd DUR [VEX_Vdivpd_xmm_xmm_xmmm128, VEX_Vdivpd_ymm_ymm_ymmm256, EVEX_Vdivpd_xmm_k1z_xmm_xmmm128b64, EVEX_Vdivpd_ymm_k1z_ymm_ymmm256b64, EVEX_Vdivpd_zmm_k1z_zmm_zmmm512b64_er],
    Vminps DUR [VEX_Vminps_xmm_xmm_xmmm128, VEX_Vminps_ymm_ymm_ymmm256, EVEX_Vminps_xmm_k1z_xmm_xmmm128b32, EVEX_Vminps_ymm_k1z_ymm_ymmm256b32, EVEX_Vminps_zmm_k1z_zmm_zmmm512b32_sae],
    Vminpd DUR [VEX_Vminpd_xmm_xmm_xmmm128, VEX_Vminpd_ymm_ymm_ymmm256, EVEX_Vminpd_xmm_k1z_xmm_xmmm128b64, EVEX_Vminpd_ymm_k1z_ymm_ymmm256b64, EVEX_Vminpd_zmm_k1z_zmm_zmmm512b64_sae],
    Vmaxps DUR [VEX_Vmaxps_xmm_xmm_xmmm128, VEX_Vmaxps_ymm_ymm_ymmm256, EVEX_Vmaxps_xmm_k1z_xmm_xmmm128b32, EVEX_Vmaxps_ymm_k1z_ymm_ymmm256b32, EVEX_Vmaxps_zmm_k1z_zmm_zmmm512b32_sae],
    Vmaxpd DUR [VEX_Vmaxpd_xmm_xmm_xmmm128, VEX_Vmaxpd_ymm_ymm_ymmm256, EVEX_Vmaxpd_xmm_k1z_xmm_xmmm128b64, EVEX_Vmaxpd_ymm_k1z_ymm_ymmm256b64, EVEX_Vmaxpd_zmm_k1z_zmm_zmmm512b64_sae],
    Vpaddd DUR [VEX_Vpaddd_xmm_xmm_xmmm128, VEX_Vpaddd_ymm_ymm_ymmm256, EVEX_Vpaddd_xmm_k1z_xmm_xmmm128b32, EVEX_Vpaddd_ymm_k1z_ymm_ymmm256b32, EVEX_Vpaddd_zmm_k1z_zmm_zmmm512b32],
    Vpaddq DUR [VEX_Vpaddq_xmm_xmm_xmmm128, VEX_Vpaddq_ymm_ymm_ymmm256, EVEX_Vpaddq_xmm_k1z_xmm_xmmm128b64, EVEX_Vpaddq_ymm_k1z_ymm_ymmm256b64, EVEX_Vpaddq_zmm_k1z_zmm_zmmm512b64],
    Vpsubd DUR [VEX_Vpsubd_xmm_xmm_xmmm128, VEX_Vpsubd_ymm_ymm_ymmm256, EVEX_Vpsubd_xmm_k1z_xmm_xmmm128b32, EVEX_Vpsubd_ymm_k1z_ymm_ymmm256b32, EVEX_Vpsubd_zmm_k1z_zmm_zmmm512b32],
    Vpsubq DUR [VEX_Vpsubq_xmm_xmm_xmmm128, VEX_Vpsubq_ymm_ymm_ymmm256, EVEX_Vpsubq_xmm_k1z_xmm_xmmm128b64, EVEX_Vpsubq_ymm_k1z_ymm_ymmm256b64, EVEX_Vpsubq_zmm_k1z_zmm_zmmm512b64],
    Vpmulld DUR [VEX_Vpmulld_xmm_xmm_xmmm128, VEX_Vpmulld_ymm_ymm_ymmm256, EVEX_Vpmulld_xmm_k1z_xmm_xmmm128b32, EVEX_Vpmulld_ymm_k1z_ymm_ymmm256b32, EVEX_Vpmulld_zmm_k1z_zmm_zmmm512b32],
    Vpmuludq DUR [VEX_Vpmuludq_xmm_xmm_xmmm128, VEX_Vpmuludq_ymm_ymm_ymmm256, EVEX_Vpmuludq_xmm_k1z_xmm_xmmm128b64, EVEX_Vpmuludq_ymm_k1z_ymm_ymmm256b64, EVEX_Vpmuludq_zmm_k1z_zmm_zmmm512b64],
    Vpminsd DUR [VEX_Vpminsd_xmm_xmm_xmmm128, VEX_Vpminsd_ymm_ymm_ymmm256, EVEX_Vpminsd_xmm_k1z_xmm_xmmm128b32, EVEX_Vpminsd_ymm_k1z_ymm_ymmm256b32, EVEX_Vpminsd_zmm_k1z_zmm_zmmm512b32],
    Vpmaxsd DUR [VEX_Vpmaxsd_xmm_xmm_xmmm128, VEX_Vpmaxsd_ymm_ymm_ymmm256, EVEX_Vpmaxsd_xmm_k1z_xmm_xmmm128b32, EVEX_Vpmaxsd_ymm_k1z_ymm_ymmm256b32, EVEX_Vpmaxsd_zmm_k1z_zmm_zmmm512b32],
    Vpminud DUR [VEX_Vpminud_xmm_xmm_xmmm128, VEX_Vpminud_ymm_ymm_ymmm256, EVEX_Vpminud_xmm_k1z_xmm_xmmm128b32, EVEX_Vpminud_ymm_k1z_ymm_ymmm256b32, EVEX_Vpminud_zmm_k1z_zmm_zmmm512b32],
    Vpmaxud DUR [VEX_Vpmaxud_xmm_xmm_xmmm128, VEX_Vpmaxud_ymm_ymm_ymmm256, EVEX_Vpmaxud_xmm_k1z_xmm_xmmm128b32, EVEX_Vpmaxud_ymm_k1z_ymm_ymmm256b32, EVEX_Vpmaxud_zmm_k1z_zmm_zmmm512b32],
    Vpsllvd DUR [VEX_Vpsllvd_xmm_xmm_xmmm128, VEX_Vpsllvd_ymm_ymm_ymmm256, EVEX_Vpsllvd_xmm_k1z_xmm_xmmm128b32, EVEX_Vpsllvd_ymm_k1z_ymm_ymmm256b32, EVEX_Vpsllvd_zmm_k1z_zmm_zmmm512b32],
    Vpsllvq DUR [VEX_Vpsllvq_xmm_xmm_xmmm128, VEX_Vpsllvq_ymm_ymm_ymmm256, EVEX_Vpsllvq_xmm_k1z_xmm_xmmm128b64, EVEX_Vpsllvq_ymm_k1z_ymm_ymmm256b64, EVEX_Vpsllvq_zmm_k1z_zmm_zmmm512b64],
    Vpsrlvd DUR [VEX_Vpsrlvd_xmm_xmm_xmmm128, VEX_Vpsrlvd_ymm_ymm_ymmm256, EVEX_Vpsrlvd_xmm_k1z_xmm_xmmm128b32, EVEX_Vpsrlvd_ymm_k1z_ymm_ymmm256b32, EVEX_Vpsrlvd_zmm_k1z_zmm_zmmm512b32],
    Vpsrlvq DUR [VEX_Vpsrlvq_xmm_xmm_xmmm128, VEX_Vpsrlvq_ymm_ymm_ymmm256, EVEX_Vpsrlvq_xmm_k1z_xmm_xmmm128b64, EVEX_Vpsrlvq_ymm_k1z_ymm_ymmm256b64, EVEX_Vpsrlvq_zmm_k1z_zmm_zmmm512b64],
    Vpsravd DUR [VEX_Vpsravd_xmm_xmm_xmmm128, VEX_Vpsravd_ymm_ymm_ymmm256, EVEX_Vpsravd_xmm_k1z_xmm_xmmm128b32, EVEX_Vpsravd_ymm_k1z_ymm_ymmm256b32, EVEX_Vpsravd_zmm_k1z_zmm_zmmm512b32],
    Vpmaddubsw DUR [VEX_Vpmaddubsw_xmm_xmm_xmmm128, VEX_Vpmaddubsw_ymm_ymm_ymmm256, EVEX_Vpmaddubsw_xmm_k1z_xmm_xmmm128, EVEX_Vpmaddubsw_ymm_k1z_ymm_ymmm256, EVEX_Vpmaddubsw_zmm_k1z_zmm_zmmm512],
    Vpmaddwd DUR [VEX_Vpmaddwd_xmm_xmm_xmmm128, VEX_Vpmaddwd_ymm_ymm_ymmm256, EVEX_Vpmaddwd_xmm_k1z_xmm_xmmm128, EVEX_Vpmaddwd_ymm_k1z_ymm_ymmm256, EVEX_Vpmaddwd_zmm_k1z_zmm_zmmm512],
    Vpshufb DUR [VEX_Vpshufb_xmm_xmm_xmmm128, VEX_Vpshufb_ymm_ymm_ymmm256, EVEX_Vpshufb_xmm_k1z_xmm_xmmm128, EVEX_Vpshufb_ymm_k1z_ymm_ymmm256, EVEX_Vpshufb_zmm_k1z_zmm_zmmm512],
    Vpunpckldq DUR [VEX_Vpunpckldq_xmm_xmm_xmmm128, VEX_Vpunpckldq_ymm_ymm_ymmm256, EVEX_Vpunpckldq_xmm_k1z_xmm_xmmm128b32, EVEX_Vpunpckldq_ymm_k1z_ymm_ymmm256b32, EVEX_Vpunpckldq_zmm_k1z_zmm_zmmm512b32],
    Vpunpckhdq DUR [VEX_Vpunpckhdq_xmm_xmm_xmmm128, VEX_Vpunpckhdq_ymm_ymm_ymmm256, EVEX_Vpunpckhdq_xmm_k1z_xmm_xmmm128b32, EVEX_Vpunpckhdq_ymm_k1z_ymm_ymmm256b32, EVEX_Vpunpckhdq_zmm_k1z_zmm_zmmm512b32],
    Vpunpcklqdq DUR [VEX_Vpunpcklqdq_xmm_xmm_xmmm128, VEX_Vpunpcklqdq_ymm_ymm_ymmm256, EVEX_Vpunpcklqdq_xmm_k1z_xmm_xmmm128b64, EVEX_Vpunpcklqdq_ymm_k1z_ymm_ymmm256b64, EVEX_Vpunpcklqdq_zmm_k1z_zmm_zmmm512b64],
    Vpmullq DUR [INVALID, INVALID, EVEX_Vpmullq_xmm_k1z_xmm_xmmm128b64, EVEX_Vpmullq_ymm_k1z_ymm_ymmm256b64, EVEX_Vpmullq_zmm_k1z_zmm_zmmm512b64],
    Vpminsq DUR [INVALID, INVALID, EVEX_Vpminsq_xmm_k1z_xmm_xmmm128b64, EVEX_Vpminsq_ymm_k1z_ymm_ymmm256b64, EVEX_Vpminsq_zmm_k1z_zmm_zmmm512b64],
    Vpmaxsq DUR [INVALID, INVALID, EVEX_Vpmaxsq_xmm_k1z_xmm_xmmm128b64, EVEX_Vpmaxsq_ymm_k1z_ymm_ymmm256b64, EVEX_Vpmaxsq_zmm_k1z_zmm_zmmm512b64],
    Vpminuq DUR [INVALID, INVALID, EVEX_Vpminuq_xmm_k1z_xmm_xmmm128b64, EVEX_Vpminuq_ymm_k1z_ymm_ymmm256b64, EVEX_Vpminuq_zmm_k1z_zmm_zmmm512b64],
    Vpmaxuq DUR [INVALID, INVALID, EVEX_Vpmaxuq_xmm_k1z_xmm_xmmm128b64, EVEX_Vpmaxuq_ymm_k1z_ymm_ymmm256b64, EVEX_Vpmaxuq_zmm_k1z_zmm_zmmm512b64],
    Vpsravq DUR [INVALID, INVALID, EVEX_Vpsravq_xmm_k1z_xmm_xmmm128b64, EVEX_Vpsravq_ymm_k1z_ymm_ymmm256b64, EVEX_Vpsravq_zmm_k1z_zmm_zmmm512b64],
    Vpand DUR [VEX_Vpand_xmm_xmm_xmmm128, VEX_Vpand_ymm_ymm_ymmm256, EVEX_Vpandd_xmm_k1z_xmm_xmmm128b32, EVEX_Vpandd_ymm_k1z_ymm_ymmm256b32, EVEX_Vpandd_zmm_k1z_zmm_zmmm512b32],
    Vpor DUR [VEX_Vpor_xmm_xmm_xmmm128, VEX_Vpor_ymm_ymm_ymmm256, EVEX_Vpord_xmm_k1z_xmm_xmmm128b32, EVEX_Vpord_ymm_k1z_ymm_ymmm256b32, EVEX_Vpord_zmm_k1z_zmm_zmmm512b32],
    Vpxor DUR [VEX_Vpxor_xmm_xmm_xmmm128, VEX_Vpxor_ymm_ymm_ymmm256, EVEX_Vpxord_xmm_k1z_xmm_xmmm128b32, EVEX_Vpxord_ymm_k1z_ymm_ymmm256b32, EVEX_Vpxord_zmm_k1z_zmm_zmmm512b32],
    Vpandn DUR [VEX_Vpandn_xmm_xmm_xmmm128, VEX_Vpandn_ymm_ymm_ymmm256, EVEX_Vpandnd_xmm_k1z_xmm_xmmm128b32, EVEX_Vpandnd_ymm_k1z_ymm_ymmm256b32, EVEX_Vpandnd_zmm_k1z_zmm_zmmm512b32],
    Vpslld DUI [VEX_Vpslld_xmm_xmm_imm8, VEX_Vpslld_ymm_ymm_imm8, EVEX_Vpslld_xmm_k1z_xmmm128b32_imm8, EVEX_Vpslld_ymm_k1z_ymmm256b32_imm8, EVEX_Vpslld_zmm_k1z_zmmm512b32_imm8],
    Vpsllq DUI [VEX_Vpsllq_xmm_xmm_imm8, VEX_Vpsllq_ymm_ymm_imm8, EVEX_Vpsllq_xmm_k1z_xmmm128b64_imm8, EVEX_Vpsllq_ymm_k1z_ymmm256b64_imm8, EVEX_Vpsllq_zmm_k1z_zmmm512b64_imm8],
    Vpsllw DUI [VEX_Vpsllw_xmm_xmm_imm8, VEX_Vpsllw_ymm_ymm_imm8, EVEX_Vpsllw_xmm_k1z_xmmm128_imm8, EVEX_Vpsllw_ymm_k1z_ymmm256_imm8, EVEX_Vpsllw_zmm_k1z_zmmm512_imm8],
    Vpsrld DUI [VEX_Vpsrld_xmm_xmm_imm8, VEX_Vpsrld_ymm_ymm_imm8, EVEX_Vpsrld_xmm_k1z_xmmm128b32_imm8, EVEX_Vpsrld_ymm_k1z_ymmm256b32_imm8, EVEX_Vpsrld_zmm_k1z_zmmm512b32_imm8],
    Vpsrlq DUI [VEX_Vpsrlq_xmm_xmm_imm8, VEX_Vpsrlq_ymm_ymm_imm8, EVEX_Vpsrlq_xmm_k1z_xmmm128b64_imm8, EVEX_Vpsrlq_ymm_k1z_ymmm256b64_imm8, EVEX_Vpsrlq_zmm_k1z_zmmm512b64_imm8],
    Vpsrlw DUI [VEX_Vpsrlw_xmm_xmm_imm8, VEX_Vpsrlw_ymm_ymm_imm8, EVEX_Vpsrlw_xmm_k1z_xmmm128_imm8, EVEX_Vpsrlw_ymm_k1z_ymmm256_imm8, EVEX_Vpsrlw_zmm_k1z_zmmm512_imm8],
    Vpsrad DUI [VEX_Vpsrad_xmm_xmm_imm8, VEX_Vpsrad_ymm_ymm_imm8, EVEX_Vpsrad_xmm_k1z_xmmm128b32_imm8, EVEX_Vpsrad_ymm_k1z_ymmm256b32_imm8, EVEX_Vpsrad_zmm_k1z_zmmm512b32_imm8],
    Vpsraw DUI [VEX_Vpsraw_xmm_xmm_imm8, VEX_Vpsraw_ymm_ymm_imm8, EVEX_Vpsraw_xmm_k1z_xmmm128_imm8, EVEX_Vpsraw_ymm_k1z_ymmm256_imm8, EVEX_Vpsraw_zmm_k1z_zmmm512_imm8],
    Vsqrtps DR [VEX_Vsqrtps_xmm_xmmm128, VEX_Vsqrtps_ymm_ymmm256, EVEX_Vsqrtps_xmm_k1z_xmmm128b32, EVEX_Vsqrtps_ymm_k1z_ymmm256b32, EVEX_Vsqrtps_zmm_k1z_zmmm512b32_er],
    Vsqrtpd DR [VEX_Vsqrtpd_xmm_xmmm128, VEX_Vsqrtpd_ymm_ymmm256, EVEX_Vsqrtpd_xmm_k1z_xmmm128b64, EVEX_Vsqrtpd_ymm_k1z_ymmm256b64, EVEX_Vsqrtpd_zmm_k1z_zmmm512b64_er],
    Vroundps DRI [VEX_Vroundps_xmm_xmmm128_imm8, VEX_Vroundps_ymm_ymmm256_imm8, EVEX_Vrndscaleps_xmm_k1z_xmmm128b32_imm8, EVEX_Vrndscaleps_ymm_k1z_ymmm256b32_imm8, EVEX_Vrndscaleps_zmm_k1z_zmmm512b32_imm8_sae],
    Vroundpd DRI [VEX_Vroundpd_xmm_xmmm128_imm8, VEX_Vroundpd_ymm_ymmm256_imm8, EVEX_Vrndscalepd_xmm_k1z_xmmm128b64_imm8, EVEX_Vrndscalepd_ymm_k1z_ymmm256b64_imm8, EVEX_Vrndscalepd_zmm_k1z_zmmm512b64_imm8_sae],
    Vfmadd132ps MUR [VEX_Vfmadd132ps_xmm_xmm_xmmm128, VEX_Vfmadd132ps_ymm_ymm_ymmm256, EVEX_Vfmadd132ps_xmm_k1z_xmm_xmmm128b32, EVEX_Vfmadd132ps_ymm_k1z_ymm_ymmm256b32, EVEX_Vfmadd132ps_zmm_k1z_zmm_zmmm512b32_er],
    Vfmadd132pd MUR [VEX_Vfmadd132pd_xmm_xmm_xmmm128, VEX_Vfmadd132pd_ymm_ymm_ymmm256, EVEX_Vfmadd132pd_xmm_k1z_xmm_xmmm128b64, EVEX_Vfmadd132pd_ymm_k1z_ymm_ymmm256b64, EVEX_Vfmadd132pd_zmm_k1z_zmm_zmmm512b64_er],
    Vfmadd213ps MUR [VEX_Vfmadd213ps_xmm_xmm_xmmm128, VEX_Vfmadd213ps_ymm_ymm_ymmm256, EVEX_Vfmadd213ps_xmm_k1z_xmm_xmmm128b32, EVEX_Vfmadd213ps_ymm_k1z_ymm_ymmm256b32, EVEX_Vfmadd213ps_zmm_k1z_zmm_zmmm512b32_er],
    Vfmadd213pd MUR [VEX_Vfmadd213pd_xmm_xmm_xmmm128, VEX_Vfmadd213pd_ymm_ymm_ymmm256, EVEX_Vfmadd213pd_xmm_k1z_xmm_xmmm128b64, EVEX_Vfmadd213pd_ymm_k1z_ymm_ymmm256b64, EVEX_Vfmadd213pd_zmm_k1z_zmm_zmmm512b64_er],
    Vfmadd231ps MUR [VEX_Vfmadd231ps_xmm_xmm_xmmm128, VEX_Vfmadd231ps_ymm_ymm_ymmm256, EVEX_Vfmadd231ps_xmm_k1z_xmm_xmmm128b32, EVEX_Vfmadd231ps_ymm_k1z_ymm_ymmm256b32, EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er],
    Vfmadd231pd MUR [VEX_Vfmadd231pd_xmm_xmm_xmmm128, VEX_Vfmadd231pd_ymm_ymm_ymmm256, EVEX_Vfmadd231pd_xmm_k1z_xmm_xmmm128b64, EVEX_Vfmadd231pd_ymm_k1z_ymm_ymmm256b64, EVEX_Vfmadd231pd_zmm_k1z_zmm_zmmm512b64_er],
    Vfnmadd132ps MUR [VEX_Vfnmadd132ps_xmm_xmm_xmmm128, VEX_Vfnmadd132ps_ymm_ymm_ymmm256, EVEX_Vfnmadd132ps_xmm_k1z_xmm_xmmm128b32, EVEX_Vfnmadd132ps_ymm_k1z_ymm_ymmm256b32, EVEX_Vfnmadd132ps_zmm_k1z_zmm_zmmm512b32_er],
    Vfnmadd132pd MUR [VEX_Vfnmadd132pd_xmm_xmm_xmmm128, VEX_Vfnmadd132pd_ymm_ymm_ymmm256, EVEX_Vfnmadd132pd_xmm_k1z_xmm_xmmm128b64, EVEX_Vfnmadd132pd_ymm_k1z_ymm_ymmm256b64, EVEX_Vfnmadd132pd_zmm_k1z_zmm_zmmm512b64_er],
    Vfnmadd213ps MUR [VEX_Vfnmadd213ps_xmm_xmm_xmmm128, VEX_Vfnmadd213ps_ymm_ymm_ymmm256, EVEX_Vfnmadd213ps_xmm_k1z_xmm_xmmm128b32, EVEX_Vfnmadd213ps_ymm_k1z_ymm_ymmm256b32, EVEX_Vfnmadd213ps_zmm_k1z_zmm_zmmm512b32_er],
    Vfnmadd213pd MUR [VEX_Vfnmadd213pd_xmm_xmm_xmmm128, VEX_Vfnmadd213pd_ymm_ymm_ymmm256, EVEX_Vfnmadd213pd_xmm_k1z_xmm_xmmm128b64, EVEX_Vfnmadd213pd_ymm_k1z_ymm_ymmm256b64, EVEX_Vfnmadd213pd_zmm_k1z_zmm_zmmm512b64_er],
    Vfnmadd231ps MUR [VEX_Vfnmadd231ps_xmm_xmm_xmmm128, VEX_Vfnmadd231ps_ymm_ymm_ymmm256, EVEX_Vfnmadd231ps_xmm_k1z_xmm_xmmm128b32, EVEX_Vfnmadd231ps_ymm_k1z_ymm_ymmm256b32, EVEX_Vfnmadd231ps_zmm_k1z_zmm_zmmm512b32_er],
    Vfnmadd231pd MUR [VEX_Vfnmadd231pd_xmm_xmm_xmmm128, VEX_Vfnmadd231pd_ymm_ymm_ymmm256, EVEX_Vfnmadd231pd_xmm_k1z_xmm_xmmm128b64, EVEX_Vfnmadd231pd_ymm_k1z_ymm_ymmm256b64, EVEX_Vfnmadd231pd_zmm_k1z_zmm_zmmm512b64_er],
    Vcmpps DURI [VEX_Vcmpps_xmm_xmm_xmmm128_imm8, VEX_Vcmpps_ymm_ymm_ymmm256_imm8, INVALID, INVALID, INVALID],
    Vcmppd DURI [VEX_Vcmppd_xmm_xmm_xmmm128_imm8, VEX_Vcmppd_ymm_ymm_ymmm256_imm8, INVALID, INVALID, INVALID],
    Vpcmpeqd DUR [VEX_Vpcmpeqd_xmm_xmm_xmmm128, VEX_Vpcmpeqd_ymm_ymm_ymmm256, INVALID, INVALID, INVALID],
    Vpcmpeqq DUR [VEX_Vpcmpeqq_xmm_xmm_xmmm128, VEX_Vpcmpeqq_ymm_ymm_ymmm256, INVALID, INVALID, INVALID],
    Vpcmpgtd DUR [VEX_Vpcmpgtd_xmm_xmm_xmmm128, VEX_Vpcmpgtd_ymm_ymm_ymmm256, INVALID, INVALID, INVALID],
    Vpcmpgtq DUR [VEX_Vpcmpgtq_xmm_xmm_xmmm128, VEX_Vpcmpgtq_ymm_ymm_ymmm256, INVALID, INVALID, INVALID],
    VcmppsK DURI [INVALID, INVALID, EVEX_Vcmpps_kr_k1_xmm_xmmm128b32_imm8, EVEX_Vcmpps_kr_k1_ymm_ymmm256b32_imm8, EVEX_Vcmpps_kr_k1_zmm_zmmm512b32_imm8_sae],
    VcmppdK DURI [INVALID, INVALID, EVEX_Vcmppd_kr_k1_xmm_xmmm128b64_imm8, EVEX_Vcmppd_kr_k1_ymm_ymmm256b64_imm8, EVEX_Vcmppd_kr_k1_zmm_zmmm512b64_imm8_sae],
    VpcmpdK DURI [INVALID, INVALID, EVEX_Vpcmpd_kr_k1_xmm_xmmm128b32_imm8, EVEX_Vpcmpd_kr_k1_ymm_ymmm256b32_imm8, EVEX_Vpcmpd_kr_k1_zmm_zmmm512b32_imm8],
    VpcmpudK DURI [INVALID, INVALID, EVEX_Vpcmpud_kr_k1_xmm_xmmm128b32_imm8, EVEX_Vpcmpud_kr_k1_ymm_ymmm256b32_imm8, EVEX_Vpcmpud_kr_k1_zmm_zmmm512b32_imm8],
    VpcmpqK DURI [INVALID, INVALID, EVEX_Vpcmpq_kr_k1_xmm_xmmm128b64_imm8, EVEX_Vpcmpq_kr_k1_ymm_ymmm256b64_imm8, EVEX_Vpcmpq_kr_k1_zmm_zmmm512b64_imm8],
    VpcmpuqK DURI [INVALID, INVALID, EVEX_Vpcmpuq_kr_k1_xmm_xmmm128b64_imm8, EVEX_Vpcmpuq_kr_k1_ymm_ymmm256b64_imm8, EVEX_Vpcmpuq_kr_k1_zmm_zmmm512b64_imm8],
    Vblendvps DURU [VEX_Vblendvps_xmm_xmm_xmmm128_xmm, VEX_Vblendvps_ymm_ymm_ymmm256_ymm, INVALID, INVALID, INVALID],
    Vblendvpd DURU [VEX_Vblendvpd_xmm_xmm_xmmm128_xmm, VEX_Vblendvpd_ymm_ymm_ymmm256_ymm, INVALID, INVALID, INVALID],
    Vpternlogd MURI [INVALID, INVALID, EVEX_Vpternlogd_xmm_k1z_xmm_xmmm128b32_imm8, EVEX_Vpternlogd_ymm_k1z_ymm_ymmm256b32_imm8, EVEX_Vpternlogd_zmm_k1z_zmm_zmmm512b32_imm8],
    Vpblendmd DUR [INVALID, INVALID, EVEX_Vpblendmd_xmm_k1z_xmm_xmmm128b32, EVEX_Vpblendmd_ymm_k1z_ymm_ymmm256b32, EVEX_Vpblendmd_zmm_k1z_zmm_zmmm512b32],
    Vpblendmq DUR [INVALID, INVALID, EVEX_Vpblendmq_xmm_k1z_xmm_xmmm128b64, EVEX_Vpblendmq_ymm_k1z_ymm_ymmm256b64, EVEX_Vpblendmq_zmm_k1z_zmm_zmmm512b64],
    Vpmovsxbd DR [VEX_Vpmovsxbd_xmm_xmmm32, VEX_Vpmovsxbd_ymm_xmmm64, EVEX_Vpmovsxbd_xmm_k1z_xmmm32, EVEX_Vpmovsxbd_ymm_k1z_xmmm64, EVEX_Vpmovsxbd_zmm_k1z_xmmm128],
    Vpmovzxbd DR [VEX_Vpmovzxbd_xmm_xmmm32, VEX_Vpmovzxbd_ymm_xmmm64, EVEX_Vpmovzxbd_xmm_k1z_xmmm32, EVEX_Vpmovzxbd_ymm_k1z_xmmm64, EVEX_Vpmovzxbd_zmm_k1z_xmmm128],
    Vpmovsxwd DR [VEX_Vpmovsxwd_xmm_xmmm64, VEX_Vpmovsxwd_ymm_xmmm128, EVEX_Vpmovsxwd_xmm_k1z_xmmm64, EVEX_Vpmovsxwd_ymm_k1z_xmmm128, EVEX_Vpmovsxwd_zmm_k1z_ymmm256],
    Vpmovzxwd DR [VEX_Vpmovzxwd_xmm_xmmm64, VEX_Vpmovzxwd_ymm_xmmm128, EVEX_Vpmovzxwd_xmm_k1z_xmmm64, EVEX_Vpmovzxwd_ymm_k1z_xmmm128, EVEX_Vpmovzxwd_zmm_k1z_ymmm256],
    Vpmovsxdq DR [VEX_Vpmovsxdq_xmm_xmmm64, VEX_Vpmovsxdq_ymm_xmmm128, EVEX_Vpmovsxdq_xmm_k1z_xmmm64, EVEX_Vpmovsxdq_ymm_k1z_xmmm128, EVEX_Vpmovsxdq_zmm_k1z_ymmm256],
    Vpmovzxdq DR [VEX_Vpmovzxdq_xmm_xmmm64, VEX_Vpmovzxdq_ymm_xmmm128, EVEX_Vpmovzxdq_xmm_k1z_xmmm64, EVEX_Vpmovzxdq_ymm_k1z_xmmm128, EVEX_Vpmovzxdq_zmm_k1z_ymmm256],
    Vpmovsxbw DR [VEX_Vpmovsxbw_xmm_xmmm64, VEX_Vpmovsxbw_ymm_xmmm128, EVEX_Vpmovsxbw_xmm_k1z_xmmm64, EVEX_Vpmovsxbw_ymm_k1z_xmmm128, EVEX_Vpmovsxbw_zmm_k1z_ymmm256],
    Vpmovzxbw DR [VEX_Vpmovzxbw_xmm_xmmm64, VEX_Vpmovzxbw_ymm_xmmm128, EVEX_Vpmovzxbw_xmm_k1z_xmmm64, EVEX_Vpmovzxbw_ymm_k1z_xmmm128, EVEX_Vpmovzxbw_zmm_k1z_ymmm256],
    Vcvtdq2pd DR [VEX_Vcvtdq2pd_xmm_xmmm64, VEX_Vcvtdq2pd_ymm_xmmm128, EVEX_Vcvtdq2pd_xmm_k1z_xmmm64b32, EVEX_Vcvtdq2pd_ymm_k1z_xmmm128b32, EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er],
    Vcvtps2pd DR [VEX_Vcvtps2pd_xmm_xmmm64, VEX_Vcvtps2pd_ymm_xmmm128, EVEX_Vcvtps2pd_xmm_k1z_xmmm64b32, EVEX_Vcvtps2pd_ymm_k1z_xmmm128b32, EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae],
    Vcvtph2ps DR [VEX_Vcvtph2ps_xmm_xmmm64, VEX_Vcvtph2ps_ymm_xmmm128, EVEX_Vcvtph2ps_xmm_k1z_xmmm64, EVEX_Vcvtph2ps_ymm_k1z_xmmm128, EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae],
    Vpbroadcastb DR [VEX_Vpbroadcastb_xmm_xmmm8, VEX_Vpbroadcastb_ymm_xmmm8, EVEX_Vpbroadcastb_xmm_k1z_xmmm8, EVEX_Vpbroadcastb_ymm_k1z_xmmm8, EVEX_Vpbroadcastb_zmm_k1z_xmmm8],
    Vpbroadcastw DR [VEX_Vpbroadcastw_xmm_xmmm16, VEX_Vpbroadcastw_ymm_xmmm16, EVEX_Vpbroadcastw_xmm_k1z_xmmm16, EVEX_Vpbroadcastw_ymm_k1z_xmmm16, EVEX_Vpbroadcastw_zmm_k1z_xmmm16],
    Vpbroadcastd DR [VEX_Vpbroadcastd_xmm_xmmm32, VEX_Vpbroadcastd_ymm_xmmm32, EVEX_Vpbroadcastd_xmm_k1z_xmmm32, EVEX_Vpbroadcastd_ymm_k1z_xmmm32, EVEX_Vpbroadcastd_zmm_k1z_xmmm32],
    Vpbroadcastq DR [VEX_Vpbroadcastq_xmm_xmmm64, VEX_Vpbroadcastq_ymm_xmmm64, EVEX_Vpbroadcastq_xmm_k1z_xmmm64, EVEX_Vpbroadcastq_ymm_k1z_xmmm64, EVEX_Vpbroadcastq_zmm_k1z_xmmm64],
    VpbroadcastbG DU [INVALID, INVALID, EVEX_Vpbroadcastb_xmm_k1z_r32, EVEX_Vpbroadcastb_ymm_k1z_r32, EVEX_Vpbroadcastb_zmm_k1z_r32],
    VpbroadcastwG DU [INVALID, INVALID, EVEX_Vpbroadcastw_xmm_k1z_r32, EVEX_Vpbroadcastw_ymm_k1z_r32, EVEX_Vpbroadcastw_zmm_k1z_r32],
    VpbroadcastdG DU [INVALID, INVALID, EVEX_Vpbroadcastd_xmm_k1z_r32, EVEX_Vpbroadcastd_ymm_k1z_r32, EVEX_Vpbroadcastd_zmm_k1z_r32],
    VpbroadcastqG DU [INVALID, INVALID, EVEX_Vpbroadcastq_xmm_k1z_r64, EVEX_Vpbroadcastq_ymm_k1z_r64, EVEX_Vpbroadcastq_zmm_k1z_r64],
    Vcvtdq2ps DR [VEX_Vcvtdq2ps_xmm_xmmm128, VEX_Vcvtdq2ps_ymm_ymmm256, EVEX_Vcvtdq2ps_xmm_k1z_xmmm128b32, EVEX_Vcvtdq2ps_ymm_k1z_ymmm256b32, EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er],
    Vcvtps2dq DR [VEX_Vcvtps2dq_xmm_xmmm128, VEX_Vcvtps2dq_ymm_ymmm256, EVEX_Vcvtps2dq_xmm_k1z_xmmm128b32, EVEX_Vcvtps2dq_ymm_k1z_ymmm256b32, EVEX_Vcvtps2dq_zmm_k1z_zmmm512b32_er],
    Vcvttps2dq DR [VEX_Vcvttps2dq_xmm_xmmm128, VEX_Vcvttps2dq_ymm_ymmm256, EVEX_Vcvttps2dq_xmm_k1z_xmmm128b32, EVEX_Vcvttps2dq_ymm_k1z_ymmm256b32, EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae],
    Vcvtudq2ps DR [INVALID, INVALID, EVEX_Vcvtudq2ps_xmm_k1z_xmmm128b32, EVEX_Vcvtudq2ps_ymm_k1z_ymmm256b32, EVEX_Vcvtudq2ps_zmm_k1z_zmmm512b32_er],
    Vcvtqq2pd DR [INVALID, INVALID, EVEX_Vcvtqq2pd_xmm_k1z_xmmm128b64, EVEX_Vcvtqq2pd_ymm_k1z_ymmm256b64, EVEX_Vcvtqq2pd_zmm_k1z_zmmm512b64_er],
    Vcvtuqq2pd DR [INVALID, INVALID, EVEX_Vcvtuqq2pd_xmm_k1z_xmmm128b64, EVEX_Vcvtuqq2pd_ymm_k1z_ymmm256b64, EVEX_Vcvtuqq2pd_zmm_k1z_zmmm512b64_er],
    Vcvttpd2qq DR [INVALID, INVALID, EVEX_Vcvttpd2qq_xmm_k1z_xmmm128b64, EVEX_Vcvttpd2qq_ymm_k1z_ymmm256b64, EVEX_Vcvttpd2qq_zmm_k1z_zmmm512b64_sae],
    Vcvtpd2qq DR [INVALID, INVALID, EVEX_Vcvtpd2qq_xmm_k1z_xmmm128b64, EVEX_Vcvtpd2qq_ymm_k1z_ymmm256b64, EVEX_Vcvtpd2qq_zmm_k1z_zmmm512b64_er],
    Vcvtudq2pd DR [INVALID, INVALID, EVEX_Vcvtudq2pd_xmm_k1z_xmmm64b32, EVEX_Vcvtudq2pd_ymm_k1z_xmmm128b32, EVEX_Vcvtudq2pd_zmm_k1z_ymmm256b32_er],
    Vcvttps2qq DR [INVALID, INVALID, EVEX_Vcvttps2qq_xmm_k1z_xmmm64b32, EVEX_Vcvttps2qq_ymm_k1z_xmmm128b32, EVEX_Vcvttps2qq_zmm_k1z_ymmm256b32_sae],
    Vcvtps2qq DR [INVALID, INVALID, EVEX_Vcvtps2qq_xmm_k1z_xmmm64b32, EVEX_Vcvtps2qq_ymm_k1z_xmmm128b32, EVEX_Vcvtps2qq_zmm_k1z_ymmm256b32_er],
    Vcvtpd2dq DR [VEX_Vcvtpd2dq_xmm_xmmm128, VEX_Vcvtpd2dq_xmm_ymmm256, EVEX_Vcvtpd2dq_xmm_k1z_xmmm128b64, EVEX_Vcvtpd2dq_xmm_k1z_ymmm256b64, EVEX_Vcvtpd2dq_ymm_k1z_zmmm512b64_er],
    Vcvttpd2dq DR [VEX_Vcvttpd2dq_xmm_xmmm128, VEX_Vcvttpd2dq_xmm_ymmm256, EVEX_Vcvttpd2dq_xmm_k1z_xmmm128b64, EVEX_Vcvttpd2dq_xmm_k1z_ymmm256b64, EVEX_Vcvttpd2dq_ymm_k1z_zmmm512b64_sae],
    Vcvtpd2ps DR [VEX_Vcvtpd2ps_xmm_xmmm128, VEX_Vcvtpd2ps_xmm_ymmm256, EVEX_Vcvtpd2ps_xmm_k1z_xmmm128b64, EVEX_Vcvtpd2ps_xmm_k1z_ymmm256b64, EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er],
    Vcvtqq2ps DR [INVALID, INVALID, EVEX_Vcvtqq2ps_xmm_k1z_xmmm128b64, EVEX_Vcvtqq2ps_xmm_k1z_ymmm256b64, EVEX_Vcvtqq2ps_ymm_k1z_zmmm512b64_er],
    Vcvtuqq2ps DR [INVALID, INVALID, EVEX_Vcvtuqq2ps_xmm_k1z_xmmm128b64, EVEX_Vcvtuqq2ps_xmm_k1z_ymmm256b64, EVEX_Vcvtuqq2ps_ymm_k1z_zmmm512b64_er],
    Vpmovdb DU [INVALID, INVALID, EVEX_Vpmovdb_xmmm32_k1z_xmm, EVEX_Vpmovdb_xmmm64_k1z_ymm, EVEX_Vpmovdb_xmmm128_k1z_zmm],
    Vpmovdw DU [INVALID, INVALID, EVEX_Vpmovdw_xmmm64_k1z_xmm, EVEX_Vpmovdw_xmmm128_k1z_ymm, EVEX_Vpmovdw_ymmm256_k1z_zmm],
    Vpmovqd DU [INVALID, INVALID, EVEX_Vpmovqd_xmmm64_k1z_xmm, EVEX_Vpmovqd_xmmm128_k1z_ymm, EVEX_Vpmovqd_ymmm256_k1z_zmm],
    Vcvtps2ph DUI [VEX_Vcvtps2ph_xmmm64_xmm_imm8, VEX_Vcvtps2ph_xmmm128_ymm_imm8, EVEX_Vcvtps2ph_xmmm64_k1z_xmm_imm8, EVEX_Vcvtps2ph_xmmm128_k1z_ymm_imm8, EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae],
    VmovupsLoad DR [VEX_Vmovups_xmm_xmmm128, VEX_Vmovups_ymm_ymmm256, EVEX_Vmovups_xmm_k1z_xmmm128, EVEX_Vmovups_ymm_k1z_ymmm256, EVEX_Vmovups_zmm_k1z_zmmm512],
    VmovupsStore DU [VEX_Vmovups_xmmm128_xmm, VEX_Vmovups_ymmm256_ymm, EVEX_Vmovups_xmmm128_k1z_xmm, EVEX_Vmovups_ymmm256_k1z_ymm, EVEX_Vmovups_zmmm512_k1z_zmm],
    Vmovdqu64Load DR [INVALID, INVALID, EVEX_Vmovdqu64_xmm_k1z_xmmm128, EVEX_Vmovdqu64_ymm_k1z_ymmm256, EVEX_Vmovdqu64_zmm_k1z_zmmm512],
    Vmovdqu64Store DU [INVALID, INVALID, EVEX_Vmovdqu64_xmmm128_k1z_xmm, EVEX_Vmovdqu64_ymmm256_k1z_ymm, EVEX_Vmovdqu64_zmmm512_k1z_zmm],
    Vmovaps DR [VEX_Vmovaps_xmm_xmmm128, VEX_Vmovaps_ymm_ymmm256, EVEX_Vmovaps_xmm_k1z_xmmm128, EVEX_Vmovaps_ymm_k1z_ymmm256, EVEX_Vmovaps_zmm_k1z_zmmm512],
    VmovssLoad DR [VEX_Vmovss_xmm_m32, INVALID, EVEX_Vmovss_xmm_k1z_m32, INVALID, INVALID],
    VmovsdLoad DR [VEX_Vmovsd_xmm_m64, INVALID, EVEX_Vmovsd_xmm_k1z_m64, INVALID, INVALID],
    VmovssStore DU [VEX_Vmovss_m32_xmm, INVALID, EVEX_Vmovss_m32_k1_xmm, INVALID, INVALID],
    VmovsdStore DU [VEX_Vmovsd_m64_xmm, INVALID, EVEX_Vmovsd_m64_k1_xmm, INVALID, INVALID],
    VmovdFromG DR [VEX_Vmovd_xmm_rm32, INVALID, EVEX_Vmovd_xmm_rm32, INVALID, INVALID],
    VmovqFromG DR [VEX_Vmovq_xmm_rm64, INVALID, EVEX_Vmovq_xmm_rm64, INVALID, INVALID],
    VmovdToG DU [VEX_Vmovd_rm32_xmm, INVALID, EVEX_Vmovd_rm32_xmm, INVALID, INVALID],
    VmovqToG DU [VEX_Vmovq_rm64_xmm, INVALID, EVEX_Vmovq_rm64_xmm, INVALID, INVALID],
    Vextract128 DUI [INVALID, VEX_Vextractf128_xmmm128_ymm_imm8, INVALID, EVEX_Vextractf32x4_xmmm128_k1z_ymm_imm8, EVEX_Vextractf32x4_xmmm128_k1z_zmm_imm8],
    Vextract256 DUI [INVALID, INVALID, INVALID, INVALID, EVEX_Vextractf64x4_ymmm256_k1z_zmm_imm8],
    Vinsert128 DURI [INVALID, VEX_Vinsertf128_ymm_ymm_xmmm128_imm8, INVALID, EVEX_Vinsertf32x4_ymm_k1z_ymm_xmmm128_imm8, EVEX_Vinsertf32x4_zmm_k1z_zmm_xmmm128_imm8],
    Vinsert256 DURI [INVALID, INVALID, INVALID, INVALID, EVEX_Vinsertf64x4_zmm_k1z_zmm_ymmm256_imm8],
    Vpextrb DUI [VEX_Vpextrb_r32m8_xmm_imm8, INVALID, EVEX_Vpextrb_r32m8_xmm_imm8, INVALID, INVALID],
    Vpextrw DUI [VEX_Vpextrw_r32m16_xmm_imm8, INVALID, EVEX_Vpextrw_r32m16_xmm_imm8, INVALID, INVALID],
    Vpextrd DUI [VEX_Vpextrd_rm32_xmm_imm8, INVALID, EVEX_Vpextrd_rm32_xmm_imm8, INVALID, INVALID],
    Vpextrq DUI [VEX_Vpextrq_rm64_xmm_imm8, INVALID, EVEX_Vpextrq_rm64_xmm_imm8, INVALID, INVALID],
    Vpinsrb DURI [VEX_Vpinsrb_xmm_xmm_r32m8_imm8, INVALID, EVEX_Vpinsrb_xmm_xmm_r32m8_imm8, INVALID, INVALID],
    Vpinsrw DURI [VEX_Vpinsrw_xmm_xmm_r32m16_imm8, INVALID, EVEX_Vpinsrw_xmm_xmm_r32m16_imm8, INVALID, INVALID],
    Vpinsrd DURI [VEX_Vpinsrd_xmm_xmm_rm32_imm8, INVALID, EVEX_Vpinsrd_xmm_xmm_rm32_imm8, INVALID, INVALID],
    Vpinsrq DURI [VEX_Vpinsrq_xmm_xmm_rm64_imm8, INVALID, EVEX_Vpinsrq_xmm_xmm_rm64_imm8, INVALID, INVALID],
    Vpshufd DRI [VEX_Vpshufd_xmm_xmmm128_imm8, VEX_Vpshufd_ymm_ymmm256_imm8, EVEX_Vpshufd_xmm_k1z_xmmm128b32_imm8, EVEX_Vpshufd_ymm_k1z_ymmm256b32_imm8, EVEX_Vpshufd_zmm_k1z_zmmm512b32_imm8],
    Vshufps DURI [VEX_Vshufps_xmm_xmm_xmmm128_imm8, VEX_Vshufps_ymm_ymm_ymmm256_imm8, EVEX_Vshufps_xmm_k1z_xmm_xmmm128b32_imm8, EVEX_Vshufps_ymm_k1z_ymm_ymmm256b32_imm8, EVEX_Vshufps_zmm_k1z_zmm_zmmm512b32_imm8],
    Vperm2f128 DURI [INVALID, VEX_Vperm2f128_ymm_ymm_ymmm256_imm8, INVALID, INVALID, INVALID],
    Vpblendd DURI [VEX_Vpblendd_xmm_xmm_xmmm128_imm8, VEX_Vpblendd_ymm_ymm_ymmm256_imm8, INVALID, INVALID, INVALID],
    Vpermd DUR [INVALID, VEX_Vpermd_ymm_ymm_ymmm256, INVALID, EVEX_Vpermd_ymm_k1z_ymm_ymmm256b32, EVEX_Vpermd_zmm_k1z_zmm_zmmm512b32],
    Vpermi2b MUR [INVALID, INVALID, EVEX_Vpermi2b_xmm_k1z_xmm_xmmm128, EVEX_Vpermi2b_ymm_k1z_ymm_ymmm256, EVEX_Vpermi2b_zmm_k1z_zmm_zmmm512],
    Vpermi2d MUR [INVALID, INVALID, EVEX_Vpermi2d_xmm_k1z_xmm_xmmm128b32, EVEX_Vpermi2d_ymm_k1z_ymm_ymmm256b32, EVEX_Vpermi2d_zmm_k1z_zmm_zmmm512b32],
    VpmaskmovdLoad DUR [VEX_Vpmaskmovd_xmm_xmm_m128, VEX_Vpmaskmovd_ymm_ymm_m256, INVALID, INVALID, INVALID],
    VpmaskmovdStore DUU [VEX_Vpmaskmovd_m128_xmm_xmm, VEX_Vpmaskmovd_m256_ymm_ymm, INVALID, INVALID, INVALID],
    VpmaskmovqLoad DUR [VEX_Vpmaskmovq_xmm_xmm_m128, VEX_Vpmaskmovq_ymm_ymm_m256, INVALID, INVALID, INVALID],
    VpmaskmovqStore DUU [VEX_Vpmaskmovq_m128_xmm_xmm, VEX_Vpmaskmovq_m256_ymm_ymm, INVALID, INVALID, INVALID],
    Vpgatherdd MUM [VEX_Vpgatherdd_xmm_vm32x_xmm, VEX_Vpgatherdd_ymm_vm32y_ymm, INVALID, INVALID, INVALID],
    VpgatherddK MU [INVALID, INVALID, EVEX_Vpgatherdd_xmm_k1_vm32x, EVEX_Vpgatherdd_ymm_k1_vm32y, EVEX_Vpgatherdd_zmm_k1_vm32z],
    Vpgatherdq MUM [VEX_Vpgatherdq_xmm_vm32x_xmm, VEX_Vpgatherdq_ymm_vm32x_ymm, INVALID, INVALID, INVALID],
    VpgatherdqK MU [INVALID, INVALID, EVEX_Vpgatherdq_xmm_k1_vm32x, EVEX_Vpgatherdq_ymm_k1_vm32x, EVEX_Vpgatherdq_zmm_k1_vm32y],
    Vpgatherqq MUM [VEX_Vpgatherqq_xmm_vm64x_xmm, VEX_Vpgatherqq_ymm_vm64y_ymm, INVALID, INVALID, INVALID],
    VpgatherqqK MU [INVALID, INVALID, EVEX_Vpgatherqq_xmm_k1_vm64x, EVEX_Vpgatherqq_ymm_k1_vm64y, EVEX_Vpgatherqq_zmm_k1_vm64z],
    Vpgatherqd MUM [VEX_Vpgatherqd_xmm_vm64x_xmm, VEX_Vpgatherqd_xmm_vm64y_xmm, INVALID, INVALID, INVALID],
    VpgatherqdK MU [INVALID, INVALID, EVEX_Vpgatherqd_xmm_k1_vm64x, EVEX_Vpgatherqd_xmm_k1_vm64y, EVEX_Vpgatherqd_ymm_k1_vm64z],
    VexVpdpbusd MUR [VEX_Vpdpbusd_xmm_xmm_xmmm128, VEX_Vpdpbusd_ymm_ymm_ymmm256, INVALID, INVALID, INVALID],
    Vpdpbusd MUR [INVALID, INVALID, EVEX_Vpdpbusd_xmm_k1z_xmm_xmmm128b32, EVEX_Vpdpbusd_ymm_k1z_ymm_ymmm256b32, EVEX_Vpdpbusd_zmm_k1z_zmm_zmmm512b32],
    Vdpbf16ps MUR [INVALID, INVALID, EVEX_Vdpbf16ps_xmm_k1z_xmm_xmmm128b32, EVEX_Vdpbf16ps_ymm_k1z_ymm_ymmm256b32, EVEX_Vdpbf16ps_zmm_k1z_zmm_zmmm512b32],
    Vpmovm2d DU [INVALID, INVALID, EVEX_Vpmovm2d_xmm_kr, EVEX_Vpmovm2d_ymm_kr, EVEX_Vpmovm2d_zmm_kr],
    Kand DUU [VEX_Kandq_kr_kr_kr, INVALID, INVALID, INVALID, INVALID],
    Kor DUU [VEX_Korq_kr_kr_kr, INVALID, INVALID, INVALID, INVALID],
    Kxor DUU [VEX_Kxorq_kr_kr_kr, INVALID, INVALID, INVALID, INVALID],
    Kandn DUU [VEX_Kandnq_kr_kr_kr, INVALID, INVALID, INVALID, INVALID],
    KmovFromG DU [VEX_Kmovq_kr_r64, INVALID, INVALID, INVALID, INVALID],
    Kmov DR [VEX_Kmovq_kr_km64, INVALID, INVALID, INVALID, INVALID],
    KmovStore DU [VEX_Kmovq_m64_kr, INVALID, INVALID, INVALID, INVALID],
    Vcvtsi2ss DUR [VEX_Vcvtsi2ss_xmm_xmm_rm64, INVALID, EVEX_Vcvtsi2ss_xmm_xmm_rm64_er, INVALID, INVALID],
    Vcvtsi2sd DUR [VEX_Vcvtsi2sd_xmm_xmm_rm64, INVALID, EVEX_Vcvtsi2sd_xmm_xmm_rm64_er, INVALID, INVALID],
    Vcvttss2si DR [VEX_Vcvttss2si_r64_xmmm32, INVALID, EVEX_Vcvttss2si_r64_xmmm32_sae, INVALID, INVALID],
    Vcvttsd2si DR [VEX_Vcvttsd2si_r64_xmmm64, INVALID, EVEX_Vcvttsd2si_r64_xmmm64_sae, INVALID, INVALID],
    Vcvtss2si DR [VEX_Vcvtss2si_r64_xmmm32, INVALID, EVEX_Vcvtss2si_r64_xmmm32_er, INVALID, INVALID],
    Vcvtsd2si DR [VEX_Vcvtsd2si_r64_xmmm64, INVALID, EVEX_Vcvtsd2si_r64_xmmm64_er, INVALID, INVALID],
    Shlx DRU [VEX_Shlx_r64_rm64_r64, INVALID, INVALID, INVALID, INVALID],
    Sarx DRU [VEX_Sarx_r64_rm64_r64, INVALID, INVALID, INVALID, INVALID],
    Bzhi DRU [VEX_Bzhi_r64_rm64_r64, INVALID, INVALID, INVALID, INVALID],
    Add MR [Add_r64_rm64, Add_rm64_imm8, Add_rm64_imm32, INVALID, INVALID],
    Sub MR [Sub_r64_rm64, Sub_rm64_imm8, Sub_rm64_imm32, INVALID, INVALID],
    And MR [And_r64_rm64, And_rm64_imm8, And_rm64_imm32, INVALID, INVALID],
    Or MR [Or_r64_rm64, Or_rm64_imm8, Or_rm64_imm32, INVALID, INVALID],
    Xor MR [Xor_r64_rm64, Xor_rm64_imm8, Xor_rm64_imm32, INVALID, INVALID],
    Cmp UR [Cmp_r64_rm64, Cmp_rm64_imm8, Cmp_rm64_imm32, INVALID, INVALID],
    Test UU [Test_rm64_r64, INVALID, INVALID, INVALID, INVALID],
    Imul MR [Imul_r64_rm64, INVALID, INVALID, INVALID, INVALID],
    ImulI DRI [INVALID, Imul_r64_rm64_imm8, Imul_r64_rm64_imm32, INVALID, INVALID],
    Neg M [Neg_rm64, INVALID, INVALID, INVALID, INVALID],
    Shl MI [INVALID, Shl_rm64_imm8, INVALID, INVALID, INVALID],
    Sar MI [INVALID, Sar_rm64_imm8, INVALID, INVALID, INVALID],
    Lea DU [Lea_r64_m, INVALID, INVALID, INVALID, INVALID],
    Prefetch U [Prefetcht1_m8, INVALID, INVALID, INVALID, INVALID],
    Mov DR [Mov_r64_rm64, INVALID, Mov_rm64_imm32, INVALID, INVALID],
    MovI DI [INVALID, INVALID, Mov_r64_imm64, INVALID, INVALID],
    Mov32 DR [Mov_r32_rm32, INVALID, Mov_r32_imm32, INVALID, INVALID],
    MovStore DU [Mov_rm64_r64, INVALID, INVALID, INVALID, INVALID],
    Mov32Store DU [Mov_rm32_r32, INVALID, INVALID, INVALID, INVALID],
    Mov16Store DU [Mov_rm16_r16, INVALID, INVALID, INVALID, INVALID],
    Mov8Store DU [Mov_rm8_r8, INVALID, INVALID, INVALID, INVALID],
    MovzxB DR [Movzx_r32_rm8, INVALID, INVALID, INVALID, INVALID],
    MovzxW DR [Movzx_r32_rm16, INVALID, INVALID, INVALID, INVALID],
    MovsxB DR [Movsx_r64_rm8, INVALID, INVALID, INVALID, INVALID],
    MovsxW DR [Movsx_r64_rm16, INVALID, INVALID, INVALID, INVALID],
    Movsxd DR [Movsxd_r64_rm32, INVALID, INVALID, INVALID, INVALID],
    Cmove MR [Cmove_r64_rm64, INVALID, INVALID, INVALID, INVALID],
    Sete M [Sete_rm8, INVALID, INVALID, INVALID, INVALID],
    Cmovne MR [Cmovne_r64_rm64, INVALID, INVALID, INVALID, INVALID],
    Setne M [Setne_rm8, INVALID, INVALID, INVALID, INVALID],
    Cmovl MR [Cmovl_r64_rm64, INVALID, INVALID, INVALID, INVALID],
    Setl M [Setl_rm8, INVALID, INVALID, INVALID, INVALID],
    Cmovle MR [Cmovle_r64_rm64, INVALID, INVALID, INVALID, INVALID],
    Setle M [Setle_rm8, INVALID, INVALID, INVALID, INVALID],
    Cmovg MR [Cmovg_r64_rm64, INVALID, INVALID, INVALID, INVALID],
    Setg M [Setg_rm8, INVALID, INVALID, INVALID, INVALID],
    Cmovge MR [Cmovge_r64_rm64, INVALID, INVALID, INVALID, INVALID],
    Setge M [Setge_rm8, INVALID, INVALID, INVALID, INVALID],
    Cmovs MR [Cmovs_r64_rm64, INVALID, INVALID, INVALID, INVALID],
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The encodings of a vector row are one instruction (EVEX may have its own name), in ascending width.
    #[test]
    fn rows_are_one_instruction() {
        for &isa in Isa::ALL.iter().filter(|isa| !isa.is_general()) {
            let (_, codes) = *isa.row();
            for half in [&codes[..2], &codes[2..]] {
                let names: Vec<_> =
                    half.iter().filter(|c| **c != Code::INVALID).map(|c| c.mnemonic()).collect();
                assert!(names.windows(2).all(|pair| pair[0] == pair[1]), "{isa:?}: {names:?}");
            }
            assert!(codes.iter().any(|code| *code != Code::INVALID), "{isa:?} has no encoding");
        }
    }

    #[test]
    fn rows_have_the_operands_of_their_roles() {
        for &isa in Isa::ALL.iter().filter(|isa| !isa.is_general()) {
            let (roles, codes) = *isa.row();
            for code in codes.into_iter().filter(|code| *code != Code::INVALID) {
                // Masks of gathers and the like stand in the prefix, not among the operands.
                let mut instruction = iced_x86::Instruction::default();
                instruction.set_code(code);
                assert_eq!(instruction.op_count() as usize, roles.len(), "{isa:?}: {code:?}");
            }
        }
    }

    #[test]
    fn rows_define_their_first_operand_alone() {
        for &isa in Isa::ALL {
            let (roles, _) = *isa.row();
            assert!(roles.rfind('D').unwrap_or(0) == 0, "{isa:?}: {roles}");
        }
    }
}
