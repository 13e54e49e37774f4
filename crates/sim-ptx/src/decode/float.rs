//! Floating-point arithmetic, each result rounded once; approximations give the correctly rounded value, which is
//! within every bound that the language states.

use tegula_isa_ptx::Op;
use tegula_isa_ptx::modifiers::{ApproxRound, DivRound, FloatTest};
use tegula_isa_ptx::types::Scalar;

use super::Rows;
use super::arithmetic::{halves1, halves2, halves3};
use crate::map::Map;
use crate::number::{BF16, F16, F32, Format, Rounding, TF32, add_odd, direct, odd};

/// How results are written.
#[derive(Clone, Copy)]
struct Style {
    ty: Scalar,
    rounding: Rounding,
    ftz: bool,
    sat: bool,
    relu: bool,
}

/// `None`: not of this kind.
pub fn map(op: &Op, rows: &mut Rows) -> Option<Map> {
    Some(match op {
        Op::FAdd(o) => {
            let style = style(o.ty.scalar(), o.round.unwrap_or_default().into(), o.ftz, o.sat);
            two(style, rows.reg(o.d), rows.operand(o.a), rows.operand(o.b), |a, b| a + b, sum)
        }
        Op::FSub(o) => {
            let style = style(o.ty.scalar(), o.round.unwrap_or_default().into(), o.ftz, o.sat);
            two(
                style,
                rows.reg(o.d),
                rows.operand(o.a),
                rows.operand(o.b),
                |a, b| a - b,
                |s, a, b| sum(s, a, -b),
            )
        }
        Op::FMul(o) => {
            let style = style(o.ty.scalar(), o.round.unwrap_or_default().into(), o.ftz, o.sat);
            two(style, rows.reg(o.d), rows.operand(o.a), rows.operand(o.b), |a, b| a * b, product)
        }
        Op::Fma(o) => {
            let style = Style { relu: o.relu, ..style(o.ty.scalar(), o.round.into(), o.ftz, o.sat) };
            let sources = [rows.operand(o.a), rows.operand(o.b), rows.operand(o.c)];
            fma(style, rows.reg(o.d), sources)
        }
        Op::FDiv(o) => {
            let rounding = match o.round {
                DivRound::Approx | DivRound::Full | DivRound::Rn => Rounding::Nearest,
                DivRound::Rz => Rounding::Zero,
                DivRound::Rm => Rounding::Down,
                DivRound::Rp => Rounding::Up,
            };
            let style = style(o.ty.scalar(), rounding, o.ftz, false);
            two(style, rows.reg(o.d), rows.operand(o.a), rows.operand(o.b), |a, b| a / b, quotient)
        }
        Op::FAbs(o) => sign(o.ty.scalar(), o.ftz, rows.reg(o.d), rows.operand(o.a), |a, sign| a & !sign),
        Op::FNeg(o) => sign(o.ty.scalar(), o.ftz, rows.reg(o.d), rows.operand(o.a), |a, sign| a ^ sign),
        Op::FMin(o) => extremum(
            [o.ftz, o.nan, o.xorsign, false],
            o.ty.scalar(),
            [rows.reg(o.d), rows.operand(o.a), rows.operand(o.b)],
        ),
        Op::FMax(o) => extremum(
            [o.ftz, o.nan, o.xorsign, true],
            o.ty.scalar(),
            [rows.reg(o.d), rows.operand(o.a), rows.operand(o.b)],
        ),
        Op::Rcp(o) => {
            let style = style(o.ty.scalar(), approx(o.round), o.ftz, false);
            one(style, rows.reg(o.d), rows.operand(o.a), |s, a| quotient(s, 1.0, a))
        }
        Op::Sqrt(o) => {
            let style = style(o.ty.scalar(), approx(o.round), o.ftz, false);
            one(style, rows.reg(o.d), rows.operand(o.a), |s, a| {
                let root = a.sqrt();
                finish(s, root, (-root).mul_add(root, a))
            })
        }
        Op::Rsqrt(o) => {
            let style = style(o.ty.scalar(), Rounding::Nearest, o.ftz, false);
            one(style, rows.reg(o.d), rows.operand(o.a), |s, a| finish(s, 1.0 / a.sqrt(), 0.0))
        }
        Op::Sin(o) => unary(Scalar::F32, o.ftz, rows.reg(o.d), rows.operand(o.a), f64::sin),
        Op::Cos(o) => unary(Scalar::F32, o.ftz, rows.reg(o.d), rows.operand(o.a), f64::cos),
        Op::Lg2(o) => unary(Scalar::F32, o.ftz, rows.reg(o.d), rows.operand(o.a), f64::log2),
        Op::Ex2(o) => unary(o.ty.scalar(), o.ftz, rows.reg(o.d), rows.operand(o.a), f64::exp2),
        Op::Tanh(o) => unary(o.ty.scalar(), false, rows.reg(o.d), rows.operand(o.a), f64::tanh),
        Op::Testp(o) => {
            let (ty, test) = (o.ty.scalar(), o.test);
            Map::one(rows.reg(o.p), rows.operand(o.a), move |a| testp(ty, test, a) as u64)
        }
        Op::Copysign(o) => {
            let sign = 1u64 << (o.ty.scalar().bits() - 1);
            Map::two(rows.reg(o.d), rows.operand(o.a), rows.operand(o.b), move |a, b| b & !sign | a & sign)
        }
        _ => return None,
    })
}

