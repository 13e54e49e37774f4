//! Bits: logic, shifts, permutations, moves, choices, comparisons.

use std::cmp::Ordering;

use tegula_isa_ptx::Op;
use tegula_isa_ptx::modifiers::{BoolOp, Direction, PermuteMode, ShiftMode};
use tegula_isa_ptx::types::Scalar;

use super::Rows;
use super::arithmetic::holds;
use super::float::read;
use crate::lanes::{ones, signed};
use crate::map::Map;

/// `None`: not of this kind.
pub fn map(op: &Op, rows: &mut Rows) -> Option<Map> {
    Some(match op {
        Op::And(o) => Map::two(rows.reg(o.d), rows.operand(o.a), rows.operand(o.b), |a, b| a & b),
        Op::Or(o) => Map::two(rows.reg(o.d), rows.operand(o.a), rows.operand(o.b), |a, b| a | b),
        Op::Xor(o) => Map::two(rows.reg(o.d), rows.operand(o.a), rows.operand(o.b), |a, b| a ^ b),
        Op::Not(o) => {
            let bits = o.ty.scalar().bits();
            Map::one(rows.reg(o.d), rows.operand(o.a), move |a| !a & ones(bits))
        }
        Op::Lop3(o) => {
            let table = o.table;
            let sources = [rows.operand(o.a), rows.operand(o.b), rows.operand(o.c)];
            Map::three(rows.reg(o.d), sources, move |a, b, c| lop3(table, a, b, c) & ones(32))
        }
        Op::Shl(o) => {
            let bits = o.ty.scalar().bits();
            Map::two(rows.reg(o.d), rows.operand(o.a), rows.operand(o.b), move |a, by| {
                if by >= bits as u64 { 0 } else { a << by & ones(bits) }
            })
        }
        Op::Shr(o) => {
            let ty = o.ty.scalar();
            let bits = ty.bits();
            Map::two(rows.reg(o.d), rows.operand(o.a), rows.operand(o.b), move |a, by| {
                if ty.is_signed() {
                    (signed(a, bits) >> by.min(63)) as u64 & ones(bits)
                } else if by >= bits as u64 {
                    0
                } else {
                    a >> by
                }
            })
        }
        Op::Shf(o) => {
            let (direction, mode) = (o.direction, o.mode);
            let sources = [rows.operand(o.lo), rows.operand(o.hi), rows.operand(o.by)];
            Map::three(rows.reg(o.d), sources, move |lo, hi, by| {
                let by = if mode == ShiftMode::Clamp { by.min(32) } else { by & 31 };
                let both = hi << 32 | lo;
                match direction {
                    Direction::Left => (both << by) >> 32,
                    Direction::Right => both >> by & ones(32),
                }
            })
        }
        Op::Prmt(o) => {
            let mode = o.mode;
            let sources = [rows.operand(o.a), rows.operand(o.b), rows.operand(o.selector)];
            Map::three(rows.reg(o.d), sources, move |a, b, selector| permute(mode, b << 32 | a, selector))
        }
        Op::Mov(o) => Map::one(rows.reg(o.d), rows.operand(o.a), |a| a),
        Op::MovAddress(o) => Map::one(rows.reg(o.d), rows.symbol(o.symbol), |a| a),
        Op::PackHalves(o) => pack(rows.reg(o.d), rows.regs(&o.parts), 16),
        Op::PackWords(o) => pack(rows.reg(o.d), rows.regs(&o.parts), 32),
        Op::PackQuarters(o) => pack(rows.reg(o.d), rows.regs(&o.parts), 16),
        Op::UnpackHalves(o) => unpack(rows.regs(&o.parts), rows.reg(o.a), 16),
        Op::UnpackWords(o) => unpack(rows.regs(&o.parts), rows.reg(o.a), 32),
        Op::UnpackQuarters(o) => unpack(rows.regs(&o.parts), rows.reg(o.a), 16),
        Op::Selp(o) => {
            let sources = [rows.operand(o.a), rows.operand(o.b), rows.reg(o.p)];
            Map::three(rows.reg(o.d), sources, |a, b, p| if p & 1 == 1 { a } else { b })
        }
        Op::Setp(o) => setp(o, rows),
        _ => return None,
    })
}

