//! Integer operations. Types below 32 bits compute in 32 bits and are wrapped back after what can leave them.

use super::{Scalar, held_class, refuse, select_bits};
use crate::code::{Code, Item, Loop};
use tegula_base::DType;
use tegula_ir::ScalarOp;
use tegula_isa_ptx::modifiers::{Compare, MulPart};
use tegula_isa_ptx::op::*;
use tegula_isa_ptx::types::*;
use tegula_isa_ptx::{Operand, RegClass};

/// How PTX names the type that holds a dtype. Below 32 bits unsigned values are positive signed ones.
struct Held {
    signed: bool,
    class: RegClass,
}

impl Held {
    fn of(dtype: DType) -> Held {
        Held { signed: dtype.is_signed() || dtype.bits() < 32, class: held_class(dtype) }
    }

    fn wide(&self) -> bool {
        self.class == RegClass::B64
    }

    fn int(&self) -> IntType {
        match (self.wide(), self.signed) {
            (false, true) => IntType::S32,
            (false, false) => IntType::U32,
            (true, true) => IntType::S64,
            (true, false) => IntType::U64,
        }
    }

    fn int2(&self) -> IntType2 {
        match (self.wide(), self.signed) {
            (false, true) => IntType2::S32,
            (false, false) => IntType2::U32,
            (true, true) => IntType2::S64,
            (true, false) => IntType2::U64,
        }
    }

    fn compare(&self) -> CompareType {
        match (self.wide(), self.signed) {
            (false, true) => CompareType::S32,
            (false, false) => CompareType::U32,
            (true, true) => CompareType::S64,
            (true, false) => CompareType::U64,
        }
    }

    fn logic(&self) -> LogicType {
        if self.wide() { LogicType::B64 } else { LogicType::B32 }
    }

    fn imm(&self, value: i64) -> Operand {
        if self.wide() { Operand::i64(value) } else { Operand::i32(value as i32) }
    }
}

pub(super) fn apply(code: &mut Code, op: ScalarOp, dtype: DType, args: &[Operand]) -> Scalar {
    let held = Held::of(dtype);
    let a = args[0];
    let b = args.get(1).copied().unwrap_or(a);
    let compare =
        |code: &mut Code, cmp: Compare| -> Operand { code.compare(cmp, held.compare(), a, b).into() };
    Ok(match op {
        ScalarOp::Neg => {
            let minus = subtract(code, &held, held.imm(0), a);
            wrap(code, dtype, minus)
        }
        ScalarOp::Abs if dtype.is_signed() => {
            let minus = subtract(code, &held, held.imm(0), a);
            let larger = extremum(code, &held, a, minus, true);
            wrap(code, dtype, larger)
        }
        ScalarOp::Abs | ScalarOp::Ceil | ScalarOp::Floor | ScalarOp::Round | ScalarOp::Trunc => a,
        ScalarOp::Sign => {
            let low = if held.signed { extremum(code, &held, a, held.imm(-1), true) } else { a };
            extremum(code, &held, low, held.imm(1), false)
        }
        ScalarOp::Not => {
            let flipped = logic(code, &held, a, held.imm(-1), Logic::Xor);
            wrap(code, dtype, flipped)
        }
        ScalarOp::Add => {
            let d = code.fresh(held.class);
            code.emit(Add { ty: held.int2(), d, a, b, ..Default::default() });
            wrap(code, dtype, d.into())
        }
        ScalarOp::Sub => {
            let difference = subtract(code, &held, a, b);
            wrap(code, dtype, difference)
        }
        ScalarOp::Mul => {
            let product = multiply(code, &held, a, b);
            wrap(code, dtype, product)
        }
        ScalarOp::Div => {
            let (quotient, _) = divide(code, &held, a, b, true);
            wrap(code, dtype, quotient)
        }
        ScalarOp::Rem => divide(code, &held, a, b, false).1,
        ScalarOp::Mod => {
            let rest = divide(code, &held, a, b, false).1;
            if !dtype.is_signed() { rest } else { floor_mod(code, &held, rest, b) }
        }
        ScalarOp::Pow => {
            let power = power(code, &held, dtype, a, b);
            wrap(code, dtype, power)
        }
        ScalarOp::Min => extremum(code, &held, a, b, false),
        ScalarOp::Max => extremum(code, &held, a, b, true),
        ScalarOp::And => logic(code, &held, a, b, Logic::And),
        ScalarOp::Or => logic(code, &held, a, b, Logic::Or),
        ScalarOp::Xor => logic(code, &held, a, b, Logic::Xor),
        ScalarOp::ShiftLeft | ScalarOp::ShiftRight => shift(code, op, dtype, &held, a, b),
        ScalarOp::Eq => compare(code, Compare::Eq),
        ScalarOp::Ne => compare(code, Compare::Ne),
        ScalarOp::Lt => compare(code, Compare::Lt),
        ScalarOp::Le => compare(code, Compare::Le),
        ScalarOp::Gt => compare(code, Compare::Gt),
        ScalarOp::Ge => compare(code, Compare::Ge),
        ScalarOp::Fma => {
            let d = code.fresh(held.class);
            code.emit(Mad { part: MulPart::Lo, ty: held.int(), d, a, b, c: args[2] });
            wrap(code, dtype, d.into())
        }
        other => return refuse(other, dtype),
    })
}

