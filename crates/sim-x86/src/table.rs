//! Which instruction does what: one row each.

use crate::exec::{binary, convert, float, general, int, masks, moves, scattered, shuffle};
use crate::inst::Act;
use iced_x86::{Instruction, Mnemonic, OpKind};

/// Lane by lane on operands 1 and 2.
macro_rules! by_lane {
    ($ty:ty, |$a:ident, $b:ident| $result:expr) => {
        |machine, inst| binary::<$ty>(machine, inst, |$a, $b| $result)
    };
}

/// What the instruction does; `None` if it is not simulated.
pub fn act(instruction: &Instruction) -> Option<Act> {
    use Mnemonic::*;
    let to_mask = instruction.op_kind(0) == OpKind::Register && instruction.op0_register().is_k();
    let by_immediate = instruction.op_count() == 3 && instruction.op_kind(2) == OpKind::Immediate8;
    Some(match instruction.mnemonic() {
        // General registers.
        Lea => general::lea,
        Mov | Movzx => general::mov,
        Movsx | Movsxd => general::movsx,
        Cmove | Cmovne | Cmovl | Cmovle | Cmovg | Cmovge | Cmovs => general::cmov,
        Sete | Setne | Setl | Setle | Setg | Setge | Setb | Sets | Seto => general::set,
        Cqo => general::cqo,
        Xor if is_zeroing(instruction) => general::xor,
        Add | Sub | And | Or | Xor | Cmp | Test | Imul | Neg | Shl | Sar | Shlx | Sarx | Bzhi | Push
        | Pop | Div | Idiv
            if !is_of_64_bits(instruction) =>
        {
            return None;
        }
        Add => general::add,
        Sub => general::sub,
        And => general::and,
        Or => general::or,
        Xor => general::xor,
        Cmp => general::cmp,
        Test => general::test,
        Imul if instruction.op_count() > 1 => general::imul,
        Neg => general::neg,
        Shl if is_by_immediate(instruction) => general::shl,
        Sar if is_by_immediate(instruction) => general::sar,
        Shlx => general::shlx,
        Sarx => general::sarx,
        Bzhi => general::bzhi,
        Push => general::push,
        Pop => general::pop,
        Div => general::div,
        Idiv => general::idiv,
        // Floats.
        Vaddps => float::add::<f32>,
        Vaddpd => float::add::<f64>,
        Vsubps => float::sub::<f32>,
        Vsubpd => float::sub::<f64>,
        Vmulps => float::mul::<f32>,
        Vmulpd => float::mul::<f64>,
        Vdivps => float::div::<f32>,
        Vdivpd => float::div::<f64>,
        Vminps => float::min::<f32>,
        Vminpd => float::min::<f64>,
        Vmaxps => float::max::<f32>,
        Vmaxpd => float::max::<f64>,
        Vsqrtps => float::sqrt::<f32>,
        Vsqrtpd => float::sqrt::<f64>,
        Vroundps | Vrndscaleps => float::round::<f32>,
        Vroundpd | Vrndscalepd => float::round::<f64>,
        Vfmadd132ps => float::fmadd132::<f32>,
        Vfmadd132pd => float::fmadd132::<f64>,
        Vfmadd213ps => float::fmadd213::<f32>,
        Vfmadd213pd => float::fmadd213::<f64>,
        Vfmadd231ps => float::fmadd231::<f32>,
        Vfmadd231pd => float::fmadd231::<f64>,
        Vfnmadd132ps => float::fnmadd132::<f32>,
        Vfnmadd132pd => float::fnmadd132::<f64>,
        Vfnmadd213ps => float::fnmadd213::<f32>,
        Vfnmadd213pd => float::fnmadd213::<f64>,
        Vfnmadd231ps => float::fnmadd231::<f32>,
        Vfnmadd231pd => float::fnmadd231::<f64>,
        Vcmpps if to_mask => float::compare_bits::<f32>,
        Vcmpps => float::compare::<f32>,
        Vcmppd if to_mask => float::compare_bits::<f64>,
        Vcmppd => float::compare::<f64>,
        Vdpbf16ps => float::dot_bf16,
        // Integers.
        Vpaddd => by_lane!(u32, |a, b| a.wrapping_add(b)),
        Vpaddq => by_lane!(u64, |a, b| a.wrapping_add(b)),
        Vpsubd => by_lane!(u32, |a, b| a.wrapping_sub(b)),
        Vpsubq => by_lane!(u64, |a, b| a.wrapping_sub(b)),
        Vpmulld => by_lane!(u32, |a, b| a.wrapping_mul(b)),
        Vpmullq => by_lane!(u64, |a, b| a.wrapping_mul(b)),
        Vpmuludq => int::mul_u32,
        Vpminsd => by_lane!(i32, |a, b| a.min(b)),
        Vpmaxsd => by_lane!(i32, |a, b| a.max(b)),
        Vpminud => by_lane!(u32, |a, b| a.min(b)),
        Vpmaxud => by_lane!(u32, |a, b| a.max(b)),
        Vpminsq => by_lane!(i64, |a, b| a.min(b)),
        Vpmaxsq => by_lane!(i64, |a, b| a.max(b)),
        Vpminuq => by_lane!(u64, |a, b| a.min(b)),
        Vpmaxuq => by_lane!(u64, |a, b| a.max(b)),
        Vpand | Vpandd => by_lane!(u32, |a, b| a & b),
        Vpor | Vpord => by_lane!(u32, |a, b| a | b),
        Vpxor | Vpxord => by_lane!(u32, |a, b| a ^ b),
        Vpandn | Vpandnd => by_lane!(u32, |a, b| !a & b),
        Vpternlogd => int::ternary_logic,
        Vpsllw if by_immediate => int::shl_w,
        Vpslld if by_immediate => int::shl_d,
        Vpsllq if by_immediate => int::shl_q,
        Vpsrlw if by_immediate => int::shr_w,
        Vpsrld if by_immediate => int::shr_d,
        Vpsrlq if by_immediate => int::shr_q,
        Vpsraw if by_immediate => int::sar_w,
        Vpsrad if by_immediate => int::sar_d,
        Vpsllvd => int::shl_d_by,
        Vpsllvq => int::shl_q_by,
        Vpsrlvd => int::shr_d_by,
        Vpsrlvq => int::shr_q_by,
        Vpsravd => int::sar_d_by,
        Vpsravq => int::sar_q_by,
        Vpcmpeqd if !to_mask => int::equal_d,
        Vpcmpeqq if !to_mask => int::equal_q,
        Vpcmpgtd if !to_mask => int::greater_d,
        Vpcmpgtq if !to_mask => int::greater_q,
        Vpcmpd => int::compare::<i32>,
        Vpcmpud => int::compare::<u32>,
        Vpcmpq => int::compare::<i64>,
        Vpcmpuq => int::compare::<u64>,
        Vpmaddubsw => int::sum_pairs_of_bytes,
        Vpmaddwd => int::sum_pairs_of_words,
        Vpdpbusd => int::dot_bytes,
        // From one type to another.
        Vpmovsxbd => convert::i8_to_i32,
        Vpmovzxbd => convert::u8_to_u32,
        Vpmovsxwd => convert::i16_to_i32,
        Vpmovzxwd => convert::u16_to_u32,
        Vpmovsxdq => convert::i32_to_i64,
        Vpmovzxdq => convert::u32_to_u64,
        Vpmovsxbw => convert::i8_to_i16,
        Vpmovzxbw => convert::u8_to_u16,
        Vpmovdb => convert::u32_to_u8,
        Vpmovdw => convert::u32_to_u16,
        Vpmovqd => convert::u64_to_u32,
        Vcvtdq2ps => convert::i32_to_f32,
        Vcvtdq2pd => convert::i32_to_f64,
        Vcvtudq2ps => convert::u32_to_f32,
        Vcvtudq2pd => convert::u32_to_f64,
        Vcvtqq2ps => convert::i64_to_f32,
        Vcvtqq2pd => convert::i64_to_f64,
        Vcvtuqq2ps => convert::u64_to_f32,
        Vcvtuqq2pd => convert::u64_to_f64,
        Vcvtps2dq => convert::f32_to_i32,
        Vcvtpd2dq => convert::f64_to_i32,
        Vcvtps2qq => convert::f32_to_i64,
        Vcvtpd2qq => convert::f64_to_i64,
        Vcvttps2dq => convert::f32_in_i32,
        Vcvttpd2dq => convert::f64_in_i32,
        Vcvttps2qq => convert::f32_in_i64,
        Vcvttpd2qq => convert::f64_in_i64,
        Vcvtps2pd => convert::f32_to_f64,
        Vcvtpd2ps => convert::f64_to_f32,
        Vcvtph2ps => convert::f16_to_f32,
        Vcvtps2ph => convert::f32_to_f16,
        Vcvtsi2ss => convert::general_to_f32,
        Vcvtsi2sd => convert::general_to_f64,
        Vcvtss2si => convert::f32_to_general,
        Vcvtsd2si => convert::f64_to_general,
        Vcvttss2si => convert::f32_in_general,
        Vcvttsd2si => convert::f64_in_general,
        // Loads, stores, parts.
        Vmovups => moves::whole::<u32>,
        Vmovdqu64 => moves::whole::<u64>,
        Vmovaps => moves::aligned::<u32>,
        Vmovss => moves::lowest::<u32>,
        Vmovsd => moves::lowest::<u64>,
        Vmovd => moves::between::<u32>,
        Vmovq => moves::between::<u64>,
        Vpextrb => moves::extract::<u8>,
        Vpextrw => moves::extract::<u16>,
        Vpextrd => moves::extract::<u32>,
        Vpextrq => moves::extract::<u64>,
        Vpinsrb => moves::insert::<u8>,
        Vpinsrw => moves::insert::<u16>,
        Vpinsrd => moves::insert::<u32>,
        Vpinsrq => moves::insert::<u64>,
        Vextractf128 | Vextractf32x4 => moves::extract_part::<u32, 16>,
        Vextractf64x4 => moves::extract_part::<u64, 32>,
        Vinsertf128 | Vinsertf32x4 => moves::insert_part::<u32, 16>,
        Vinsertf64x4 => moves::insert_part::<u64, 32>,
        Vpmaskmovd => moves::by_signs::<u32>,
        Vpmaskmovq => moves::by_signs::<u64>,
        Vpgatherdd | Vpgatherqd => scattered::gather::<u32>,
        Vpgatherdq | Vpgatherqq => scattered::gather::<u64>,
        Vpbroadcastb => convert::broadcast::<u8>,
        Vpbroadcastw => convert::broadcast::<u16>,
        Vpbroadcastd => convert::broadcast::<u32>,
        Vpbroadcastq => convert::broadcast::<u64>,
        Vzeroupper => moves::zero_upper,
        // Lanes in another order.
        Vpshufb => shuffle::bytes,
        Vpshufd => shuffle::dwords,
        Vshufps => shuffle::two_and_two,
        Vpunpckldq => shuffle::unpack_low::<u32>,
        Vpunpckhdq => shuffle::unpack_high::<u32>,
        Vpunpcklqdq => shuffle::unpack_low::<u64>,
        Vperm2f128 => shuffle::halves,
        Vpblendd => shuffle::blend_dwords,
        Vpermd => shuffle::permute_dwords,
        Vpermi2b => shuffle::permute_two_bytes,
        Vpermi2d => shuffle::permute_two_dwords,
        // Masks and choices.
        Kandq => masks::and,
        Korq => masks::or,
        Kxorq => masks::xor,
        Kandnq => masks::and_not,
        Kmovq => masks::mov,
        Vpmovm2d => masks::spread,
        Vpblendmd => masks::blend::<u32>,
        Vpblendmq => masks::blend::<u64>,
        Vblendvps => masks::blend_by_signs::<u32>,
        Vblendvpd => masks::blend_by_signs::<u64>,
        _ => return None,
    })
}

fn is_of_64_bits(instruction: &Instruction) -> bool {
    match instruction.op_kind(0) {
        OpKind::Register => instruction.op0_register().is_gpr64(),
        OpKind::Memory => instruction.memory_size().size() == 8,
        _ => false,
    }
}

fn is_zeroing(instruction: &Instruction) -> bool {
    let is_register = |i: u32| instruction.op_kind(i) == OpKind::Register;
    is_register(0) && is_register(1) && instruction.op0_register() == instruction.op1_register()
}

fn is_by_immediate(instruction: &Instruction) -> bool {
    instruction.op_kind(1) == OpKind::Immediate8
}
