//! Integer arithmetic.

use tegula_isa_ptx::Op;
use tegula_isa_ptx::modifiers::MulPart;
use tegula_isa_ptx::types::{IntType2, Scalar};

use super::Rows;
use super::arithmetic::halves2;
use crate::lanes::{ones, signed};
use crate::map::Map;

/// `None`: not of this kind.
pub fn map(op: &Op, rows: &mut Rows) -> Option<Map> {
    Some(match op {
        Op::Add(o) => {
            let (bits, d, a, b) = (o.ty.scalar().bits(), rows.reg(o.d), rows.operand(o.a), rows.operand(o.b));
            match o.ty {
                IntType2::S32 if o.sat => {
                    Map::two(d, a, b, |a, b| (a as i32).saturating_add(b as i32) as u32 as u64)
                }
                IntType2::U16x2 | IntType2::S16x2 => Map::two(d, a, b, halves2(|a, b| a.wrapping_add(b))),
                _ => Map::two(d, a, b, move |a, b| a.wrapping_add(b) & ones(bits)),
            }
        }
        Op::Sub(o) => {
            let (bits, d, a, b) = (o.ty.scalar().bits(), rows.reg(o.d), rows.operand(o.a), rows.operand(o.b));
            if o.sat {
                Map::two(d, a, b, |a, b| (a as i32).saturating_sub(b as i32) as u32 as u64)
            } else {
                Map::two(d, a, b, move |a, b| a.wrapping_sub(b) & ones(bits))
            }
        }
        Op::Mul(o) => {
            let (ty, d, a, b) = (o.ty.scalar(), rows.reg(o.d), rows.operand(o.a), rows.operand(o.b));
            let bits = ty.bits();
            match o.part {
                MulPart::Lo => Map::two(d, a, b, move |a, b| a.wrapping_mul(b) & ones(bits)),
                MulPart::Hi => Map::two(d, a, b, move |a, b| high(ty, a, b)),
            }
        }
        Op::MulWide(o) => {
            let ty = o.ty.scalar();
            Map::two(rows.reg(o.d), rows.operand(o.a), rows.operand(o.b), move |a, b| wide(ty, a, b))
        }
        Op::Mad(o) => {
            let (ty, sources) = (o.ty.scalar(), [rows.operand(o.a), rows.operand(o.b), rows.operand(o.c)]);
            let (bits, is_high) = (ty.bits(), o.part == MulPart::Hi);
            Map::three(rows.reg(o.d), sources, move |a, b, c| {
                let product = if is_high { high(ty, a, b) } else { a.wrapping_mul(b) };
                product.wrapping_add(c) & ones(bits)
            })
        }
        Op::MadWide(o) => {
            let (ty, sources) = (o.ty.scalar(), [rows.operand(o.a), rows.operand(o.b), rows.operand(o.c)]);
            let bits = 2 * ty.bits();
            Map::three(rows.reg(o.d), sources, move |a, b, c| wide(ty, a, b).wrapping_add(c) & ones(bits))
        }
        Op::Div(o) => {
            let ty = o.ty.scalar();
            Map::two(rows.reg(o.d), rows.operand(o.a), rows.operand(o.b), move |a, b| {
                if b == 0 { ones(ty.bits()) } else { divide(ty, a, b).0 }
            })
        }
        Op::Rem(o) => {
            let ty = o.ty.scalar();
            Map::two(rows.reg(o.d), rows.operand(o.a), rows.operand(o.b), move |a, b| {
                if b == 0 { a } else { divide(ty, a, b).1 }
            })
        }
        Op::Abs(o) => {
            let bits = o.ty.scalar().bits();
            Map::one(rows.reg(o.d), rows.operand(o.a), move |a| signed(a, bits).unsigned_abs() & ones(bits))
        }
        Op::Neg(o) => {
            let bits = o.ty.scalar().bits();
            Map::one(rows.reg(o.d), rows.operand(o.a), move |a| a.wrapping_neg() & ones(bits))
        }
        Op::Min(o) => extremum(o.ty, o.relu, false, rows.reg(o.d), rows.operand(o.a), rows.operand(o.b)),
        Op::Max(o) => extremum(o.ty, o.relu, true, rows.reg(o.d), rows.operand(o.a), rows.operand(o.b)),
        Op::Dp4a(o) => {
            let (a_ty, b_ty) = (o.a_ty.scalar(), o.b_ty.scalar());
            let sources = [rows.operand(o.a), rows.operand(o.b), rows.operand(o.c)];
            Map::three(rows.reg(o.d), sources, move |a, b, c| {
                let byte = |ty: Scalar, word: u64, at: u32| {
                    let byte = word >> (8 * at) & 0xff;
                    if ty.is_signed() { signed(byte, 8) } else { byte as i64 }
                };
                let sum: i64 = (0..4).map(|at| byte(a_ty, a, at) * byte(b_ty, b, at)).sum();
                (sum as u64).wrapping_add(c) & ones(32)
            })
        }
        Op::Popc(o) => Map::one(rows.reg(o.d), rows.operand(o.a), |a| a.count_ones() as u64),
        Op::Clz(o) => {
            let bits = o.ty.scalar().bits();
            Map::one(rows.reg(o.d), rows.operand(o.a), move |a| (a.leading_zeros() - (64 - bits)) as u64)
        }
        Op::Brev(o) => {
            let bits = o.ty.scalar().bits();
            Map::one(rows.reg(o.d), rows.operand(o.a), move |a| a.reverse_bits() >> (64 - bits))
        }
        Op::Bfind(o) => {
            let (ty, shift_amount) = (o.ty.scalar(), o.shift_amount);
            Map::one(rows.reg(o.d), rows.operand(o.a), move |a| {
                let bits = ty.bits();
                let a = if ty.is_signed() && signed(a, bits) < 0 { !a & ones(bits) } else { a };
                match 63u32.checked_sub(a.leading_zeros()) {
                    Some(place) if shift_amount => (bits - 1 - place) as u64,
                    Some(place) => place as u64,
                    None => u32::MAX as u64,
                }
            })
        }
        Op::Bfe(o) => {
            let ty = o.ty.scalar();
            let sources = [rows.operand(o.a), rows.operand(o.pos), rows.operand(o.len)];
            Map::three(rows.reg(o.d), sources, move |a, pos, len| extract(ty, a, pos, len))
        }
        Op::Bfi(o) => {
            let bits = o.ty.scalar().bits();
            let sources =
                vec![rows.operand(o.a), rows.operand(o.b), rows.operand(o.pos), rows.operand(o.len)];
            Map::many(vec![rows.reg(o.d)], sources, move |[a, b, pos, len]| {
                let (pos, len) = ((pos & 0xff) as u32, (len & 0xff) as u32);
                if pos >= bits {
                    return [*b, 0, 0, 0];
                }
                let mask = ones(len) << pos & ones(bits);
                [b & !mask | a << pos & mask, 0, 0, 0]
            })
        }
        _ => return None,
    })
}

