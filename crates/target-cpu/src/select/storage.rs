//! Storage types to and from their register form.
//!
//! A *packed* vector holds the elements as they lie in memory, from the lowest byte of a register on.
//! Widening is exact; narrowing keeps low bits of integers and rounds floats to nearest even, all in vector
//! arithmetic that gives the same bits on both tiers.

use super::{Select, Selected};
use crate::isa::{Isa, Width};
use crate::mir::{Arg, Masking, Mem, Size, VReg};
use crate::schedule::Elem;
use crate::tier::Tier;
use tegula_base::DType;

/// Where packed elements are.
#[derive(Clone, Copy)]
pub enum Packed {
    Reg(VReg),
    Mem(Mem),
    /// Elements that an AVX-512 mask turns off are not touched and read as 0.
    Masked(Mem, VReg),
}

/// An 8-bit float format: mantissa bits, exponent bias, what overflow becomes.
struct Float8 {
    mantissa: i64,
    bias: i32,
    overflow: i32,
}

const E4M3: Float8 = Float8 { mantissa: 3, bias: 7, overflow: 0x7f };
const E5M2: Float8 = Float8 { mantissa: 2, bias: 15, overflow: 0x7c };
const NAN8: i32 = 0x7f;
const F32_INF: i32 = 0x7f80_0000;

/// Places and sizes of what one instruction moves, largest first.
fn pieces(bytes: usize) -> impl Iterator<Item = (usize, usize)> {
    let sizes = [16, 8, 4, 2, 1].into_iter().filter(move |size| bytes & size != 0);
    sizes.map(move |size| (bytes & !(2 * size - 1), size))
}

