//! Operations on integers and booleans. What Tile IR leaves open (division by zero, wide shifts) is selected away.

use super::{Made, Refused};
use crate::writer::Writer;
use cutile_ir::bytecode::Opcode;
use cutile_ir::ir::{ComparisonPredicate, Value};
use tegula_base::DType;
use tegula_ir::ScalarOp;

pub(super) fn apply(w: &mut Writer, op: ScalarOp, dtype: DType, args: &[Value]) -> Made<Value> {
    use ScalarOp::*;
    let signed = dtype.is_signed();
    let a = args[0];
    let b = args.get(1).copied().unwrap_or(a);
    Ok(match op {
        Neg => {
            let zero = w.int(a, 0);
            w.sub(zero, a)
        }
        Abs if !signed => a,
        Abs => w.unary(Opcode::AbsI, a),
        Sign => {
            let (zero, one, minus) = (w.int(a, 0), w.int(a, 1), w.int(a, -1));
            let positive = w.compare(ComparisonPredicate::GreaterThan, a, zero, signed);
            let sign = w.select(positive, one, zero);
            match signed {
                true => {
                    let negative = w.compare(ComparisonPredicate::LessThan, a, zero, true);
                    w.select(negative, minus, sign)
                }
                false => sign,
            }
        }
        // Integers are whole.
        Ceil | Floor | Round | Trunc => a,
        Not => {
            let ones = w.int(a, -1);
            w.xor(a, ones)
        }
        Add => w.add(a, b),
        Sub => w.sub(a, b),
        Mul => w.mul(a, b),
        Fma => {
            let product = w.mul(a, b);
            w.add(product, args[2])
        }
        Div => quotient(w, a, b, signed),
        Rem => remainder(w, a, b, signed),
        Mod => {
            let rest = remainder(w, a, b, signed);
            let zero = w.int(a, 0);
            let uneven = w.compare(ComparisonPredicate::NotEqual, rest, zero, signed);
            let (x, y) = (
                w.compare(ComparisonPredicate::LessThan, rest, zero, signed),
                w.compare(ComparisonPredicate::LessThan, b, zero, signed),
            );
            let opposed = w.xor(x, y);
            let moved = w.and(uneven, opposed);
            let other = w.add(rest, b);
            // By zero the remainder is 0, which is even.
            w.select(moved, other, rest)
        }
        Min if dtype == DType::Bool => w.and(a, b),
        Max if dtype == DType::Bool => w.or(a, b),
        Min => w.signed(Opcode::MinI, a, b, signed),
        Max => w.signed(Opcode::MaxI, a, b, signed),
        And => w.and(a, b),
        Or => w.or(a, b),
        Xor => w.xor(a, b),
        ShiftLeft | ShiftRight => {
            let (zero, width) = (w.int(a, 0), w.int(a, i64::from(dtype.bits())));
            let inside = w.compare(ComparisonPredicate::LessThan, b, width, false);
            let by = w.select(inside, b, zero);
            let shifted = match op {
                ShiftLeft => w.shl(a, by),
                _ => w.signed(Opcode::ShRI, a, by, signed),
            };
            w.select(inside, shifted, zero)
        }
        Eq => w.compare(ComparisonPredicate::Equal, a, b, signed),
        Ne => w.compare(ComparisonPredicate::NotEqual, a, b, signed),
        Lt => w.compare(ComparisonPredicate::LessThan, a, b, signed),
        Le => w.compare(ComparisonPredicate::LessThanOrEqual, a, b, signed),
        Gt => w.compare(ComparisonPredicate::GreaterThan, a, b, signed),
        Ge => w.compare(ComparisonPredicate::GreaterThanOrEqual, a, b, signed),
        other => return Err(Refused(format!("`{other}` on {dtype}"))),
    })
}

/// The quotient towards zero; by zero it is 0, and the smallest number by -1 wraps.
fn quotient(w: &mut Writer, a: Value, b: Value, signed: bool) -> Value {
    let (zero, one) = (w.int(a, 0), w.int(a, 1));
    let by_zero = w.compare(ComparisonPredicate::Equal, b, zero, signed);
    let mut odd = by_zero;
    let mut otherwise = zero;
    if signed {
        let minus = w.int(a, -1);
        let by_minus = w.compare(ComparisonPredicate::Equal, b, minus, true);
        odd = w.or(by_zero, by_minus);
        let negated = w.sub(zero, a);
        otherwise = w.select(by_minus, negated, zero);
    }
    let divisor = w.select(odd, one, b);
    let divided = w.div(a, divisor, signed, false);
    w.select(odd, otherwise, divided)
}

/// The sign of the dividend; by zero and by -1 it is 0.
fn remainder(w: &mut Writer, a: Value, b: Value, signed: bool) -> Value {
    let (zero, one) = (w.int(a, 0), w.int(a, 1));
    let mut odd = w.compare(ComparisonPredicate::Equal, b, zero, signed);
    if signed {
        let minus = w.int(a, -1);
        let by_minus = w.compare(ComparisonPredicate::Equal, b, minus, true);
        odd = w.or(odd, by_minus);
    }
    let divisor = w.select(odd, one, b);
    let rest = w.signed(Opcode::RemI, a, divisor, signed);
    w.select(odd, zero, rest)
}
