//! Integer arithmetic of addresses, sizes and coordinates, with constants folded as they appear.
//! Indexes are signed and of 64 bits, coordinates inside of a tile unsigned and of 32.

use crate::code::Code;
use crate::layout::BitMatrix;
use tegula_isa_ptx::modifiers::{BoolOp, Compare, MulPart, ShuffleMode};
use tegula_isa_ptx::op::*;
use tegula_isa_ptx::types::*;
use tegula_isa_ptx::{Operand, Predicate, Reg, RegClass};
use tegula_tile::IndexOp;
use tegula_tile::build::fold_index;

fn imm(value: Operand) -> Option<i64> {
    match value {
        Operand::Imm(bits) => Some(bits as i64),
        Operand::Reg(_) => None,
    }
}

impl Code {
    /// An index operation on 64 bits, with the meaning that the tile level gives it.
    pub fn index_op(&mut self, op: IndexOp, a: Operand, b: Operand) -> Operand {
        if let (Some(x), Some(y)) = (imm(a), imm(b)) {
            return Operand::i64(fold_index(op, x, y));
        }
        let compare = |code: &mut Code, cmp: Compare| {
            let p = code.compare64(cmp, a, b);
            code.flag64(p)
        };
        match op {
            IndexOp::Add => self.add64(a, b),
            IndexOp::Sub => {
                if imm(b) == Some(0) {
                    return a;
                }
                let d = self.b64();
                self.emit(Sub { ty: IntType::S64, d, a, b, ..Default::default() });
                d.into()
            }
            IndexOp::Mul => self.mul64(a, b),
            IndexOp::FloorDiv | IndexOp::Mod => self.floor_div_mod(op, a, b),
            IndexOp::Min => {
                let d = self.b64();
                self.emit(Min { ty: IntType2::S64, d, a, b, ..Default::default() });
                d.into()
            }
            IndexOp::Max => {
                let d = self.b64();
                self.emit(Max { ty: IntType2::S64, d, a, b, ..Default::default() });
                d.into()
            }
            IndexOp::Eq => compare(self, Compare::Eq),
            IndexOp::Ne => compare(self, Compare::Ne),
            IndexOp::Lt => compare(self, Compare::Lt),
            IndexOp::Le => compare(self, Compare::Le),
            IndexOp::And => {
                let d = self.b64();
                self.emit(And { ty: LogicType::B64, d, a, b });
                d.into()
            }
        }
    }

    pub fn add64(&mut self, a: Operand, b: Operand) -> Operand {
        match (imm(a), imm(b)) {
            (Some(x), Some(y)) => Operand::i64(x.wrapping_add(y)),
            (Some(0), _) => b,
            (_, Some(0)) => a,
            _ => {
                let d = self.b64();
                let (a, b) = if imm(a).is_some() { (b, a) } else { (a, b) };
                self.emit(Add { ty: IntType2::S64, d, a, b, ..Default::default() });
                d.into()
            }
        }
    }

    pub fn mul64(&mut self, a: Operand, b: Operand) -> Operand {
        match (imm(a), imm(b)) {
            (Some(x), Some(y)) => Operand::i64(x.wrapping_mul(y)),
            (Some(0), _) | (_, Some(0)) => Operand::i64(0),
            (Some(1), _) => b,
            (_, Some(1)) => a,
            (Some(n), _) if n > 0 && n & (n - 1) == 0 => self.shl64(b, n.trailing_zeros()),
            (_, Some(n)) if n > 0 && n & (n - 1) == 0 => self.shl64(a, n.trailing_zeros()),
            _ => {
                let d = self.b64();
                let (a, b) = if imm(a).is_some() { (b, a) } else { (a, b) };
                self.emit(Mul { part: MulPart::Lo, ty: IntType::S64, d, a, b });
                d.into()
            }
        }
    }

    fn shl64(&mut self, a: Operand, by: u32) -> Operand {
        let d = self.b64();
        self.emit(Shl { ty: BitsType::B64, d, a, b: Operand::u32(by) });
        d.into()
    }

