//! `bool` as predicates.

use crate::code::Code;
use tegula_ir::ScalarOp;
use tegula_isa_ptx::op::*;
use tegula_isa_ptx::types::LogicType;
use tegula_isa_ptx::{Operand, Reg, RegClass};

pub(super) fn apply(code: &mut Code, op: ScalarOp, args: &[Operand]) -> Operand {
    let a = args[0];
    let b = args.get(1).copied().unwrap_or(a);
    match op {
        ScalarOp::Not => not(code, a),
        ScalarOp::And | ScalarOp::Min => and(code, a, b),
        ScalarOp::Or | ScalarOp::Max => or(code, a, b),
        ScalarOp::Xor | ScalarOp::Ne => xor(code, a, b),
        ScalarOp::Eq => {
            let differ = xor(code, a, b);
            not(code, differ)
        }
        ScalarOp::Lt => {
            let low = not(code, a);
            and(code, low, b)
        }
        ScalarOp::Gt => {
            let low = not(code, b);
            and(code, low, a)
        }
        ScalarOp::Le => {
            let low = not(code, a);
            or(code, low, b)
        }
        ScalarOp::Ge => {
            let low = not(code, b);
            or(code, low, a)
        }
        other => unreachable!("invariant: the dtype check refuses `{other}` on bool"),
    }
}

pub(super) fn select(code: &mut Code, p: Reg, a: Operand, b: Operand) -> Operand {
    let yes = and(code, p.into(), a);
    let otherwise = not(code, p.into());
    let no = and(code, otherwise, b);
    or(code, yes, no)
}

/// 1 or 0 in 32 bits.
pub(super) fn as_int(code: &mut Code, a: Operand) -> Operand {
    match a {
        Operand::Imm(_) => a,
        Operand::Reg(p) => super::select_bits(code, RegClass::B32, p, Operand::u32(1), Operand::u32(0)),
    }
}

fn not(code: &mut Code, a: Operand) -> Operand {
    if let Operand::Imm(bits) = a {
        return Operand::Imm(bits ^ 1);
    }
    let d = code.pred();
    code.emit(Not { ty: LogicType::Pred, d, a });
    d.into()
}

fn and(code: &mut Code, a: Operand, b: Operand) -> Operand {
    match (a, b) {
        (Operand::Imm(0), _) | (_, Operand::Imm(0)) => Operand::Imm(0),
        (Operand::Imm(_), other) | (other, Operand::Imm(_)) => other,
        _ => {
            let d = code.pred();
            code.emit(And { ty: LogicType::Pred, d, a, b });
            d.into()
        }
    }
}

fn or(code: &mut Code, a: Operand, b: Operand) -> Operand {
    match (a, b) {
        (Operand::Imm(0), other) | (other, Operand::Imm(0)) => other,
        (Operand::Imm(_), _) | (_, Operand::Imm(_)) => Operand::Imm(1),
        _ => {
            let d = code.pred();
            code.emit(Or { ty: LogicType::Pred, d, a, b });
            d.into()
        }
    }
}

fn xor(code: &mut Code, a: Operand, b: Operand) -> Operand {
    match (a, b) {
        (Operand::Imm(0), other) | (other, Operand::Imm(0)) => other,
        (Operand::Imm(_), other) | (other, Operand::Imm(_)) => not(code, other),
        _ => {
            let d = code.pred();
            code.emit(Xor { ty: LogicType::Pred, d, a, b });
            d.into()
        }
    }
}