/// The value modulo the type's width, extended as its register form is.
pub(super) fn wrap(code: &mut Code, dtype: DType, a: Operand) -> Operand {
    let bits = dtype.bits();
    if bits >= 32 {
        return a;
    }
    let d = code.b32();
    if dtype.is_signed() {
        let (pos, len) = (Operand::u32(0), Operand::u32(bits));
        code.emit(Bfe { ty: WideInt::S32, d, a, pos, len });
    } else {
        code.emit(And { ty: LogicType::B32, d, a, b: Operand::u32((1 << bits) - 1) });
    }
    d.into()
}

#[derive(Clone, Copy)]
enum Logic {
    And,
    Or,
    Xor,
}

fn logic(code: &mut Code, held: &Held, a: Operand, b: Operand, op: Logic) -> Operand {
    let (d, ty) = (code.fresh(held.class), held.logic());
    match op {
        Logic::And => code.emit(And { ty, d, a, b }),
        Logic::Or => code.emit(Or { ty, d, a, b }),
        Logic::Xor => code.emit(Xor { ty, d, a, b }),
    }
    d.into()
}

fn subtract(code: &mut Code, held: &Held, a: Operand, b: Operand) -> Operand {
    let d = code.fresh(held.class);
    code.emit(Sub { ty: held.int(), d, a, b, ..Default::default() });
    d.into()
}

fn multiply(code: &mut Code, held: &Held, a: Operand, b: Operand) -> Operand {
    let d = code.fresh(held.class);
    code.emit(Mul { part: MulPart::Lo, ty: held.int(), d, a, b });
    d.into()
}

fn extremum(code: &mut Code, held: &Held, a: Operand, b: Operand, largest: bool) -> Operand {
    let (d, ty) = (code.fresh(held.class), held.int2());
    match largest {
        true => code.emit(Max { ty, d, a, b, ..Default::default() }),
        false => code.emit(Min { ty, d, a, b, ..Default::default() }),
    }
    d.into()
}

/// Quotient (where wanted) and remainder; by zero both are 0, and by -1 the quotient is `-a`.
fn divide(code: &mut Code, held: &Held, a: Operand, b: Operand, quotient: bool) -> (Operand, Operand) {
    let zero = code.compare(Compare::Eq, held.compare(), b, held.imm(0));
    // What the machine does by 0, and with the least number by -1, is not specified.
    let minus = held.signed.then(|| code.compare(Compare::Eq, held.compare(), b, held.imm(-1)));
    let safe = select_bits(code, held.class, zero, held.imm(1), b);
    let safe = minus.map_or(safe, |p| select_bits(code, held.class, p, held.imm(1), safe));
    let d = code.fresh(held.class);
    if quotient {
        code.emit(Div { ty: held.int(), d, a, b: safe });
        let mut result: Operand = d.into();
        if let Some(p) = minus {
            let negative = subtract(code, held, held.imm(0), a);
            result = select_bits(code, held.class, p, negative, result);
        }
        (select_bits(code, held.class, zero, held.imm(0), result), held.imm(0))
    } else {
        code.emit(Rem { ty: held.int(), d, a, b: safe });
        // The remainder by 1, which stands for 0 and -1, is 0.
        (held.imm(0), d.into())
    }
}

