//! Arithmetic on 32-bit registers in one word each, over `EntryBuilder`.

use std::ops::{Deref, DerefMut};

use tegula_isa_ptx::modifiers::{Compare, MulPart};
use tegula_isa_ptx::op::{Add, And, Bfe, Div, Mad, Min, Mov, MovSpecial, Mul, Rem, Setp, Shl, Sub, Xor};
use tegula_isa_ptx::types::{AddressType, BitsType, CompareType, IntType, IntType2, LogicType, WideInt};
use tegula_isa_ptx::{EntryBuilder, Operand, Predicate, Reg, Special};

use crate::layout::BitMatrix;

pub(super) struct Asm(pub EntryBuilder);

impl Deref for Asm {
    type Target = EntryBuilder;

    fn deref(&self) -> &EntryBuilder {
        &self.0
    }
}

impl DerefMut for Asm {
    fn deref_mut(&mut self) -> &mut EntryBuilder {
        &mut self.0
    }
}

pub(super) fn imm(value: u32) -> Operand {
    Operand::u32(value)
}

impl Asm {
    pub fn special(&mut self, special: Special) -> Reg {
        let d = self.b32();
        self.emit(MovSpecial { ty: AddressType::U32, d, special });
        d
    }

    pub fn mov(&mut self, a: impl Into<Operand>) -> Reg {
        let d = self.b32();
        self.set(d, a);
        d
    }

    pub fn set(&mut self, d: Reg, a: impl Into<Operand>) {
        self.emit(Mov { ty: LogicType::B32, d, a: a.into() });
    }

    pub fn add(&mut self, a: impl Into<Operand>, b: impl Into<Operand>) -> Reg {
        let d = self.b32();
        self.add_to(d, a, b);
        d
    }

    pub fn add_to(&mut self, d: Reg, a: impl Into<Operand>, b: impl Into<Operand>) {
        self.emit(Add { sat: false, ty: IntType2::U32, d, a: a.into(), b: b.into() });
    }

    pub fn sub(&mut self, a: impl Into<Operand>, b: impl Into<Operand>) -> Reg {
        let d = self.b32();
        self.emit(Sub { sat: false, ty: IntType::U32, d, a: a.into(), b: b.into() });
        d
    }

    pub fn mul(&mut self, a: impl Into<Operand>, b: impl Into<Operand>) -> Reg {
        let d = self.b32();
        self.emit(Mul { part: MulPart::Lo, ty: IntType::U32, d, a: a.into(), b: b.into() });
        d
    }

    /// `a b + c`.
    pub fn mad(&mut self, a: impl Into<Operand>, b: impl Into<Operand>, c: impl Into<Operand>) -> Reg {
        let d = self.b32();
        self.emit(Mad { part: MulPart::Lo, ty: IntType::U32, d, a: a.into(), b: b.into(), c: c.into() });
        d
    }

    pub fn div(&mut self, a: impl Into<Operand>, b: impl Into<Operand>) -> Reg {
        let d = self.b32();
        self.emit(Div { ty: IntType::U32, d, a: a.into(), b: b.into() });
        d
    }

    /// `a / b`, rounded up.
    pub fn div_ceil(&mut self, a: Reg, b: u32) -> Reg {
        let sum = self.add(a, imm(b - 1));
        self.div(sum, imm(b))
    }

    pub fn rem(&mut self, a: impl Into<Operand>, b: impl Into<Operand>) -> Reg {
        let d = self.b32();
        self.emit(Rem { ty: IntType::U32, d, a: a.into(), b: b.into() });
        d
    }

    pub fn min(&mut self, a: impl Into<Operand>, b: impl Into<Operand>) -> Reg {
        let d = self.b32();
        self.emit(Min { relu: false, ty: IntType2::U32, d, a: a.into(), b: b.into() });
        d
    }

    pub fn and(&mut self, a: impl Into<Operand>, b: impl Into<Operand>) -> Reg {
        let d = self.b32();
        self.emit(And { ty: LogicType::B32, d, a: a.into(), b: b.into() });
        d
    }

    pub fn xor(&mut self, a: impl Into<Operand>, b: impl Into<Operand>) -> Reg {
        let d = self.b32();
        self.emit(Xor { ty: LogicType::B32, d, a: a.into(), b: b.into() });
        d
    }

    pub fn shl(&mut self, a: impl Into<Operand>, by: u32) -> Reg {
        let d = self.b32();
        self.emit(Shl { ty: BitsType::B32, d, a: a.into(), b: imm(by) });
        d
    }

    /// `length` bits of `a` from bit `first`.
    pub fn field(&mut self, a: impl Into<Operand>, first: u32, length: u32) -> Reg {
        let d = self.b32();
        self.emit(Bfe { ty: WideInt::U32, d, a: a.into(), pos: imm(first), len: imm(length) });
        d
    }

    pub fn compare(&mut self, cmp: Compare, a: impl Into<Operand>, b: impl Into<Operand>) -> Reg {
        let p = self.pred();
        let (a, b) = (a.into(), b.into());
        self.emit(Setp { cmp, ty: CompareType::U32, p, a, b, ..Setp::default() });
        p
    }

    /// Both the comparison and the predicate.
    pub fn compare_and(&mut self, cmp: Compare, a: Reg, b: Operand, also: impl Into<Predicate>) -> Reg {
        use tegula_isa_ptx::modifiers::BoolOp;
        let p = self.pred();
        let (combine, c) = (Some(BoolOp::And), Some(also.into()));
        self.emit(Setp { cmp, combine, ty: CompareType::U32, p, a: a.into(), b, c, ..Setp::default() });
        p
    }

    /// The image of a word under a linear map: for each distance that bits move, those bits at once.
    pub fn linear(&mut self, word: Reg, map: &BitMatrix) -> Reg {
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
        let mut sum: Option<Reg> = None;
        for (by, mask) in moved {
            let bits = if by < 0 {
                let low = mask.trailing_zeros();
                let field = self.field(word, low, 32 - low);
                let kept = self.and(field, imm(mask >> low));
                self.shl(kept, (i64::from(low) + by) as u32)
            } else {
                let kept = self.and(word, imm(mask));
                self.shl(kept, by as u32)
            };
            sum = Some(match sum {
                Some(sum) => self.xor(sum, bits),
                None => bits,
            });
        }
        sum.unwrap_or_else(|| self.mov(imm(0)))
    }
}