    /// Rounds towards minus infinity; by zero gives 0. A power of two is a shift or a mask.
    fn floor_div_mod(&mut self, op: IndexOp, a: Operand, b: Operand) -> Operand {
        if let Some(n) = imm(b).filter(|n| *n > 0 && n & (n - 1) == 0) {
            let d = self.b64();
            if op == IndexOp::FloorDiv {
                let by = Operand::u32(n.trailing_zeros());
                self.emit(Shr { ty: ShiftRightType::S64, d, a, b: by });
            } else {
                self.emit(And { ty: LogicType::B64, d, a, b: Operand::i64(n - 1) });
            }
            return d.into();
        }
        // A divisor that is no constant may be 0: the quotient by 1 is replaced.
        let nonzero = imm(b).is_none().then(|| self.compare64(Compare::Ne, b, Operand::i64(0)));
        let safe = match nonzero {
            Some(p) => self.select64(p, b, Operand::i64(1)),
            None => b,
        };
        let (quotient, back, rest) = (self.b64(), self.b64(), self.b64());
        self.emit(Div { ty: IntType::S64, d: quotient, a, b: safe });
        self.emit(Mul { part: MulPart::Lo, ty: IntType::S64, d: back, a: quotient.into(), b: safe });
        self.emit(Sub { ty: IntType::S64, d: rest, a, b: back.into(), ..Default::default() });
        // The remainder has another sign than the divisor: one further down.
        let signs = self.b64();
        self.emit(Xor { ty: LogicType::B64, d: signs, a: rest.into(), b: safe });
        let other_sign = self.compare64(Compare::Lt, signs.into(), Operand::i64(0));
        let inexact = self.compare64(Compare::Ne, rest.into(), Operand::i64(0));
        let fix = self.and_pred(Some(inexact.into()), other_sign.into());
        let result = match op {
            IndexOp::FloorDiv => {
                let down = self.add64(quotient.into(), Operand::i64(-1));
                self.select64(fix.reg, down, quotient.into())
            }
            _ => {
                let up = self.add64(rest.into(), safe);
                self.select64(fix.reg, up, rest.into())
            }
        };
        match nonzero {
            Some(p) => self.select64(p, result, Operand::i64(0)),
            None => result,
        }
    }

    // --- comparisons and choices ---------------------------------------------------------------------------

    /// Signed, of 64 bits.
    pub fn compare64(&mut self, cmp: Compare, a: Operand, b: Operand) -> Reg {
        self.compare(cmp, CompareType::S64, a, b)
    }

    pub fn compare(&mut self, cmp: Compare, ty: CompareType, a: Operand, b: Operand) -> Reg {
        let p = self.pred();
        let a = self.in_reg(ty.class(), a).into();
        self.emit(Setp { cmp, ty, p, a, b, ..Default::default() });
        p
    }

    /// 1 where the predicate is true, else 0.
    pub fn flag64(&mut self, p: Reg) -> Operand {
        self.select64(p, Operand::i64(1), Operand::i64(0))
    }

    pub fn select64(&mut self, p: Reg, a: Operand, b: Operand) -> Operand {
        let d = self.b64();
        self.emit(Selp { ty: SelectType::B64, d, a, b, p });
        d.into()
    }

    /// Both.
    pub fn and_pred(&mut self, a: Option<Predicate>, b: Predicate) -> Predicate {
        let Some(a) = a else { return b };
        let (a, b) = (self.plain(a), self.plain(b));
        let d = self.pred();
        self.emit(And { ty: LogicType::Pred, d, a: a.into(), b: b.into() });
        d.into()
    }

    fn plain(&mut self, p: Predicate) -> Reg {
        if !p.negated {
            return p.reg;
        }
        let d = self.pred();
        self.emit(Not { ty: LogicType::Pred, d, a: p.reg.into() });
        d
    }

    // --- 32 bits -------------------------------------------------------------------------------------------

    pub fn add32(&mut self, a: Operand, b: Operand) -> Operand {
        match (a, b) {
            (Operand::Imm(x), Operand::Imm(y)) => Operand::u32((x as u32).wrapping_add(y as u32)),
            (Operand::Imm(0), _) => b,
            (_, Operand::Imm(0)) => a,
            _ => {
                let d = self.b32();
                let (a, b) = if imm(a).is_some() { (b, a) } else { (a, b) };
                self.emit(Add { ty: IntType2::S32, d, a, b, ..Default::default() });
                d.into()
            }
        }
    }

    pub fn mul32(&mut self, a: Operand, b: u32) -> Operand {
        match (a, b) {
            (Operand::Imm(x), _) => Operand::u32((x as u32).wrapping_mul(b)),
            (_, 1) => a,
            (_, 0) => Operand::u32(0),
            _ if b.is_power_of_two() => {
                let d = self.b32();
                self.emit(Shl { ty: BitsType::B32, d, a, b: Operand::u32(b.trailing_zeros()) });
                d.into()
            }
            _ => {
                let d = self.b32();
                self.emit(Mul { part: MulPart::Lo, ty: IntType::U32, d, a, b: Operand::u32(b) });
                d.into()
            }
        }
    }