impl Select<'_> {
    /// Loads `bytes` (1, 2, 4, 8, 16, 32 or 64) into the low part of a register, the rest being 0.
    pub(super) fn load_packed(&mut self, source: Mem, bytes: usize) -> VReg {
        let small = match bytes {
            1 => Isa::MovzxB,
            2 => Isa::MovzxW,
            4 => return self.v_load(Isa::VmovssLoad, Width::X, source),
            8 => return self.v_load(Isa::VmovsdLoad, Width::X, source),
            _ => {
                let width = if bytes <= 16 {
                    Width::X
                } else if bytes <= 32 {
                    Width::Y
                } else {
                    Width::Z
                };
                return self.v_load(Isa::VmovupsLoad, width, source);
            }
        };
        let word = self.b.gpr();
        self.b.isa(small, Width::X, &[Arg::Reg(word, Size::B32), Arg::Mem(source)]);
        self.word_to_vec(word)
    }

    /// Stores the low `bytes` of a register.
    pub(super) fn store_packed(&mut self, to: Mem, packed: VReg, bytes: usize) {
        let (isa, width) = match bytes {
            1 | 2 => {
                let isa = if bytes == 1 { Isa::Vpextrb } else { Isa::Vpextrw };
                self.b.isa(isa, Width::X, &[Arg::Mem(to), Arg::Reg(packed, Size::X), Arg::Imm(0)]);
                return;
            }
            4 => (Isa::VmovssStore, Width::X),
            8 => (Isa::VmovsdStore, Width::X),
            16 => (Isa::VmovupsStore, Width::X),
            32 => (Isa::VmovupsStore, Width::Y),
            _ => (Isa::VmovupsStore, Width::Z),
        };
        self.b.isa(isa, width, &[Arg::Mem(to), Arg::Reg(packed, width.into())]);
    }

    pub(super) fn word_to_vec(&mut self, word: VReg) -> VReg {
        let reg = self.b.vec(Width::X);
        self.b.isa(Isa::VmovdFromG, Width::X, &[Arg::Reg(reg, Size::X), Arg::Reg(word, Size::B32)]);
        reg
    }

    /// As [`Select::load_packed`], any number of bytes up to 16: none past them is read.
    pub(super) fn load_few(&mut self, source: Mem, bytes: usize) -> VReg {
        debug_assert!(bytes <= 16, "a register of {bytes} bytes is not of 16");
        let mut pieces = pieces(bytes);
        let Some((_, first)) = pieces.next() else { return self.zero(Width::X) };
        let reg = self.load_packed(source, first);
        pieces.fold(reg, |reg, (at, size)| self.with_element(reg, source.plus(at as i32), size, at / size))
    }

    /// The lowest 16 bytes of a register, the `i`-th element of `bytes` from memory.
    pub(super) fn with_element(&mut self, reg: VReg, element: Mem, bytes: usize, i: usize) -> VReg {
        let isa = match bytes {
            1 => Isa::Vpinsrb,
            2 => Isa::Vpinsrw,
            4 => Isa::Vpinsrd,
            _ => Isa::Vpinsrq,
        };
        let next = self.b.vec(Width::X);
        let args = [Arg::Reg(next, Size::X), Arg::Reg(reg, Size::X), Arg::Mem(element), Arg::Imm(i as i64)];
        self.b.isa(isa, Width::X, &args);
        next
    }

    /// As [`Select::store_packed`], any number of bytes of a register of up to 32.
    pub(super) fn store_few(&mut self, to: Mem, packed: VReg, bytes: usize) {
        if bytes > 16 {
            self.store_packed(to, packed, 16);
            let upper = self.upper128(packed);
            return self.store_few(to.plus(16), upper, bytes - 16);
        }
        for (at, size) in pieces(bytes) {
            let isa = match size {
                _ if at == 0 => {
                    self.store_packed(to, packed, size);
                    continue;
                }
                1 => Isa::Vpextrb,
                2 => Isa::Vpextrw,
                4 => Isa::Vpextrd,
                _ => Isa::Vpextrq,
            };
            let args =
                [Arg::Mem(to.plus(at as i32)), Arg::Reg(packed, Size::X), Arg::Imm((at / size) as i64)];
            self.b.isa(isa, Width::X, &args);
        }
    }

    /// The register form of packed elements of a type.
    pub(super) fn widen(&mut self, dtype: DType, lanes: u32, packed: Packed) -> Selected<VReg> {
        let width = self.width(Elem::of(dtype), lanes)?;
        let bytes = dtype.size() * lanes as usize;
        // Memory forms read what fills a register.
        let filling = if dtype == DType::F8E5M2 { 8 } else { 4 };
        let packed = match packed {
            Packed::Mem(mem) if lanes < filling || dtype.size() >= 4 => {
                Packed::Reg(self.load_packed(mem, bytes))
            }
            packed => packed,
        };
        Ok(match dtype {
            DType::I8 => self.widen_by(Isa::Vpmovsxbd, width, packed),
            DType::U8 | DType::Bool => self.widen_by(Isa::Vpmovzxbd, width, packed),
            DType::I2 | DType::U2 | DType::I4 | DType::U4 => {
                let bytes = self.widen_by(Isa::Vpmovzxbd, width, packed);
                self.encode(dtype, width, bytes)
            }
            DType::I16 => self.widen_by(Isa::Vpmovsxwd, width, packed),
            DType::U16 => self.widen_by(Isa::Vpmovzxwd, width, packed),
            DType::F16 => self.widen_by(Isa::Vcvtph2ps, width, packed),
            DType::BF16 => {
                let words = self.widen_by(Isa::Vpmovzxwd, width, packed);
                self.vi(Isa::Vpslld, width, words, 16)
            }
            DType::F8E5M2 => {
                // The upper byte of an f16.
                let half = if width == Width::Z { Width::Y } else { Width::X };
                let bytes = self.widen_by(Isa::Vpmovzxbw, half, packed);
                let words = self.vi(Isa::Vpsllw, half, bytes, 8);
                self.v_sized(Isa::Vcvtph2ps, width, width, half, words)
            }
            DType::F8E4M3FN => {
                let bytes = self.widen_by(Isa::Vpmovzxbd, width, packed);
                self.widen_e4m3(width, bytes)
            }
            DType::F4E2M1
            | DType::F6E2M3
            | DType::F6E3M2
            | DType::F8E4M3FNUZ
            | DType::F8E5M2FNUZ
            | DType::F8E8M0 => {
                return Err(self.internal(&format!("{dtype} in a kernel")));
            }
            DType::I32 | DType::U32 | DType::F32 | DType::I64 | DType::U64 | DType::F64 => match packed {
                Packed::Reg(reg) => reg,
                Packed::Mem(mem) => self.load_packed(mem, bytes),
                Packed::Masked(mem, mask) => {
                    let isa = if dtype.size() == 4 { Isa::VmovupsLoad } else { Isa::Vmovdqu64Load };
                    let reg = self.v_load(isa, width, mem);
                    self.mask_last(mask);
                    reg
                }
            },
        })
    }

    /// One widening instruction, the source being a register or memory.
    fn widen_by(&mut self, isa: Isa, width: Width, packed: Packed) -> VReg {
        match packed {
            // Sources are at most as wide as half of the result.
            Packed::Reg(reg) => {
                let source =
                    if width == Width::Z && matches!(isa, Isa::Vpmovsxwd | Isa::Vpmovzxwd | Isa::Vcvtph2ps) {
                        Width::Y
                    } else {
                        Width::X
                    };
                self.v_sized(isa, width, width, source, reg)
            }
            Packed::Mem(mem) => self.v_load(isa, width, mem),
            Packed::Masked(mem, mask) => {
                let reg = self.v_load(isa, width, mem);
                self.mask_last(mask);
                reg
            }
        }
    }

    /// Puts the last instruction under a zeroing mask.
    pub(super) fn mask_last(&mut self, mask: VReg) {
        if let Some(inst) = self.b.mir.insts.last_mut() {
            inst.mask = Some((mask, Masking::Zero));
        }
    }

    /// Exponent and mantissa in the place of an f32's, scaled by the difference of the biases: exact for
    /// subnormals too.
    fn widen_e4m3(&mut self, width: Width, bytes: VReg) -> VReg {
        let low = self.splat_i32(width, 0x7f);
        let magnitude = self.vv(Isa::Vpand, width, bytes, low);
        let shifted = self.vi(Isa::Vpslld, width, magnitude, 20);
        let scale = self.splat_i32(width, (127 + 120) << 23);
        let value = self.vv(Isa::Vmulps, width, shifted, scale);
        let nan = self.splat_i32(width, 0x7fc0_0000);
        let is_nan = self.equal_i32(width, magnitude, low);
        let value = self.blend_i32(width, is_nan, nan, value);
        let up = self.vi(Isa::Vpslld, width, bytes, 24);
        let sign_bit = self.splat_i32(width, i32::MIN);
        let sign = self.vv(Isa::Vpand, width, up, sign_bit);
        self.vv(Isa::Vpor, width, value, sign)
    }

    /// The packed form of a register's lanes.
    pub(super) fn narrow(&mut self, dtype: DType, lanes: u32, value: VReg) -> Selected<VReg> {
        let width = self.width(Elem::of(dtype), lanes)?;
        if dtype == DType::F16 {
            let half = if width == Width::Z { Width::Y } else { Width::X };
            let reg = self.b.vec(half);
            let args = [Arg::Reg(reg, half.into()), Arg::Reg(value, width.into()), Arg::Imm(0)];
            self.b.isa(Isa::Vcvtps2ph, width, &args);
            return Ok(reg);
        }
        let value = self.encode(dtype, width, value);
        let bytes = dtype.size();
        if bytes >= 4 {
            return Ok(value);
        }
        if self.tier == Tier::Avx512 {
            let isa = if bytes == 1 { Isa::Vpmovdb } else { Isa::Vpmovdw };
            let to = if bytes == 2 && width == Width::Z { Width::Y } else { Width::X };
            return Ok(self.v_sized(isa, width, to, width, value));
        }
        let pick: Vec<u8> = (0..16u8)
            .map(|i| {
                let (lane, byte) = (i / bytes as u8, i % bytes as u8);
                if lane < 4 { 4 * lane + byte } else { 0x80 }
            })
            .collect();
        let pick = self.vector_constant(width, pick.repeat(width.bytes() / 16));
        let picked = self.vv(Isa::Vpshufb, width, value, pick);
        if width == Width::X {
            return Ok(picked);
        }
        let high = self.upper128(picked);
        let join = if bytes == 1 { Isa::Vpunpckldq } else { Isa::Vpunpcklqdq };
        Ok(self.vv(join, Width::X, picked, high))
    }

    /// Lanes 4.. (of 8) of a 256-bit register.
    pub(super) fn upper128(&mut self, reg: VReg) -> VReg {
        let high = self.b.vec(Width::X);
        let args = [Arg::Reg(high, Size::X), Arg::Reg(reg, Size::Y), Arg::Imm(1)];
        self.b.isa(Isa::Vextract128, Width::Y, &args);
        high
    }

    /// Floats of 16 and 8 bits as integer lanes whose low bits are stored; other types stay.
    pub(super) fn encode(&mut self, dtype: DType, width: Width, value: VReg) -> VReg {
        match dtype {
            DType::BF16 => {
                let rounded = self.round_to_bf16_bits(width, value);
                self.vi(Isa::Vpsrld, width, rounded, 16)
            }
            DType::F8E4M3FN => self.encode_float8(width, value, E4M3),
            DType::F8E5M2 => self.encode_float8(width, value, E5M2),
            // An element a byte.
            DType::I2 | DType::I4 => {
                let unused = 32 - i64::from(dtype.bits());
                let up = self.vi(Isa::Vpslld, width, value, unused);
                self.vi(Isa::Vpsrad, width, up, unused)
            }
            DType::U2 | DType::U4 => {
                let used = self.splat_i32(width, (1 << dtype.bits()) - 1);
                self.vv(Isa::Vpand, width, value, used)
            }
            DType::F4E2M1
            | DType::F6E2M3
            | DType::F6E3M2
            | DType::F8E4M3FNUZ
            | DType::F8E5M2FNUZ
            | DType::F8E8M0
            | DType::Bool
            | DType::I8
            | DType::U8
            | DType::I16
            | DType::U16
            | DType::I32
            | DType::U32
            | DType::I64
            | DType::U64
            | DType::F16
            | DType::F32
            | DType::F64 => value,
        }
    }

    /// Nearest even in the upper 16 bits; NaN stays NaN (quiet). The lower 16 bits are garbage.
    pub(super) fn round_to_bf16_bits(&mut self, width: Width, value: VReg) -> VReg {
        let one = self.splat_i32(width, 1);
        let half = self.splat_i32(width, 0x7fff);
        let up = self.vi(Isa::Vpsrld, width, value, 16);
        let odd = self.vv(Isa::Vpand, width, up, one);
        let sum = self.vv(Isa::Vpaddd, width, value, half);
        let rounded = self.vv(Isa::Vpaddd, width, sum, odd);
        let quiet_bit = self.splat_i32(width, 0x40_0000);
        let quiet = self.vv(Isa::Vpor, width, value, quiet_bit);
        let magnitude = self.magnitude(width, value);
        let inf = self.splat_i32(width, F32_INF);
        let is_nan = self.greater_i32(width, magnitude, inf);
        self.blend_i32(width, is_nan, quiet, rounded)
    }

    fn magnitude(&mut self, width: Width, value: VReg) -> VReg {
        let mask = self.splat_i32(width, 0x7fff_ffff);
        self.vv(Isa::Vpand, width, value, mask)
    }

    /// Normal results are rounded as integers; subnormal ones by an f32 addition whose unit in the last place is
    /// the format's smallest step.
    fn encode_float8(&mut self, width: Width, value: VReg, format: Float8) -> VReg {
        let Float8 { mantissa, bias, overflow } = format;
        let drop = 23 - mantissa;
        let magnitude = self.magnitude(width, value);

        let one = self.splat_i32(width, 1);
        let up = self.vi(Isa::Vpsrld, width, magnitude, drop);
        let odd = self.vv(Isa::Vpand, width, up, one);
        let rebias = ((127 - bias) << mantissa) << drop;
        let bias_half = self.splat_i32(width, (1 << (drop - 1)) - 1 - rebias);
        let sum = self.vv(Isa::Vpaddd, width, magnitude, bias_half);
        let sum = self.vv(Isa::Vpaddd, width, sum, odd);
        let normal = self.vi(Isa::Vpsrld, width, sum, drop);
        let most = self.splat_i32(width, overflow);
        let normal = self.vv(Isa::Vpminsd, width, normal, most);

        let step_exponent = 1 - bias - mantissa as i32;
        let magic = self.splat_i32(width, (127 + 23 + step_exponent) << 23);
        let aligned = self.vv(Isa::Vaddps, width, magnitude, magic);
        let subnormal = self.vv(Isa::Vpsubd, width, aligned, magic);
        let smallest_normal = self.splat_i32(width, (127 + 1 - bias) << 23);
        let is_subnormal = self.greater_i32(width, smallest_normal, magnitude);
        let code = self.blend_i32(width, is_subnormal, subnormal, normal);

        let inf = self.splat_i32(width, F32_INF);
        let is_nan = self.greater_i32(width, magnitude, inf);
        let nan = self.splat_i32(width, NAN8);
        let code = self.blend_i32(width, is_nan, nan, code);
        let down = self.vi(Isa::Vpsrld, width, value, 24);
        let sign_bit = self.splat_i32(width, 0x80);
        let sign = self.vv(Isa::Vpand, width, down, sign_bit);
        self.vv(Isa::Vpor, width, code, sign)
    }
}
