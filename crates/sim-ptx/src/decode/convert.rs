//! Conversions between types.

use tegula_isa_ptx::Op;
use tegula_isa_ptx::modifiers::{ConvertRound, PackRound, Tf32Round};
use tegula_isa_ptx::op::Cvt;
use tegula_isa_ptx::types::{ByteType, NarrowHalf, PackedF8, PackedHalf, Scalar};

use super::Rows;
use super::float::{format, read};
use crate::lanes::{ones, signed};
use crate::map::Map;
use crate::number::{BF16, E4M3, E5M2, F16, Format, Rounding, TF32, odd};

/// `None`: not of this kind.
pub fn map(op: &Op, rows: &mut Rows) -> Option<Map> {
    Some(match op {
        Op::Cvt(o) => {
            let cvt = o.clone();
            Map::one(rows.reg(o.d), rows.reg(o.a), move |a| convert(&cvt, a))
        }
        Op::CvtTf32(o) => {
            let (relu, rounding) = (
                o.relu,
                match o.round {
                    Tf32Round::Rna => Rounding::NearestAway,
                    Tf32Round::Rn => Rounding::Nearest,
                    Tf32Round::Rz => Rounding::Zero,
                },
            );
            // The low 13 bits of a tf32 register are zeros.
            Map::one(rows.reg(o.d), rows.operand(o.a), move |a| {
                TF32.encode(positive(relu, read(Scalar::F32, false, a)), rounding) << 13
            })
        }
        Op::CvtHalves(o) => {
            let to = if o.to == PackedHalf::F16x2 { F16 } else { BF16 };
            let rounding = if o.round == PackRound::Rn { Rounding::Nearest } else { Rounding::Zero };
            let relu = o.relu;
            Map::two(rows.reg(o.d), rows.operand(o.a), rows.operand(o.b), move |a, b| {
                let half = |bits| to.encode(positive(relu, read(Scalar::F32, false, bits)), rounding);
                half(a) << 16 | half(b)
            })
        }
        Op::CvtF8(o) => {
            let (to, relu) = (eight(o.to), o.relu);
            Map::two(rows.reg(o.d), rows.operand(o.a), rows.operand(o.b), move |a, b| {
                let byte = |bits| to.encode_finite(positive(relu, read(Scalar::F32, false, bits)));
                byte(a) << 8 | byte(b)
            })
        }
        Op::CvtF8FromHalves(o) => {
            let (to, relu) = (eight(o.to), o.relu);
            Map::one(rows.reg(o.d), rows.reg(o.a), move |a| {
                let byte = |bits| to.encode_finite(positive(relu, F16.decode(bits)));
                byte(a >> 16) << 8 | byte(a & 0xffff)
            })
        }
        Op::CvtHalvesFromF8(o) => {
            let (from, relu) = (eight(o.from), o.relu);
            Map::one(rows.reg(o.d), rows.reg(o.a), move |a| {
                let half = |bits| F16.encode(positive(relu, from.decode(bits)), Rounding::Nearest);
                half(a >> 8 & 0xff) << 16 | half(a & 0xff)
            })
        }
        Op::CvtPackBytes(o) => {
            let (low, high) = if o.to == ByteType::U8 { (0, 255) } else { (-128, 127) };
            let sources = [rows.operand(o.a), rows.operand(o.b), rows.operand(o.c)];
            Map::three(rows.reg(o.d), sources, move |a, b, c| {
                let byte = |bits| signed(bits, 32).clamp(low, high) as u64 & 0xff;
                (c & 0xffff) << 16 | byte(a) << 8 | byte(b)
            })
        }
        Op::CvtPackHalves(o) => {
            let (low, high) = if o.to == NarrowHalf::U16 { (0, 65535) } else { (-32768, 32767) };
            Map::two(rows.reg(o.d), rows.operand(o.a), rows.operand(o.b), move |a, b| {
                let half = |bits| signed(bits, 32).clamp(low, high) as u64 & 0xffff;
                half(a) << 16 | half(b)
            })
        }
        _ => return None,
    })
}

fn eight(ty: PackedF8) -> Format {
    match ty {
        PackedF8::E4M3x2 => E4M3,
        PackedF8::E5M2x2 => E5M2,
    }
}

/// NaN stays NaN.
fn positive(relu: bool, value: f64) -> f64 {
    if relu && value <= 0.0 { 0.0 } else { value }
}

fn rounding(round: Option<ConvertRound>) -> Rounding {
    match round {
        None | Some(ConvertRound::Rn | ConvertRound::Rni) => Rounding::Nearest,
        Some(ConvertRound::Rz | ConvertRound::Rzi) => Rounding::Zero,
        Some(ConvertRound::Rm | ConvertRound::Rmi) => Rounding::Down,
        Some(ConvertRound::Rp | ConvertRound::Rpi) => Rounding::Up,
    }
}

fn integral(value: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Nearest | Rounding::NearestAway => value.round_ties_even(),
        Rounding::Zero => value.trunc(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
    }
}

fn convert(o: &Cvt, a: u64) -> u64 {
    let (to, from) = (o.to.scalar(), o.from.scalar());
    if !from.is_float() {
        let bits = from.bits();
        let value = if from.is_signed() { signed(a, bits) as i128 } else { (a & ones(bits)) as i128 };
        return if to.is_float() { float_from(o, to, value) } else { integer_from(o.sat, to, value) };
    }
    let value = read(from, o.ftz, a);
    if !to.is_float() {
        let value = integral(value, rounding(o.round));
        // `as` takes NaN to 0 and clamps to 128 bits.
        return integer_from(true, to, value as i128);
    }
    let is_integral = o.round.is_some_and(|round| round >= ConvertRound::Rni);
    let value = if is_integral { integral(value, rounding(o.round)) } else { value };
    write_float(o, to, value)
}

fn float_from(o: &Cvt, to: Scalar, value: i128) -> u64 {
    let near = value as f64;
    let error = (value - near as i128) as f64;
    if to == Scalar::F64 {
        return crate::number::direct(near, error, rounding(o.round)).to_bits();
    }
    write_float(o, to, odd(near, error))
}

fn write_float(o: &Cvt, to: Scalar, value: f64) -> u64 {
    let value = positive(o.relu, value);
    let value = match o.sat {
        true if value.is_nan() => 0.0,
        true => value.clamp(0.0, 1.0),
        false => value,
    };
    let Some(format) = format(to) else {
        return if value.is_nan() { u64::MAX >> 1 } else { value.to_bits() };
    };
    let bits = format.encode(value, rounding(o.round));
    let is_small = to == Scalar::F32 && format.decode(bits).abs() < f32::MIN_POSITIVE as f64;
    if o.ftz && is_small { bits & 1 << 31 } else { bits }
}

/// Clamped or cut. Results of 8 bits fill 16: with zeros or the sign.
fn integer_from(clamps: bool, to: Scalar, value: i128) -> u64 {
    let bits = to.bits();
    let (low, high) = if to.is_signed() {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    } else {
        (0, (1i128 << bits) - 1)
    };
    let value = if clamps { value.clamp(low, high) } else { value };
    let cut = value as u64 & ones(bits);
    if to == Scalar::S8 { signed(cut, 8) as u64 & 0xffff } else { cut }
}