fn style(ty: Scalar, rounding: Rounding, ftz: bool, sat: bool) -> Style {
    Style { ty, rounding, ftz, sat, relu: false }
}

fn approx(round: ApproxRound) -> Rounding {
    match round {
        ApproxRound::Approx | ApproxRound::Rn => Rounding::Nearest,
        ApproxRound::Rz => Rounding::Zero,
        ApproxRound::Rm => Rounding::Down,
        ApproxRound::Rp => Rounding::Up,
    }
}

/// The format, unless it is f64.
pub fn format(ty: Scalar) -> Option<Format> {
    match ty {
        Scalar::F16 | Scalar::F16x2 => Some(F16),
        Scalar::BF16 | Scalar::BF16x2 => Some(BF16),
        Scalar::F32 => Some(F32),
        Scalar::TF32 => Some(TF32),
        _ => None,
    }
}

/// The value of bits.
pub fn read(ty: Scalar, ftz: bool, bits: u64) -> f64 {
    match ty {
        Scalar::F64 => f64::from_bits(bits),
        Scalar::F32 => flush32(ftz, f32::from_bits(bits as u32)) as f64,
        _ => {
            let value = format(ty).map_or(0.0, |format| format.decode(bits));
            if ftz && value.abs() < 6.103515625e-5 { 0.0 * value } else { value }
        }
    }
}

fn flush32(ftz: bool, value: f32) -> f32 {
    if ftz && value.abs() < f32::MIN_POSITIVE { 0.0f32.copysign(value) } else { value }
}

/// The bits of `value + error`, rounded once.
fn finish(s: Style, value: f64, error: f64) -> u64 {
    let Some(format) = format(s.ty) else {
        let value = direct(value, error, s.rounding);
        return if value.is_nan() { 0x7fff_ffff_ffff_ffff } else { value.to_bits() };
    };
    let bits = format.encode(odd(value, error), s.rounding);
    modify(s, format, bits)
}

/// Flushing and clamping of a result.
fn modify(s: Style, format: Format, bits: u64) -> u64 {
    if !(s.ftz || s.sat || s.relu) {
        return bits;
    }
    let value = format.decode(bits);
    let negative = bits >> (format.bits() - 1) & 1 == 1;
    if s.relu && negative && !value.is_nan() || s.sat && (value.is_nan() || negative) {
        return 0;
    }
    if s.sat && value > 1.0 {
        return format.encode(1.0, Rounding::Nearest);
    }
    let least = if format == F16 { 6.103515625e-5 } else { f32::MIN_POSITIVE as f64 };
    if s.ftz && value.abs() < least { bits & 1 << (format.bits() - 1) } else { bits }
}

fn sum(s: Style, a: f64, b: f64) -> u64 {
    if s.ty != Scalar::F64 {
        return finish(s, add_odd(a, b), 0.0);
    }
    let sum = a + b;
    let b_part = sum - a;
    finish(s, sum, (a - (sum - b_part)) + (b - b_part))
}

fn product(s: Style, a: f64, b: f64) -> u64 {
    let product = a * b;
    finish(s, product, if s.ty == Scalar::F64 { a.mul_add(b, -product) } else { 0.0 })
}

fn quotient(s: Style, a: f64, b: f64) -> u64 {
    let quotient = a / b;
    let rest = (-quotient).mul_add(b, a);
    finish(s, quotient, if b < 0.0 { -rest } else { rest })
}

fn fused(s: Style, a: f64, b: f64, c: f64) -> u64 {
    let product = a * b;
    if s.ty != Scalar::F64 {
        return finish(s, add_odd(product, c), 0.0);
    }
    let result = a.mul_add(b, c);
    let rest = a.mul_add(b, -product);
    let sum = product + c;
    let c_part = sum - product;
    let error = (product - (sum - c_part)) + (c - c_part);
    finish(s, result, (sum - result) + (error + rest))
}

/// NaN has one form.
fn write32(value: f32) -> u64 {
    if value.is_nan() { 0x7fff_ffff } else { value.to_bits() as u64 }
}

fn one(s: Style, d: u32, a: u32, f: impl Fn(Style, f64) -> u64 + Send + Sync + 'static) -> Map {
    Map::one(d, a, move |a| f(s, read(s.ty, s.ftz, a)))
}