/// A remainder that is not 0 and has not the divisor's sign is one divisor too low.
fn floor_mod(code: &mut Code, held: &Held, rest: Operand, b: Operand) -> Operand {
    let signs = logic(code, held, rest, b, Logic::Xor);
    let differ = code.compare(Compare::Lt, held.compare(), signs, held.imm(0));
    let fix = code.compare_and(Compare::Ne, held.compare(), rest, held.imm(0), Some(differ.into()));
    let d = code.fresh(held.class);
    code.emit(Add { ty: held.int2(), d, a: rest, b, ..Default::default() });
    select_bits(code, held.class, fix.reg, d.into(), rest)
}

/// By squaring. A negative exponent leaves 1 and -1 for such bases, else 0.
fn power(code: &mut Code, held: &Held, dtype: DType, base: Operand, exponent: Operand) -> Operand {
    let (zero, one) = (held.imm(0), held.imm(1));
    let negative = dtype.is_signed().then(|| code.compare(Compare::Lt, held.compare(), exponent, zero));
    let count = negative.map_or(exponent, |p| select_bits(code, held.class, p, zero, exponent));
    let [power, square, left] = [one, base, count].map(|start| {
        let d = code.fresh(held.class);
        code.copy_to(d, start);
        d
    });
    let level = code.level();
    code.open();
    let go_on = code.compare(Compare::Ne, held.compare(), left.into(), zero);
    let head = code.close(level);
    code.open();
    let odd = logic(code, held, left.into(), one, Logic::And);
    let odd = code.compare(Compare::Ne, held.compare(), odd, zero);
    let next = multiply(code, held, power.into(), square.into());
    let next = select_bits(code, held.class, odd, next, power.into());
    code.copy_to(power, next);
    let next = multiply(code, held, square.into(), square.into());
    code.copy_to(square, next);
    let ty = if held.wide() { ShiftRightType::U64 } else { ShiftRightType::U32 };
    code.emit(Shr { ty, d: left, a: left.into(), b: Operand::u32(1) });
    let body = code.close(level);
    code.push(Item::Loop(Box::new(Loop { head, go_on: go_on.into(), body })));
    let Some(negative) = negative else { return power.into() };

    let odd = logic(code, held, exponent, one, Logic::And);
    let twice = multiply(code, held, odd, held.imm(2));
    let sign = subtract(code, held, one, twice);
    let is_one = code.compare(Compare::Eq, held.compare(), base, one);
    let is_minus = code.compare(Compare::Eq, held.compare(), base, held.imm(-1));
    let inverse = select_bits(code, held.class, is_minus, sign, zero);
    let inverse = select_bits(code, held.class, is_one, one, inverse);
    select_bits(code, held.class, negative, inverse, power.into())
}

/// A count that is negative or at least the width gives 0.
fn shift(code: &mut Code, op: ScalarOp, dtype: DType, held: &Held, a: Operand, count: Operand) -> Operand {
    let unsigned = if held.wide() { CompareType::U64 } else { CompareType::U32 };
    let within = code.compare(Compare::Lt, unsigned, count, held.imm(dtype.bits().into()));
    let by = match (held.wide(), count) {
        (true, Operand::Reg(a)) => {
            let d = code.b32();
            code.emit(Cvt { to: ConvertType::U32, from: ConvertType::U64, d, a, ..Default::default() });
            d.into()
        }
        (true, Operand::Imm(bits)) => Operand::u32(bits as u32),
        (false, count) => count,
    };
    let d = code.fresh(held.class);
    if op == ScalarOp::ShiftLeft {
        code.emit(Shl { ty: if held.wide() { BitsType::B64 } else { BitsType::B32 }, d, a, b: by });
    } else {
        let ty = match (held.wide(), dtype.is_signed()) {
            (false, true) => ShiftRightType::S32,
            (false, false) => ShiftRightType::U32,
            (true, true) => ShiftRightType::S64,
            (true, false) => ShiftRightType::U64,
        };
        code.emit(Shr { ty, d, a, b: by });
    }
    let kept = select_bits(code, held.class, within, d.into(), held.imm(0));
    wrap(code, dtype, kept)
}