fn wide(ty: Scalar, a: u64, b: u64) -> u64 {
    let bits = ty.bits();
    let product =
        if ty.is_signed() { signed(a, bits).wrapping_mul(signed(b, bits)) as u64 } else { a.wrapping_mul(b) };
    product & ones(2 * bits)
}

fn high(ty: Scalar, a: u64, b: u64) -> u64 {
    let bits = ty.bits();
    let product = if ty.is_signed() {
        signed(a, bits) as i128 * signed(b, bits) as i128
    } else {
        (a as u128 * b as u128) as i128
    };
    (product >> bits) as u64 & ones(bits)
}

/// Quotient and remainder; `b` is not 0.
fn divide(ty: Scalar, a: u64, b: u64) -> (u64, u64) {
    let bits = ty.bits();
    if !ty.is_signed() {
        return (a / b, a % b);
    }
    let (a, b) = (signed(a, bits), signed(b, bits));
    (a.wrapping_div(b) as u64 & ones(bits), a.wrapping_rem(b) as u64 & ones(bits))
}

fn extract(ty: Scalar, a: u64, pos: u64, len: u64) -> u64 {
    let bits = ty.bits();
    let (pos, len) = ((pos & 0xff) as u32, (len & 0xff) as u32);
    let field = if pos >= bits { 0 } else { a >> pos & ones(len) };
    if !ty.is_signed() || len == 0 {
        return if len == 0 { 0 } else { field };
    }
    // The sign is the field's highest bit, or that of `a` where the field reaches beyond it.
    let sign_at = (pos + len - 1).min(bits - 1);
    if a >> sign_at & 1 == 1 {
        let kept = (sign_at + 1).saturating_sub(pos);
        (field | !ones(kept)) & ones(bits)
    } else {
        field
    }
}

fn extremum(ty: IntType2, relu: bool, greater: bool, d: u32, a: u32, b: u32) -> Map {
    let scalar = ty.scalar();
    let packed = scalar.is_packed();
    let bits = if packed { 16 } else { scalar.bits() };
    let is_signed = scalar.is_signed();
    let pick = move |a: u64, b: u64| {
        let a_is_less = if is_signed { signed(a, bits) < signed(b, bits) } else { a < b };
        let picked = if a_is_less == greater { b } else { a };
        if relu && signed(picked, bits) < 0 { 0 } else { picked }
    };
    if packed { Map::two(d, a, b, halves2(pick)) } else { Map::two(d, a, b, pick) }
}