/// By `fast` for f32 to nearest, else by `f`.
fn two(
    s: Style,
    d: u32,
    a: u32,
    b: u32,
    fast: impl Fn(f32, f32) -> f32 + Send + Sync + 'static,
    f: impl Fn(Style, f64, f64) -> u64 + Send + Sync + 'static,
) -> Map {
    let single = move |a: u64, b: u64| f(s, read(s.ty, s.ftz, a), read(s.ty, s.ftz, b));
    if s.ty == Scalar::F32 && s.rounding == Rounding::Nearest {
        let plain = !s.ftz && !s.sat;
        return Map::two(d, a, b, move |a, b| {
            let (a, b) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
            if plain {
                write32(fast(a, b))
            } else {
                modify(s, F32, write32(fast(flush32(s.ftz, a), flush32(s.ftz, b))))
            }
        });
    }
    if s.ty.is_packed() { Map::two(d, a, b, halves2(single)) } else { Map::two(d, a, b, single) }
}

fn fma(s: Style, d: u32, sources: [u32; 3]) -> Map {
    let single = move |a: u64, b: u64, c: u64| {
        fused(s, read(s.ty, s.ftz, a), read(s.ty, s.ftz, b), read(s.ty, s.ftz, c))
    };
    if s.ty == Scalar::F32 && s.rounding == Rounding::Nearest {
        return Map::three(d, sources, move |a, b, c| {
            let [a, b, c] = [a, b, c].map(|bits| flush32(s.ftz, f32::from_bits(bits as u32)));
            modify(s, F32, write32(a.mul_add(b, c)))
        });
    }
    if s.ty.is_packed() { Map::three(d, sources, halves3(single)) } else { Map::three(d, sources, single) }
}

/// A function that has no exact rounding, through f64.
fn unary(ty: Scalar, ftz: bool, d: u32, a: u32, f: impl Fn(f64) -> f64 + Send + Sync + 'static) -> Map {
    let s = style(ty, Rounding::Nearest, ftz, false);
    let single = move |a: u64| finish(s, f(read(s.ty, s.ftz, a)), 0.0);
    if ty.is_packed() { Map::one(d, a, halves1(single)) } else { Map::one(d, a, single) }
}

fn sign(ty: Scalar, ftz: bool, d: u32, a: u32, f: impl Fn(u64, u64) -> u64 + Send + Sync + 'static) -> Map {
    let s = style(ty, Rounding::Nearest, ftz, false);
    let bit = if ty.is_packed() { 1 << 15 } else { 1 << (ty.bits() - 1) };
    let single = move |a: u64| match format(s.ty) {
        Some(format) if s.ftz => modify(s, format, f(a, bit)),
        _ => f(a, bit),
    };
    if ty.is_packed() { Map::one(d, a, halves1(single)) } else { Map::one(d, a, single) }
}

/// Flags: ftz, nan, xorsign, whether the greater is wanted. Rows: `d`, `a`, `b`.
fn extremum([ftz, nan, xorsign, greater]: [bool; 4], ty: Scalar, [d, a, b]: [u32; 3]) -> Map {
    let s = style(ty, Rounding::Nearest, ftz, false);
    let width = if ty.is_packed() { 16 } else { ty.bits() };
    let sign_bit = 1u64 << (width - 1);
    let single = move |a: u64, b: u64| {
        let sign = (a ^ b) & sign_bit;
        let (a, b) = if xorsign { (a & !sign_bit, b & !sign_bit) } else { (a, b) };
        let (x, y) = (read(s.ty, s.ftz, a), read(s.ty, s.ftz, b));
        let canonical = if s.ty == Scalar::F64 { u64::MAX >> 1 } else { sign_bit - 1 };
        if nan && (x.is_nan() || y.is_nan()) || x.is_nan() && y.is_nan() {
            return canonical;
        }
        let a_is_less = if x == y { x.is_sign_negative() } else { x < y };
        let pick_b = x.is_nan() || !y.is_nan() && a_is_less == greater;
        let picked = if pick_b { b } else { a };
        let picked = format(s.ty).map_or(picked, |format| modify(s, format, picked));
        if xorsign { picked | sign } else { picked }
    };
    if ty.is_packed() { Map::two(d, a, b, halves2(single)) } else { Map::two(d, a, b, single) }
}

fn testp(ty: Scalar, test: FloatTest, bits: u64) -> bool {
    let value = read(ty, false, bits);
    let least = if ty == Scalar::F32 { f32::MIN_POSITIVE as f64 } else { f64::MIN_POSITIVE };
    let is_small = value.abs() < least;
    match test {
        FloatTest::Finite => value.is_finite(),
        FloatTest::Infinite => value.is_infinite(),
        FloatTest::Number => !value.is_nan(),
        FloatTest::NotANumber => value.is_nan(),
        FloatTest::Normal => value.is_finite() && !is_small,
        FloatTest::Subnormal => is_small && value != 0.0,
    }
}