fn setp(o: &tegula_isa_ptx::op::Setp, rows: &mut Rows) -> Map {
    let (ty, cmp, ftz, combine) = (o.ty.scalar(), o.cmp, o.ftz, o.combine);
    let test = move |ty: Scalar, a: u64, b: u64| holds(cmp, order(ty, ftz, a, b));
    let (a, b) = (rows.operand(o.a), rows.operand(o.b));
    let joined = move |value: bool, c: bool| match combine {
        None => value,
        Some(BoolOp::And) => value && c,
        Some(BoolOp::Or) => value || c,
        Some(BoolOp::Xor) => value != c,
    } as u64;
    if o.q.is_none() && o.c.is_none() && !ty.is_packed() {
        return Map::two(rows.reg(o.p), a, b, move |a, b| test(ty, a, b) as u64);
    }
    let mut results = vec![rows.reg(o.p)];
    results.extend(o.q.map(|q| rows.reg(q)));
    let mut sources = vec![a, b];
    let negated = o.c.is_some_and(|c| c.negated);
    sources.extend(o.c.map(|c| rows.reg(c.reg)));
    Map::many(results, sources, move |[a, b, c, _]| {
        let c = (c & 1 == 1) != negated;
        match half_of(ty) {
            Some(half) => {
                let low = test(half, a & 0xffff, b & 0xffff);
                let high = test(half, a >> 16, b >> 16);
                [joined(low, c), joined(high, c), 0, 0]
            }
            None => {
                let value = test(ty, *a, *b);
                [joined(value, c), joined(!value, c), 0, 0]
            }
        }
    })
}

fn half_of(ty: Scalar) -> Option<Scalar> {
    match ty {
        Scalar::F16x2 => Some(Scalar::F16),
        Scalar::BF16x2 => Some(Scalar::BF16),
        _ => None,
    }
}

fn order(ty: Scalar, ftz: bool, a: u64, b: u64) -> Option<Ordering> {
    if ty.is_float() {
        return read(ty, ftz, a).partial_cmp(&read(ty, ftz, b));
    }
    let bits = ty.bits();
    Some(if ty.is_signed() { signed(a, bits).cmp(&signed(b, bits)) } else { a.cmp(&b) })
}

fn lop3(table: u32, a: u64, b: u64, c: u64) -> u64 {
    let mut result = 0;
    for case in 0..8u32 {
        if table >> case & 1 == 1 {
            let side = |value: u64, bit: u32| if case >> bit & 1 == 1 { value } else { !value };
            result |= side(a, 2) & side(b, 1) & side(c, 0);
        }
    }
    result
}

/// Four of the eight bytes.
fn permute(mode: Option<PermuteMode>, bytes: u64, selector: u64) -> u64 {
    let byte = |at: u64| bytes >> (8 * (at & 7)) & 0xff;
    let pick = |at: [u64; 4]| (0..4).map(|i| byte(at[i]) << (8 * i)).sum::<u64>();
    let n = selector & 3;
    match mode {
        None => (0..4)
            .map(|i| {
                let nibble = selector >> (4 * i) & 0xf;
                let picked = byte(nibble);
                let spread = if picked & 0x80 != 0 { 0xff } else { 0 };
                (if nibble & 8 != 0 { spread } else { picked }) << (8 * i)
            })
            .sum(),
        Some(PermuteMode::F4e) => pick([n, n + 1, n + 2, n + 3]),
        Some(PermuteMode::B4e) => pick([n, n + 7, n + 6, n + 5]),
        Some(PermuteMode::Rc8) => pick([n, n, n, n]),
        Some(PermuteMode::Ecl) => pick([0u64, 1, 2, 3].map(|i| i.max(n))),
        Some(PermuteMode::Ecr) => pick([0u64, 1, 2, 3].map(|i| i.min(n))),
        Some(PermuteMode::Rc16) => {
            let low = 2 * (n & 1);
            pick([low, low + 1, low, low + 1])
        }
    }
}

fn pack(d: u32, parts: Vec<u32>, bits: u32) -> Map {
    Map::many(vec![d], parts, move |parts| {
        let joined = (0..4).filter(|i| i * bits < 64).map(|i| parts[i as usize] << (i * bits));
        [joined.fold(0, |sum, part| sum | part), 0, 0, 0]
    })
}

fn unpack(parts: Vec<u32>, a: u32, bits: u32) -> Map {
    Map::many(parts, vec![a], move |[a, ..]| {
        std::array::from_fn(|i| a.checked_shr(i as u32 * bits).unwrap_or(0) & ones(bits))
    })
}
