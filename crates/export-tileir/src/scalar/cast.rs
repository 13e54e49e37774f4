//! Conversions between dtypes, by the rules of `docs/numerics.md`.

use super::{Made, Refused, element, wrapped};
use crate::writer::{NEAREST, Writer, number, tile};
use cutile_ir::bytecode::Opcode;
use cutile_ir::ir::{Attribute, ComparisonPredicate, ScalarType, Value};
use tegula_base::DType;

/// Rounds towards zero: the one rounding of floats to integers.
const TO_ZERO: i64 = 6;

pub(crate) fn cast(w: &mut Writer, from: DType, to: DType, saturate: bool, value: Value) -> Made<Value> {
    let target = element(to);
    if from == to {
        return Ok(value);
    }
    if to == DType::Bool {
        return Ok(if from.is_float() {
            let value = if from.bits() == 8 { float_to_float(w, value, ScalarType::F16) } else { value };
            let (source, shape) = (w.element(value), w.shape(value));
            let zero = w.constant(source, &shape, 0);
            w.comparef(ComparisonPredicate::NotEqual, value, zero)
        } else {
            let zero = w.int(value, 0);
            w.compare(ComparisonPredicate::NotEqual, value, zero, false)
        });
    }
    Ok(match (from.is_float(), to.is_float()) {
        (false, false) => {
            let resized = w.resize(value, target, from.is_signed());
            wrapped(w, to, resized)
        }
        (true, true) => {
            if to.bits() == 8 && !saturate {
                return Err(Refused(format!("a cast from {from} to {to} that does not saturate")));
            }
            // 8-bit floats convert from and to the 16-bit ones and f32.
            let (wide, narrow) = if from.bits() == 8 { (to, from) } else { (from, to) };
            let by_f32 = narrow.bits() == 8 && wide.bits() != 16 && wide != DType::F32;
            let value = if by_f32 { float_to_float(w, value, ScalarType::F32) } else { value };
            float_to_float(w, value, target)
        }
        (true, false) => {
            let value = if from.bits() == 8 { float_to_float(w, value, ScalarType::F32) } else { value };
            let shape = w.shape(value);
            let attributes = [
                ("signedness", number(to.is_signed().into())),
                ("rounding_mode", number(TO_ZERO)),
                ("saturating", Attribute::Bool(true)),
            ];
            let made = w.with(Opcode::FToI, &[value], tile(target, &shape), &attributes);
            match to.int_range() {
                Some((least, most)) if to.bits() < 8 => {
                    let (least, most) = (w.int(made, least as i64), w.int(made, most as i64));
                    let made = w.signed(Opcode::MaxI, made, least, to.is_signed());
                    w.signed(Opcode::MinI, made, most, to.is_signed())
                }
                _ => made,
            }
        }
        (false, true) => {
            // A boolean becomes a number first; 8-bit floats are made from f32, which holds what they can.
            let value = if from == DType::Bool { w.resize(value, ScalarType::I32, false) } else { value };
            let signed = from.is_signed();
            let direct = if to.bits() == 8 { ScalarType::F32 } else { target };
            let shape = w.shape(value);
            let attributes = [("signedness", number(signed.into())), ("rounding_mode", number(NEAREST))];
            let made = w.with(Opcode::IToF, &[value], tile(direct, &shape), &attributes);
            float_to_float(w, made, target)
        }
    })
}

fn float_to_float(w: &mut Writer, value: Value, to: ScalarType) -> Value {
    if w.element(value) == to {
        return value;
    }
    let shape = w.shape(value);
    w.with(Opcode::FToF, &[value], tile(to, &shape), &[("rounding_mode", number(NEAREST))])
}