    /// A coordinate as an index.
    pub fn widen(&mut self, a: Operand) -> Operand {
        match a {
            Operand::Imm(bits) => Operand::i64(bits as i64),
            Operand::Reg(a) => {
                let d = self.b64();
                self.emit(Cvt { to: ConvertType::U64, from: ConvertType::U32, d, a, ..Default::default() });
                d.into()
            }
        }
    }

    /// Remainder and quotient of unsigned numbers.
    pub fn divide32(&mut self, a: Operand, b: Operand) -> (Operand, Operand) {
        if let (Operand::Imm(a), Operand::Imm(b)) = (a, b)
            && b != 0
        {
            return (Operand::u32((a % b) as u32), Operand::u32((a / b) as u32));
        }
        if let Operand::Imm(1) = b {
            return (Operand::u32(0), a);
        }
        let (quotient, remainder) = (self.b32(), self.b32());
        self.emit(Div { ty: IntType::U32, d: quotient, a, b });
        self.emit(Rem { ty: IntType::U32, d: remainder, a, b });
        (remainder.into(), quotient.into())
    }

    pub fn xor32(&mut self, a: Operand, b: u32) -> Operand {
        match (a, b) {
            (Operand::Imm(x), _) => Operand::u32(x as u32 ^ b),
            (_, 0) => a,
            _ => {
                let d = self.b32();
                self.emit(Xor { ty: LogicType::B32, d, a, b: Operand::u32(b) });
                d.into()
            }
        }
    }

    /// The image of a word under a linear map: for each distance that bits move, those bits at once.
    pub fn linear(&mut self, word: Operand, map: &BitMatrix) -> Operand {
        let mut moved: Vec<(i64, u32)> = Vec::new();
        for (from, column) in map.columns().iter().enumerate() {
            for to in (0..32).filter(|to| column >> to & 1 == 1) {
                let by = i64::from(to) - from as i64;
                match moved.iter_mut().find(|(distance, _)| *distance == by) {
                    Some((_, mask)) => *mask |= 1 << from,
                    None => moved.push((by, 1 << from)),
                }
            }
        }
        let word = self.in_reg(RegClass::B32, word);
        let mut sum: Option<Reg> = None;
        for (by, mask) in moved {
            let kept = self.b32();
            self.emit(And { ty: LogicType::B32, d: kept, a: word.into(), b: Operand::u32(mask) });
            let bits = self.b32();
            let distance = Operand::u32(by.unsigned_abs() as u32);
            match by < 0 {
                true => self.emit(Shr { ty: ShiftRightType::B32, d: bits, a: kept.into(), b: distance }),
                false => self.emit(Shl { ty: BitsType::B32, d: bits, a: kept.into(), b: distance }),
            }
            sum = Some(match sum {
                None => bits,
                Some(sum) => {
                    let d = self.b32();
                    self.emit(Xor { ty: LogicType::B32, d, a: sum.into(), b: bits.into() });
                    d
                }
            });
        }
        sum.map_or(Operand::u32(0), Operand::from)
    }

    /// The value that lane 0 has, in all lanes of the warp.
    pub fn first_lane(&mut self, a: Operand) -> Operand {
        let a = self.in_reg(RegClass::B32, a).into();
        let d = self.b32();
        let (b, clamp, mask) = (Operand::u32(0), Operand::u32(31), Operand::u32(u32::MAX));
        self.emit(Shfl { mode: ShuffleMode::Idx, d, p: None, a, b, clamp, mask });
        d.into()
    }

    /// The low half of a coordinate.
    pub fn narrow(&mut self, a: Operand) -> Operand {
        match a {
            Operand::Imm(bits) => Operand::u32(bits as u32),
            Operand::Reg(a) => {
                let d = self.b32();
                self.emit(Cvt { to: ConvertType::U32, from: ConvertType::U64, d, a, ..Default::default() });
                d.into()
            }
        }
    }

    /// Combines a comparison with what held before.
    pub fn compare_and(
        &mut self,
        cmp: Compare,
        ty: CompareType,
        a: Operand,
        b: Operand,
        before: Option<Predicate>,
    ) -> Predicate {
        let p = self.pred();
        let a = self.in_reg(ty.class(), a).into();
        let combine = before.map(|_| BoolOp::And);
        self.emit(Setp { cmp, ty, p, a, b, combine, c: before, ..Default::default() });
        p.into()
    }
}
